# SPDX-License-Identifier: MIT
"""Schedules of kernels without a product: which loops threads share. Needs TVM. Prints TAP."""

import sys
from pathlib import Path

from tvm import te

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.kernels import Vectors  # noqa: E402
from tenon_compile.schedules import schedule_kernel  # noqa: E402


def kernel(make, *shape):
    """The schedule of a kernel that computes something of one tensor, as text."""
    x = te.placeholder(shape, name="x")
    return schedule_kernel(te.create_prim_func([x, make(x)]), Vectors(8, 8), True)[0].script()


def transposed(x):
    rows, columns = x.shape
    return te.compute((columns, rows), lambda i, j: x[j, i], name="y")


def summed(x):
    k = te.reduce_axis((0, x.shape[1]), name="k")
    return te.compute((x.shape[0],), lambda i: te.sum(x[i, k], axis=k), name="y")


def threads_share_the_outermost_loop_of_a_large_kernel():
    text = kernel(transposed, 512, 300)
    assert text.count("T.parallel(300)") == 1, text


def threads_share_two_loops_if_the_outermost_has_few_turns():
    text = kernel(lambda x: te.compute(x.shape, lambda i, j, k: x[i, j, k] + 1, name="y"), 2, 100, 512)
    assert text.count("T.parallel(200)") == 1, text


def sums_and_scalar_loops_stay_in_one_thread():
    assert "parallel" not in kernel(transposed, 500, 300)
    assert "parallel" not in kernel(summed, 400, 300)


def a_small_kernel_stays_in_one_thread():
    assert "parallel" not in kernel(transposed, 50, 30)


cases = [f for name, f in list(globals().items()) if callable(f) and getattr(f, "__module__", "") == __name__]
cases = cases[cases.index(summed) + 1 :]
failures = 0
for number, case in enumerate(cases, 1):
    try:
        case()
        print(f"ok {number} - {case.__name__.replace('_', ' ')}")
    except Exception as error:
        failures += 1
        print(f"not ok {number} - {case.__name__.replace('_', ' ')}")
        print("\n".join("# " + line for line in f"{type(error).__name__}: {error}".splitlines()))
print(f"1..{len(cases)}")
sys.exit(failures > 0)
