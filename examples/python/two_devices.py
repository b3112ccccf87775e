#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data goes over two devices, and the processor waits at the end alone: two_devices.py [DEVICE [DEVICE]]

The second device waits for a point that the first one signals. asyncio waits for both, so other tasks run meanwhile.
"""

import asyncio
import sys

import tenon

COUNT = 1024


async def main(first="cpu:0", second="cpu:0"):
    queues = [tenon.Device(name).queue() for name in (first, second)]
    on_first, on_second = (tenon.empty(COUNT, device=queue.device) for queue in queues)
    numbers = tenon.tensor([float(i) for i in range(COUNT)])
    between, result = tenon.empty(COUNT), tenon.empty(COUNT)
    half_way = tenon.Timeline()

    # submitted in any order: the points keep it
    queues[1].copy(on_second, between, wait=[(half_way, 1)])
    queues[1].copy(result, on_second)
    queues[0].copy(on_first, numbers)
    queues[0].copy(between, on_first, signal=[(half_way, 1)])
    await asyncio.gather(*(queue.done() for queue in queues))
    print(*result.tolist()[:4], "...")


asyncio.run(main(*sys.argv[1:]))
