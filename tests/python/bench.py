#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls, exchange of tensors and import of this package beside tvm_ffi, in one run: PYTHONPATH=build/python bench.py LIB

LIB is a module with functions nothing() of no argument and take(...) of any. Times are nanoseconds of processor time, the
least of several rounds, so that other work of the machine matters little.
"""

import resource
import subprocess
import sys
import time
import timeit

import tenon

try:
    import tvm_ffi
except ImportError:
    tvm_ffi = None
try:
    import numpy
except ImportError:
    numpy = None

ROUNDS = 7


def nanoseconds(statement, names):
    timer = timeit.Timer(statement, timer=time.process_time, globals=names)
    count = max(1, int(timer.autorange()[0] / 4))
    return min(timer.repeat(ROUNDS, count)) / count * 1e9


def row(what, goal, ours, theirs):
    beside = f"{theirs:8.0f} {ours / theirs:6.2f}" if theirs else "       -      -"
    print(f"{what:34} {ours:8.0f} {beside}   {goal}")


def import_milliseconds(package):
    """Processor time of a new interpreter that imports the package, less that of one that imports nothing."""

    def children():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def least(code):
        run = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
        return min(timeit.repeat(lambda: subprocess.run(run, check=True), timer=children, number=1, repeat=ROUNDS))

    return (least(f"import {package}") - least("pass")) * 1e3


def main():
    ours = tenon.load(sys.argv[1])
    theirs = tvm_ffi.load_module(sys.argv[1]) if tvm_ffi else None
    print(f"{'':34} {'tenon':>8} {'tvm_ffi':>8} {'ratio':>6}   goal")
    for release in (True, False):
        print("calls that release the GIL, as by default" if release else "calls that keep the GIL (release_gil = False)")
        for what, name, arguments in (
            ("  without arguments", "nothing", ""),
            ("  with 4 ints", "take", "1, 2, 3, 4"),
            ("  with a tensor", "take", "t"),
        ):
            mine = {"f": ours[name], "t": tenon.empty(16)}
            other = theirs and {"f": theirs[name], "t": tvm_ffi.from_dlpack(tenon.empty(16))}
            for names in (mine, other):
                if names:
                    names["f"].release_gil = release
            row(what, "0.5", nanoseconds(f"f({arguments})", mine), other and nanoseconds(f"f({arguments})", other))
    if numpy:
        a = numpy.zeros(16, "float32")
        row(
            "from_dlpack of a numpy array",
            "1.0",
            nanoseconds("f(a)", {"f": tenon.from_dlpack, "a": a}),
            tvm_ffi and nanoseconds("f(a)", {"f": tvm_ffi.from_dlpack, "a": a}),
        )
        row("call with a numpy array", "", nanoseconds("f(a)", {"f": ours["take"], "a": a}), None)
    print(f"{'import':34} {import_milliseconds('tenon'):8.1f} ms   goal: 20")


main()
