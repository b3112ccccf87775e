# SPDX-License-Identifier: MIT
"""Measures TVM's own virtual machine: prints "<row> <nanoseconds>" for the models given. Run by vm_bench."""

import statistics
import sys
import time

import numpy as np
import tvm
from tvm import relax


def median_of(batch, rounds=15):
    return statistics.median(batch() for _ in range(rounds))


def runs(call, count):
    def batch():
        start = time.perf_counter_ns()
        for _ in range(count):
            call()
        return (time.perf_counter_ns() - start) / count
    return batch


def opened(path):
    machine = relax.VirtualMachine(tvm.runtime.load_module(path), tvm.cpu())
    return machine, machine.module[sys.argv[2]]


def main():
    """vm_peer.py FILE FUNCTION INPUT.npy COUNT"""
    path, function, data, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    machine, call = opened(path)
    x = tvm.runtime.tensor(np.load(data))
    call(x)
    print("version", tvm.__version__)
    print("run", median_of(runs(lambda: call(x), count)))
    # what Python itself costs: an empty function of the same runtime
    nothing = machine.module["get_function_arity"]
    print("call", median_of(runs(lambda: nothing(function), 10000)))
    keep = []
    print("open", median_of(runs(lambda: keep.append(opened(path)), 20), 5))


if __name__ == "__main__":
    main()
