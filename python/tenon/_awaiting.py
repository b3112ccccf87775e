# SPDX-License-Identifier: MIT
"""Timelines in asyncio: a descriptor becomes readable, so no thread waits."""

import asyncio
import os


async def reached(timeline, value):
    """Wait until a timeline has a value; raises the error of one that failed."""
    descriptor = timeline._descriptor(value)
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake():
        loop.remove_reader(descriptor)
        if not ready.done():
            ready.set_result(None)

    try:
        loop.add_reader(descriptor, wake)
        await ready
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    # the descriptor says that it ended; the timeline says how
    timeline.wait(value)
