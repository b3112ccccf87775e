# SPDX-License-Identifier: MIT
"""A million calls from eight threads, with references as they were."""

import gc
import resource
import sys
import threading

import tenon
from cases import TAKES

THREADS, CALLS = 8, 125_000


def a_million_calls_of_eight_threads_keep_no_reference():
    module = tenon.load(TAKES)
    take, nothing = module.take, module.nothing
    callback = tenon.wrap(lambda t, text: text)
    tensor, text, data = tenon.empty(16), "a text that is no small string", bytearray(64)
    failures = []

    def work():
        try:
            for i in range(CALLS // 10):
                for _ in range(6):
                    take(tensor, i, text)
                nothing()
                take(data, [tensor, text], 1.5)
                assert tenon.from_dlpack(tensor).shape == (16,) and tenon.from_buffer(data).size == 64
                assert callback(tensor, text) == text
        except Exception as error:
            failures.append(error)

    def together():
        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        gc.collect()

    things = (tensor, text, data, take, nothing, callback, module)
    before = [sys.getrefcount(thing) for thing in things]
    together()
    assert not failures, failures
    assert [sys.getrefcount(thing) for thing in things] == before
    # nothing holds the buffer
    data.append(0)


def memory_is_flat_over_many_errors_and_exchanges():
    take = tenon.load(TAKES).take

    def exchange():
        for _ in range(20_000):
            t = tenon.from_buffer(bytes(1000))
            t.__dlpack__(max_version=(1, 3))
            tenon.from_dlpack(t.__dlpack__(copy=True))
            try:
                take(2**64)
            except OverflowError:
                pass
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    exchange()
    before = exchange()
    # KiB; 20 000 tensors that stay would take 20 MB
    assert exchange() - before < 4096
