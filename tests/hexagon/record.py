#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Record operators that TVM compiled for Hexagon, with inputs, and what TVM's code for this processor makes of them.

record.py FOLDER, with the Python of TVM 0.27, clang and lld; tests/hexagon/recorded is its output.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))

import tvm  # noqa: E402
from tenon_compile import small_core  # noqa: E402
from tenon_compile.targets import tvm_target  # noqa: E402
from tvm import te, topi  # noqa: E402
from tvm.s_tir import Schedule  # noqa: E402


def dense(x, w):
    return topi.nn.relu(topi.nn.dense(x, w))


def conv2d(x, w):
    return topi.nn.conv2d_nchw(x, w, 1, 1, 1, "float32")


def softmax(x):
    return topi.nn.softmax(x)


def dense_int8(x, w):
    k = te.reduce_axis((0, 32), "k")
    sums = te.compute((4, 8), lambda i, j: te.sum(x[i, k].astype("int32") * w[j, k].astype("int32"), k), "sums")
    return te.compute((4, 8), lambda i, j: topi.clip(sums, -8192, 8191)[i, j] // 64, "y")


def add_hvx(b, x, y):
    """The first input has half the size of a vector: tensors behind it lie at multiples of 64, no vectors' multiples."""
    return te.compute((4, 32), lambda i, j: x[i, j] + y[i, j] + b[i], name="sum")


def in_vectors(function):
    """One vector of HVX at a time."""
    schedule = Schedule(function)
    schedule.vectorize(schedule.get_loops(schedule.get_sblock("sum"))[-1])
    return schedule.mod["main"]


OPERATORS = {
    "dense": (dense, ((4, 32), (8, 32)), "float32"),
    "conv2d": (conv2d, ((1, 2, 16, 16), (4, 2, 3, 3)), "float32"),
    "softmax": (softmax, ((4, 10),), "float32"),
    "dense_int8": (dense_int8, ((4, 32), (8, 32)), "int8"),
}
VECTORS = {"add_hvx": (add_hvx, ((16,), (4, 32), (4, 32)), "int32")}


def random(rng, shape, dtype):
    if dtype.startswith("int"):
        return rng.integers(-128, 128, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def record(folder, file, operators, processor, change=lambda function: function):
    rng = np.random.default_rng(7)
    kernels = {}
    for name, (make, shapes, dtype) in operators.items():
        inputs = [te.placeholder(shape, dtype, name=f"in{i}") for i, shape in enumerate(shapes)]
        output = make(*inputs)
        function = te.create_prim_func([*inputs, output])
        kernels[name] = change(function).with_attr("global_symbol", name)
        here = tvm.compile(tvm.IRModule({name: function.with_attr("global_symbol", name)}), target="llvm")
        arrays = [random(rng, shape, dtype) for shape in shapes]
        result = tvm.runtime.empty([int(extent) for extent in output.shape], str(output.dtype))
        here[name](*[tvm.runtime.tensor(array) for array in arrays], result)
        for i, array in enumerate(arrays):
            np.save(folder / f"{name}.{i}.npy", array)
        np.save(folder / f"{name}.out.npy", result.numpy())
    small_core.make_program(kernels, "hexagon", tvm_target("hexagon", processor), folder / file)
    (folder / file).chmod(0o644)


FOLDER = Path(sys.argv[1])
record(FOLDER, "operators.mortise", OPERATORS, None)
record(FOLDER, "vectors.mortise", VECTORS, "hexagonv66+hvxv66+hvx-length128b", in_vectors)
