# SPDX-License-Identifier: MIT
"""Timelines and devices in asyncio."""

import asyncio
import functools
import gc
import os
import signal
import threading

import tenon
from cases import need, raises


def _descriptors():
    return len(os.listdir("/proc/self/fd"))


def a_timeline_is_awaited():
    need("DEVICES")

    async def main():
        timeline, order = tenon.Timeline(), []

        async def wait():
            await timeline.reached(2)
            order.append("reached")

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        timeline.signal(1)
        await asyncio.sleep(0.01)
        order.append("not yet")
        timeline.signal(2)
        await waiting
        await timeline.reached(1)
        assert order == ["not yet", "reached"] and timeline.value == 2

    before = _descriptors()
    asyncio.run(main())
    assert _descriptors() == before


def a_failed_timeline_raises_its_reason():
    need("DEVICES")
    timeline = tenon.Timeline()
    timeline.fail("the battery is empty")

    async def main():
        await timeline.reached(1)

    assert "the battery is empty" in str(raises(tenon.Error, asyncio.run, main()))
    raises(tenon.Error, lambda: timeline.value)


def a_cancelled_wait_closes_its_descriptor():
    need("DEVICES")

    async def main():
        await asyncio.wait_for(tenon.Timeline().reached(1), 0.01)

    before = _descriptors()
    raises(asyncio.TimeoutError, asyncio.run, main())
    gc.collect()
    assert _descriptors() == before


def a_wait_has_a_timeout():
    need("DEVICES")
    timeline = tenon.Timeline(5)
    timeline.wait(5)
    assert isinstance(raises(TimeoutError, timeline.wait, 6, timeout=0.01), tenon.DeadlineError)
    raises(ValueError, timeline.wait, 6, timeout=-1)
    raises(tenon.Error, timeline.signal, 5)


def a_signal_ends_a_wait():
    need("DEVICE_NULL")
    device = tenon.Device("null:0")
    timeline, queue = tenon.Timeline(), device.queue()
    queue.join(wait=[(timeline, 1)])

    def interrupted(wait, timer):
        timer.start()
        wait(timeout=60)

    # a shell lets jobs in the background ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for wait in (functools.partial(timeline.wait, 1), queue.sync, device.sync):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            # on a busy machine the signal may come before the wait
            raises(KeyboardInterrupt, interrupted, wait, timer)
            timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
        timeline.signal(1)
    queue.sync(timeout=60)


def a_value_is_no_negative_number():
    timeline = tenon.Timeline()
    for use in (tenon.Timeline, timeline.signal, timeline.wait, timeline.reached):
        raises(OverflowError, use, -1)
        raises(OverflowError, use, 2**64)
        raises(TypeError, use, 1.5)
    assert timeline.value == 0


def what_a_device_was_given_is_awaited():
    need("DEVICE_NULL")

    async def main():
        device = tenon.Device("null:0")
        tensor = tenon.tensor([1, 2]).to(device)
        await device.done()
        device.sync(timeout=10)
        return tensor

    assert asyncio.run(main()).shape == (2,)
