# SPDX-License-Identifier: MIT
"""Queues and recordings."""

import array
import asyncio
import contextlib
import gc
import itertools
import threading
import weakref

import tenon
from cases import TAKES, need, raises

NUMBERS = [1.0, 2.0, 3.0, 4.0]
# a device with a thread of its own, whose memory is at addresses
WORKER = "cpu://0?queue=worker"


def _devices():
    """Devices whose memory is at addresses, in line and by a thread, and one whose memory is an object."""
    need("DEVICE_CPU")
    need("DEVICE_NULL")
    return [tenon.Device(name) for name in ("cpu:0", WORKER, "null:0")]


def _devices_with_queues():
    """Those whose tensors are copied by queues."""
    return _devices()[1:]


def _worker():
    need("DEVICE_CPU")
    return tenon.Device(WORKER)


class _Array(array.array):
    """One that can be watched."""


@contextlib.contextmanager
def _awaited():
    """A timeline for a queue to wait for. It fails with the case, as a queue that is dropped waits until it is idle."""
    timeline = tenon.Timeline()
    try:
        yield timeline
    except BaseException:
        timeline.fail("the case failed")
        raise


def copies_and_fills_run_in_order():
    for device in _devices():
        queue, result = device.queue(), tenon.empty(4)
        a, b = tenon.tensor(NUMBERS).to(device), tenon.empty(4, device=device)
        assert queue.device == device
        queue.copy(b, a)
        queue.fill(b, b"\0\0\x80\x3f", size=4, to_offset=8)
        queue.copy(result, b)
        queue.sync(timeout=10)
        assert result.tolist() == [1.0, 2.0, 1.0, 4.0], device


def a_part_is_copied():
    for device in _devices():
        queue, result = device.queue(), array.array("f", [0] * 4)
        on = tenon.tensor(NUMBERS).to(device)
        queue.copy(result, on, size=8, to_offset=4, source_offset=8)
        queue.copy(on, array.array("f", [9]), size=4)
        queue.sync()
        assert list(result) == [0, 3, 4, 0] and on.tolist() == [9, 2, 3, 4], device


def what_does_not_fit_is_refused():
    for device in _devices():
        queue, four, two = device.queue(), tenon.empty(4, device=device), tenon.empty(2, device=device)
        raises(ValueError, queue.copy, four, two)
        raises(ValueError, queue.copy, two, four, size=16)
        raises(ValueError, queue.copy, four, two, size=8, to_offset=12)
        raises(ValueError, queue.copy, four, two, size=8, source_offset=2**64 - 4)
        raises(ValueError, queue.copy, four, four, size=8, to_offset=4)
        raises(ValueError, queue.fill, four, b"abc")
        raises(ValueError, queue.fill, four, b"abcd", size=20)
        raises(ValueError, queue.fill, four, b"abcd", size=3)
        raises(TypeError, queue.fill, four, 5)
        raises(ValueError, queue.copy, bytes(16), four)
        raises(ValueError, tenon.Device("null:0").queue().copy, tenon.empty(4), tenon.empty(4))
        raises(TypeError, queue.join, wait=[5])
        raises(TypeError, queue.join, signal=[(5, 1)])
        raises(OverflowError, queue.join, signal=[(tenon.Timeline(), -1)])
        queue.sync()
    two = tenon.tensor([[1, 2], [3, 4]]).to("null:0")
    raises(ValueError, _worker().queue().copy, two, two)


def host_memory_is_kept_until_a_copy_is_done():
    queue = _worker().queue()
    with _awaited() as go:
        data = tenon.from_buffer(array.array("f", NUMBERS))
        target = tenon.empty(4, device=queue.device)

        source = _Array("f", NUMBERS)
        alive = weakref.ref(source)
        queue.copy(target, source, wait=[(go, 1)])
        del source
        gc.collect()
        assert alive()
        go.signal(1)
        queue.sync()
        gc.collect()
        assert not alive() and target.tolist() == data.tolist()


def a_queue_waits_for_points_and_signals_points():
    queue = _worker().queue()
    with _awaited() as timeline:
        a, result = tenon.tensor(NUMBERS).to(queue.device), tenon.empty(4)
        queue.copy(result, a, wait=[(timeline, 1)], signal=((timeline, 2) for _ in range(1)))
        queue.flush()
        raises(TimeoutError, queue.sync, timeout=0.01)
        assert timeline.value == 0 and result.tolist() == [0] * 4
        timeline.signal(1)
        timeline.wait(2, timeout=10)
        assert result.tolist() == NUMBERS


def a_queue_is_awaited():
    queue = _worker().queue()
    with _awaited() as timeline:
        a, result = tenon.tensor(NUMBERS).to(queue.device), tenon.empty(4)

        async def main():
            queue.copy(result, a, wait=[(timeline, 1)])
            waiting = asyncio.ensure_future(queue.done())
            await asyncio.sleep(0.01)
            assert not waiting.done()
            timeline.signal(1)
            await waiting

        asyncio.run(main())
        assert result.tolist() == NUMBERS


def what_failed_is_raised_where_it_is_awaited():
    queue = _worker().queue()
    with _awaited() as timeline:
        a = tenon.empty(4, device=queue.device)

        async def main():
            queue.copy(tenon.empty(4), a, wait=[(timeline, 1)])
            timeline.fail("the battery is empty")
            try:
                await queue.done()
            except tenon.Error as error:
                assert "the battery is empty" in str(error)
            else:
                raise AssertionError("done() did not raise")
            # the failure was before
            await queue.done()

        asyncio.run(main())
        assert "the battery is empty" in str(raises(tenon.Error, queue.sync))
        queue.sync()


def calls_of_a_with_block_go_to_the_queue():
    need("DEVICE_CPU")
    device = _worker()
    queue = device.queue()
    with _awaited() as go:
        a = tenon.tensor(NUMBERS).to(device)
        queue.join(wait=[(go, 1)])
        with queue as entered:
            assert entered is queue
            b = a.copy()
            raises(tenon.UsageError, queue.__enter__)
            # the copy waits on the queue
            raises(TimeoutError, queue.sync, timeout=0.01)
            raised = []

            def other():
                raised.append(raises(tenon.UsageError, queue.join))

            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            assert "another thread" in str(raised[0])
            go.signal(1)
            queue.sync()
        assert b.tolist() == NUMBERS
        # not after the block
        queue.join(wait=[(go, 2)])
        asyncio.run(device.done())
        go.signal(2)


def a_queue_that_is_dropped_within_its_block_waits():
    device = _worker()
    target, submitted = tenon.empty(4, device=device), threading.Event()
    with _awaited() as go:
        sources = [_Array("f", NUMBERS)]
        alive = weakref.ref(sources[0])

        def work():
            queue = device.queue()
            queue.__enter__()
            queue.copy(target, sources.pop(), wait=[(go, 1)])
            submitted.set()

        thread = threading.Thread(target=work)
        thread.start()
        submitted.wait()
        thread.join(0.1)
        was_alive = alive() is not None
        go.signal(1)
        thread.join()
        assert was_alive and alive() is None and target.tolist() == NUMBERS


def threads_share_a_queue():
    queue = _worker().queue()
    targets = [tenon.empty(64, device=queue.device) for _ in range(8)]

    def work(number):
        for _ in range(200):
            queue.copy(targets[number], array.array("f", [number] * 64))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.sync()
    assert [target.tolist() for target in targets] == [[float(i)] * 64 for i in range(8)]


class _Feeder(threading.Thread):
    """Submits to a queue, so that there is always a copy that waits; notes those whose memory is not kept so long."""

    def __init__(self, queue, timeline):
        super().__init__()
        self.queue, self.timeline, self.target = queue, timeline, tenon.empty(4, device=queue.device)
        self.stop, self.lost = threading.Event(), []
        self.waiting = self.submit(1)

    def submit(self, value):
        source = _Array("f", NUMBERS)
        self.queue.copy(self.target, source, wait=[(self.timeline, value)])
        return weakref.ref(source)

    def signal(self, value):
        if not self.waiting():
            self.lost.append(value)
        self.timeline.signal(value)

    def run(self):
        for value in itertools.count(1):
            after = self.submit(value + 1)
            self.signal(value)
            self.waiting = after
            if self.stop.wait(0.001):
                return self.signal(value + 1)


def a_sync_ends_while_another_thread_submits():
    device = _worker()
    for of_device in (False, True):
        queue = device.queue()
        with _awaited() as timeline:
            feeder = _Feeder(queue, timeline)
            feeder.start()
            try:
                (device if of_device else queue).sync(timeout=60)
            finally:
                feeder.stop.set()
                feeder.join()
            queue.sync(timeout=60)
        gc.collect()
        assert not feeder.lost and not feeder.waiting()


# ---- recordings


def a_recording_runs_again_with_other_memory():
    for device in _devices():
        queue, one = device.queue(), tenon.tensor([1.0] * 4).to(device)
        with device.recording() as recording:
            recording.fill(1, b"\0", size=16)
            recording.barrier()
            recording.copy(1, 0, size=8)
            recording.copy(1, one, size=4, to_offset=12)
        assert recording.device == device and recording.slots == 2
        del one
        gc.collect()
        for numbers in (NUMBERS, [5.0, 6.0, 7.0, 8.0]):
            source, target, result = tenon.tensor(numbers).to(device), tenon.empty(4, device=device), tenon.empty(4)
            queue.execute(recording, [source, target])
            queue.copy(result, target)
            queue.sync()
            assert result.tolist() == numbers[:2] + [0.0, 1.0], device


def tensors_that_do_not_fit_slots_are_refused():
    for device in _devices():
        queue, four = device.queue(), tenon.empty(4, device=device)
        with device.recording() as recording:
            recording.copy(0, 1, size=16)
        two = tenon.empty(2, device=device)
        assert "slot 1" in str(raises(ValueError, queue.execute, recording, [four, two]))
        assert "slot 0" in str(raises(ValueError, queue.execute, recording, [two, four]))
        raises(ValueError, queue.execute, recording, [four])
        raises(ValueError, queue.execute, recording, [four, four, four])
        raises(TypeError, queue.execute, four, [])
        raises(tenon.UsageError, recording.barrier)
        raises(tenon.UsageError, recording.finish)


def what_cannot_be_recorded_is_refused():
    need("DEVICE_NULL")
    device = tenon.Device("null:0")
    recording, four = device.recording(), tenon.empty(4, device=device)
    raises(ValueError, recording.copy, four, tenon.empty(4))
    raises(ValueError, recording.copy, 0, 1)
    raises(ValueError, recording.fill, 0, b"\0")
    raises(ValueError, recording.fill, 256, b"\0", size=4)
    raises(OverflowError, recording.fill, -1, b"\0", size=4)
    raises(ValueError, recording.fill, four, b"\0", size=17)
    raises(TypeError, recording.follow, device)
    # one that was not finished does not run
    recording.fill(four, b"\0")
    raises(tenon.UsageError, device.queue().execute, recording)


def an_exception_leaves_a_recording_unfinished():
    need("DEVICE_NULL")
    device = tenon.Device("null:0")
    recording = device.recording()
    try:
        with recording:
            raise KeyError("stop")
    except KeyError:
        pass
    raises(tenon.UsageError, device.queue().execute, recording)


def a_recording_follows_a_queue():
    for device in _devices():
        queue, result = device.queue(), tenon.empty(4)
        a, b = tenon.tensor(NUMBERS).to(device), tenon.empty(4, device=device)
        with device.recording() as recording:
            recording.follow(queue)
            raises(tenon.UsageError, device.recording().follow, queue)
            queue.copy(b, a)
        queue.fill(b, b"\0")
        queue.sync()
        # the recording keeps the memory that it reads
        del a
        gc.collect()
        others = [tenon.tensor([5.0] * 4).to(device) for _ in range(8)]
        queue.execute(recording)
        queue.copy(result, b)
        queue.sync()
        assert result.tolist() == NUMBERS, device


def a_recording_that_is_dropped_leaves_its_queue():
    for device in _devices():
        queue, four = device.queue(), tenon.empty(4, device=device)
        device.recording().follow(queue)
        queue.fill(four, b"\0")
        source = _Array("f", NUMBERS)
        alive = weakref.ref(source)
        queue.copy(four, source)
        del source
        queue.sync()
        gc.collect()
        assert not alive(), device
        with device.recording() as recording:
            recording.follow(queue)


def calls_are_recorded_with_slots():
    for device in _devices_with_queues():
        queue = device.queue()
        with device.recording() as recording:
            source, target = recording.slot(1, 4), recording.slot(0, (2, 2), "float32")
            assert target.shape == (2, 2) and target.device == device
            recording.call(target.copy_from, source)
            recording.fill(target, b"\0\0\x80\x3f", size=4, to_offset=8)
        assert recording.slots == 2
        del source, target
        gc.collect()
        for numbers in (NUMBERS, [5.0, 6.0, 7.0, 8.0]):
            given, got, result = tenon.tensor(numbers).to(device), tenon.empty(4, device=device), tenon.empty(4)
            queue.execute(recording, [got, given])
            queue.copy(result, got)
            queue.sync()
            assert result.tolist() == numbers[:2] + [1.0] + numbers[3:], device
        small = tenon.empty(3, device=device)
        assert "slot 1" in str(raises(ValueError, queue.execute, recording, [got, small]))
        raises(ValueError, queue.execute, recording, [tenon.from_buffer(bytes(16), "float32"), given])


def calls_record_what_they_name_and_keep_it():
    for device in _devices_with_queues():
        queue, constant = device.queue(), tenon.tensor(NUMBERS).to(device)
        with device.recording() as recording:
            target = recording.slot(0, 4)
            recording.call(target.copy_from, constant)
        # nothing ran
        result = tenon.empty(4)
        del constant
        gc.collect()
        others = [tenon.tensor([5.0] * 4).to(device) for _ in range(8)]
        queue.execute(recording, others[:1])
        queue.copy(result, others[0])
        queue.sync()
        assert result.tolist() == NUMBERS, device


def calls_that_cannot_be_recorded_are_refused():
    for device in _devices_with_queues():
        recording, four = device.recording(), tenon.empty(4, device=device)
        target = recording.slot(0, 4)
        raises(tenon.Error, recording.slot, 0, 4)
        raises(OverflowError, recording.slot, 256, 4)
        raises(TypeError, recording.call)
        raises(TypeError, recording.call, 5)
        # it submits nothing
        raises(tenon.UnsupportedError, recording.call, lambda: None)
        assert isinstance(raises(KeyError, recording.call, {}.__getitem__, "missing"), KeyError)
        raised = []

        def nested():
            for method in (recording.barrier, recording.finish, lambda: recording.slot(1, 4)):
                raised.append(raises(tenon.UsageError, method))
            raised.append(raises(tenon.UsageError, recording.call, target.copy_from, four))
            raised.append(raises(tenon.UsageError, recording.follow, device.queue()))
            target.copy_from(four)

        recording.call(nested)
        assert len(raised) == 5
        recording.finish()
        raises(tenon.UsageError, recording.call, target.copy_from, four)

        # one that fails behind its first operation leaves it unfinished
        recording = device.recording()
        target = recording.slot(0, 4)
        raises(KeyError, recording.call, lambda: target.copy_from(four) or {}["missing"])
        raises(tenon.UsageError, recording.finish)


# ---- kinds of modules in Python


def a_kind_of_module_is_made_of_bytes():
    seen = []

    @tenon.module_kind("test-scaler")
    def load(data):
        seen.append(data)
        if not data:
            raise ValueError("a scaler has no bytes")
        return {"scale": lambda number: number * data[0], "size": lambda: len(data)}

    module = tenon.load_bytes("test-scaler", b"\7")
    assert seen == [b"\7"] and load(b"\2")["scale"](3) == 6
    assert module.kind == "test-scaler" and module.scale(6) == 42 and module["size"]() == 1
    assert sorted(module.functions) == ["scale", "size"] and "other" not in module
    assert module.save() == b"\7" and tenon.load_bytes("test-scaler", module.save()).scale(2) == 14
    raises(AttributeError, lambda: module.other)
    assert "a scaler has no bytes" in str(raises(ValueError, tenon.load_bytes, "test-scaler", b""))
    raises(tenon.UsageError, tenon.module_kind, "test-scaler", load)
    tenon.module_kind("test-scaler", lambda data: {}, replace=True)
    assert tenon.load_bytes("test-scaler", b"\7").functions == []
    tenon.module_kind("test-scaler", lambda data: 5, replace=True)
    raises(TypeError, tenon.load_bytes, "test-scaler", b"\7")


def compiled_code_finds_callables_of_an_import():
    module = tenon.load(TAKES)
    before = len(module.imports)
    made = tenon.make_module({"twice": lambda number: 2 * number})
    module.import_module(made)
    try:
        assert module.twice(21) == 42 and len(module.imports) == before + 1
        assert "without bytes" in str(raises(tenon.UnsupportedError, made.save))
    finally:
        del module
    raises(TypeError, tenon.make_module, {"twice": 5})
    raises(TypeError, tenon.make_module, {5: print})
    raises(TypeError, tenon.make_module, {}, "kind", "text")


def a_function_keeps_its_module():
    class Callable:
        def __call__(self):
            return 5

    callable = Callable()
    alive = weakref.ref(callable)
    function = tenon.make_module({"five": callable})["five"]
    del callable
    gc.collect()
    assert function() == 5 and alive()
    del function
    gc.collect()
    assert not alive()
