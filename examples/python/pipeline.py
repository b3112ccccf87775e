#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two copies of a model take requests from one queue of asyncio: pipeline.py MODEL [FUNCTION]

A run does not hold the interpreter, so the copies run at the same time, each in a thread of its own.
"""

import asyncio
import sys

import tenon

REQUESTS, COPIES = 16, 2


async def serve(model, requests, answers):
    while True:
        number, tensor = await requests.get()
        answers[number] = await asyncio.to_thread(model, tensor)
        requests.task_done()


async def main(path, function=None):
    models = [tenon.load(path, function=function) for _ in range(COPIES)]
    requests, answers = asyncio.Queue(maxsize=4), {}
    workers = [asyncio.create_task(serve(model, requests, answers)) for model in models]
    port = models[0].inputs[0]
    for number in range(REQUESTS):
        await requests.put((number, tenon.empty(port.shape, port.dtype)))
    await requests.join()
    for worker in workers:
        worker.cancel()
    print(f"{len(answers)} answers of the shape {answers[0].shape}")


asyncio.run(main(*sys.argv[1:]))
