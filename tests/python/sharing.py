# SPDX-License-Identifier: MIT
"""Threads that use one object: what the GIL, or the locks of a free-threaded Python, must keep apart."""

import threading

import tenon
from cases import DATA, FFI, TAKES, need, raises

GRAPH = DATA / "tvm-0.18/graph_mlp/graph.so"
THREADS = 4


def _together(work, rounds=1, make=lambda: ()):
    """Run work(*make()) in several threads at the same time, that often; the results, a list for each round."""
    results = []
    for _ in range(rounds):
        arguments, got, start = make(), [], threading.Barrier(THREADS)

        def run(arguments=arguments, got=got, start=start):
            start.wait()
            try:
                got.append(work(*arguments))
            except Exception as error:
                got.append(error)

        threads = [threading.Thread(target=run) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        results.append(got)
    return results


def one_thread_gets_the_tensor_of_a_capsule():
    for version in ((1, 3), None):
        made = _together(tenon.from_dlpack, 60, lambda: (tenon.tensor([1, 2]).__dlpack__(max_version=version),))
        for got in made:
            taken = [one for one in got if isinstance(one, tenon.Tensor)]
            assert [one.tolist() for one in taken] == [[1, 2]], got
            assert all(isinstance(one, BufferError) for one in got if one not in taken), got


def threads_look_up_functions_of_one_module():
    def call(module):
        return [module.take(number) for number in range(20)], module["nothing"]()

    for got in _together(call, 20, lambda: (tenon.load(TAKES),)):
        assert got == [([1] * 20, None)] * THREADS, got


def threads_may_close_one_model_at_once():
    need("GRAPH_EXECUTOR")
    need("TVM_LEGACY")
    for got in _together(lambda model: model._core.close(), 200, lambda: (tenon.load(GRAPH),)):
        assert got == [None] * THREADS, got


def threads_that_get_an_error_of_one_kind_get_one_class():
    need("TVM_FFI_COMPAT")
    module = tenon.load(FFI / "cpp_scalars/lib.so")
    for fails, argument in ((module.raise_index_error, "x"), (module.raise_value_error, 1)):
        (classes,) = _together(lambda fails=fails, argument=argument: type(raises(tenon.CallError, fails, argument)))
        assert len(set(classes)) == 1 and issubclass(classes[0], tenon.CallError), classes


def a_dict_may_change_while_it_is_an_argument():
    # maps of at most 4 pairs can be made without tvm-ffi
    take, data, stop = tenon.load(TAKES).take, {}, threading.Event()

    def change():
        number = 0
        while not stop.is_set():
            data[str(number % 4)] = [number]
            data.pop(str(number * 7 % 4), None)
            number += 1

    changing = threading.Thread(target=change)
    changing.start()
    try:
        results = _together(lambda: [take(data) for _ in range(200)])
    finally:
        stop.set()
        changing.join()
    assert results == [[[1] * 200] * THREADS], results


def a_lent_tensor_ends_only_between_the_reads_of_other_threads():
    lend, whole = tenon.load(TAKES).lend, ([1.0, 2.0, 3.0, 4.0], (4,))

    def read(tensor, ends):
        try:
            while True:
                assert (tensor.tolist(), tensor.shape) == whole
        except ValueError:
            ends.append(True)

    for _ in range(10):
        ends, threads = [], []

        def keep(tensor, ends=ends, threads=threads):
            for _ in range(THREADS):
                threads.append(threading.Thread(target=read, args=(tensor, ends)))
                threads[-1].start()

        lend(keep)
        for thread in threads:
            thread.join()
        assert ends == [True] * THREADS


def operations_that_threads_record_are_all_recorded():
    device = tenon.Device("null:0")
    for _ in range(5):
        recording, queue = device.recording(), device.queue()

        def fill(recording=recording):
            for slot in range(40):
                recording.fill(slot, b"\0", size=16)
                recording.barrier()

        assert _together(fill) == [[None] * THREADS]
        recording.finish()
        assert recording.slots == 40
        queue.execute(recording, [tenon.empty(4, device=device) for _ in range(40)])
        queue.sync()
