# SPDX-License-Identifier: MIT
"""Functions of modules: calls, values, errors, callbacks, threads."""

import array
import gc
import pickle
import sys
import threading
import time
import weakref

import tenon
from cases import FFI, TAKES, TVM, gil_is_there, need, raises


def _scalars():
    need("TVM_FFI_COMPAT")
    return tenon.load(FFI / "cpp_scalars/lib.so")


def _call_with():
    need("TVM_FFI_COMPAT")
    return tenon.load(FFI / "cpp_functions/lib.so").call_with


def a_function_is_called_by_attribute_and_by_name():
    module = tenon.load(TVM / "host_vecadd/lib.so")
    a, b, c = tenon.tensor([float(i) for i in range(128)]), tenon.tensor([0.5] * 128), tenon.empty(128)
    module.vecadd(a, b, c)
    assert c.tolist() == [i + 0.5 for i in range(128)]
    module["main"](a, a, c)
    assert c.tolist() == [2.0 * i for i in range(128)]
    assert sorted(module.functions) == ["main", "vecadd"] and "vecadd" in module and "sub" not in module
    assert "vecadd" in dir(module) and module.kind == "library" and module.imports == []


def arrays_of_python_are_tensors_without_a_copy():
    module = tenon.load(TVM / "host_vecadd/lib.so")
    a, c = array.array("f", range(128)), array.array("f", [0] * 128)
    module.vecadd(a, memoryview(a), c)
    assert list(c) == [2.0 * i for i in range(128)]


def values_come_back_as_they_went():
    echo = _scalars().echo
    for value in (
        None, True, False, 0, -5, 2**63 - 1, -(2**63), 1.5, "", "short", "longer than seven", "grüße, 世界", "a\0b",
        "longer than seven\0", b"", b"\0\1", b"more than seven bytes", [1, "two", [3.0, None]], [], {"a": 1, "b": "c"},
        tenon.Device("cpu"),
    ):  # fmt: skip
        got = echo(value)
        assert got == value and type(got) is type(value), (value, got)
    for value in (tenon.DType("float16"), tenon.Pointer(4096), tenon.Shape((2, 3))):
        assert echo(value) == value and type(echo(value)) is type(value)
    assert echo((1, 2)) == [1, 2]
    thing = object()
    assert echo(thing) is thing
    assert isinstance(echo(tenon.empty(3)), tenon.Tensor)
    assert echo(array.array("d", [1, 2])).tolist() == [1, 2]


def references_are_flat_after_calls():
    echo = _scalars().echo
    things = [object(), [object()], "a string that is long", b"bytes that are long", 10**15, tenon.empty(3)]
    for _ in range(20):
        for thing in things:
            echo(thing)
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(100):
        for thing in things:
            echo(thing)
    gc.collect()
    assert [sys.getrefcount(thing) for thing in things] == before


def what_no_value_can_hold_is_refused_with_the_argument():
    take = tenon.load(TAKES).take
    assert "argument 2" in str(raises(OverflowError, take, 1, 2**63))
    assert "argument 1" in str(raises(TypeError, take, memoryview(b"\0" * 16).cast("P")))
    # an exception that is not made of a text alone is raised as it is
    assert "surrogates" in str(raises(UnicodeEncodeError, take, "\ud800"))
    raises(TypeError, take, 1, named=2)
    deep = []
    for _ in range(100000):
        deep = [deep]
    raises(RecursionError, take, deep)


def a_call_has_any_number_of_arguments():
    take = tenon.load(TAKES).take
    for count in (0, 1, 8, 9, 100):
        assert take(*range(count)) == count
        assert take(*[b"bytes"] * count) == count
        assert take(*[f"a string of its own {i}" for i in range(count)]) == count


def errors_are_exceptions_of_python_and_of_tenon():
    scalars = _scalars()
    error = raises(ValueError, scalars.raise_value_error, 3)
    assert isinstance(error, tenon.CallError) and error.kind == "ValueError" and error.status < 0
    assert isinstance(raises(IndexError, scalars.raise_index_error, "far"), tenon.Error)
    assert isinstance(raises(TypeError, scalars.add_ints, 1), tenon.Error)
    error = raises(AttributeError, lambda: scalars.nope)
    assert isinstance(error, tenon.NotFoundError) and "nope" in str(error)
    assert not hasattr(scalars, "nope") and isinstance(raises(tenon.Error, lambda: scalars["nope"]), LookupError)
    error = raises(OSError, tenon.load, "/nowhere.so")
    assert isinstance(error, tenon.FileError) and "/nowhere.so" in str(error)
    raises(tenon.ArgumentValueError, tenon.DType, "float12345x")


def a_callable_of_python_is_called():
    call_with = _call_with()
    assert call_with(lambda x: x * 2, 21) == 42
    adder = tenon.load(FFI / "cpp_functions/lib.so").adder
    assert adder(3)(4) == 7


def an_exception_of_a_callback_is_raised_again_with_its_frames():
    error = ZeroDivisionError("of mine")

    def fails(_):
        raise error

    raised = raises(ZeroDivisionError, _call_with(), fails, 1)
    names, at = [], raised.__traceback__
    while at:
        names.append(at.tb_frame.f_code.co_name)
        at = at.tb_next
    assert raised is error and names[-1] == "fails", names
    assert raises(TypeError, _call_with(), lambda: 0, 1)


def frames_of_called_code_are_data():
    error = raises(ValueError, _scalars().raise_value_error, 3)
    assert all(isinstance(line, int) and file and name for file, line, name in error.frames)


def callbacks_are_released_when_nothing_uses_them():
    class Callable:
        def __call__(self, x):
            return x

    callable_ = Callable()
    alive = weakref.ref(callable_)
    function = tenon.wrap(callable_)
    del callable_
    assert function(5) == 5 and alive()
    del function
    gc.collect()
    assert alive() is None


class _Counter:
    """An object that the function keeps that it keeps; says when it ends."""

    def __init__(self, ended):
        self.function, self.ended = tenon.wrap(self.count), ended

    def count(self):
        return 1

    def __del__(self):
        self.ended.append(self.function())


def _collected(ended):
    ended.clear()
    gc.collect()
    return ended


def a_function_is_collected_with_what_keeps_it():
    ended = []
    _Counter(ended)
    assert _collected(ended) == [1]
    # the library has it, too
    counter = _Counter(ended)
    tenon.register("test.collected", counter.function)
    del counter
    assert _collected(ended) == [] and tenon.function("test.collected")() == 1
    tenon.unregister("test.collected")


def a_function_that_a_call_uses_is_not_collected():
    refer, flag, ended = tenon.load(TAKES).refer, array.array("i", [0]), []
    # only the call has it
    thread = threading.Thread(target=lambda kept: refer(kept.pop(), flag), args=([_Counter(ended).function],))
    thread.start()
    try:
        for _ in range(50):
            assert _collected(ended) == []
    finally:
        flag[0] = 1
        thread.join()
    assert _collected(ended) == [1]


def a_function_that_code_has_a_weak_reference_to_is_kept():
    weaken, ended = tenon.load(TAKES).weaken, []
    # that code may make a strong one of it, at any time
    weaken(_Counter(ended).function)
    assert _collected(ended) == []
    weaken(None)
    assert _collected(ended) == [1]


def names_are_whole_texts():
    for ask in (tenon.function, tenon.unregister, tenon.load(TVM / "host_vecadd/lib.so").__getitem__, tenon.Device):
        raises(ValueError, ask, "vecadd\0more")
        raises(TypeError, ask, 3)


def an_error_of_called_code_is_pickled():
    error = raises(TypeError, tenon.load(TVM / "host_vecadd/lib.so").vecadd)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) is tenon.TypeError and str(again) == str(error) and again.kind == "TypeError"
    for name in ("TypeErorr", "\udc80", "TypeError\0", ""):
        raises(AttributeError, getattr, tenon, name)


def a_registered_callable_is_called_by_compiled_code():
    need("TVM_FFI_COMPAT")
    seen = []

    @tenon.register("fixture.observe", replace=True)
    def observe(*args):
        seen.append(args)

    try:
        out = tenon.empty(4)
        module = tenon.load(TVM / "host_call_packed/observe.so")
        module.call_observe(tenon.tensor([0.5] * 16), out)
        assert seen and isinstance(seen[0][0], int), seen
        assert "fixture.observe" in tenon.functions() and isinstance(tenon.function("fixture.observe"), tenon.Function)
    finally:
        tenon.unregister("fixture.observe")
    raises(tenon.NotFoundError, tenon.function, "fixture.observe")


def borrowed_data_is_read_and_written_during_the_call_alone():
    lend, kept = tenon.load(TAKES).lend, []

    def callback(lent):
        assert lent.tolist() == [1, 2, 3, 4] and memoryview(lent).readonly
        lent.copy_from(tenon.tensor([7.0, 8.0, 9.0, 10.0]))
        kept.extend((lent, memoryview(lent), lent.copy()))

    assert lend(callback) == 7.0
    lent, view, copy = kept
    assert view.tolist() == [7, 8, 9, 10] and copy.tolist() == [7, 8, 9, 10]
    raises(ValueError, lent.tolist)
    raises(ValueError, lambda: lent.shape)
    raises(ValueError, tenon.load(TAKES).take, lent)
    # what a callback returns may be used later: borrowed data is copied
    assert lend(lambda lent: lent).tolist() == [1, 2, 3, 4]


def borrowed_data_ends_after_the_calls_of_other_threads_that_use_it():
    module, threads = tenon.load(TAKES), []
    began, ended = tenon.tensor([0], "int32"), tenon.tensor([0], "int32")

    def callback(lent):
        threads.append(threading.Thread(target=module.hold, args=(lent, began, ended)))
        threads[0].start()
        while not began.item():
            time.sleep(0.001)

    module.lend(callback)
    assert ended.item() == 1
    threads[0].join()


def other_threads_go_on_during_a_call():
    module, flag = tenon.load(TAKES), tenon.tensor([0], "int32")
    results = []
    thread = threading.Thread(target=lambda: results.append(module.wait_for(flag, 10000)))
    thread.start()
    # the function waits for this, which could not be written if it held the GIL
    flag.copy_from(tenon.tensor([1], "int32"))
    thread.join()
    assert results == [1]


def a_function_may_keep_the_gil():
    function, allowed = tenon.load(TAKES)["wait_for"], threading.Lock()
    assert function.release_gil is True
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        # 0: the thread did not go on for 100 milliseconds; a free-threaded Python stops none
        for release, result in ((False, 0 if gil_is_there() else 1), (True, 1)):
            function.release_gil = release
            flag = array.array("i", [0])

            def write(flag=flag):
                with allowed:
                    flag[0] = 1

            with allowed:
                thread = threading.Thread(target=write)
                thread.start()
            # the thread goes on when this one releases the GIL
            assert function(flag, 10000 if result else 100) == result
            thread.join()
            assert flag[0] == 1
    finally:
        sys.setswitchinterval(interval)
    raises(AttributeError, delattr, function, "release_gil")


def a_callback_is_called_from_several_threads():
    call_with, total = _call_with(), []
    threads = [
        threading.Thread(target=lambda: total.append(sum(call_with(lambda x: x + 1, i) for i in range(200))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [sum(range(1, 201))] * 4
