# SPDX-License-Identifier: MIT
"""One or more small functions for each Relax operator: its name, inputs, and the expression that calls it."""

from dataclasses import dataclass

import numpy as np
import tvm
from tvm import relax
from tvm.relax import op
from tvm.script import relax as R
from tvm.script import tirx as T

CASES = []


@dataclass
class Case:
    op: str  # registered name, without "relax."
    name: str  # of the function
    inputs: list  # arrays, or tuples of integers for shapes
    emit: object  # (BlockBuilder, *variables) -> expression
    symbolic: bool = True  # also with names in place of extents
    pure: bool = True


def add(name, emit, *inputs, variant="", **more):
    stem = (name + ("_" + variant if variant else "")).replace(".", "_")
    if any(c.name == stem for c in CASES):
        raise ValueError(f"two cases have the name {stem}")
    CASES.append(Case(name, stem, list(inputs), emit, **more))


def plain(function, *args, **keywords):
    """Call an operator with all variables, then other arguments."""
    return lambda bb, *v: function(*v, *args, **keywords)


rng = np.random.default_rng(14)


def real(*shape, dtype="float32", low=-2.0, high=2.0):
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)


def whole(*shape, dtype="int32", low=-9, high=10):
    return np.asarray(rng.integers(low, high, shape)).astype(dtype)


def places(size, *shape, dtype="int64"):
    return whole(*shape, dtype=dtype, low=0, high=size)


def bits(*shape):
    return np.asarray(rng.integers(0, 2, shape)).astype("bool")


def special(dtype="float32"):
    """Numbers at the borders: zeros of both signs, halves, infinities, NaN."""
    return np.array([0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1e-7, -3.0, 60.0, np.inf, -np.inf, np.nan], dtype)


def const(value, dtype="float32"):
    return relax.const(value, dtype)


# ---- one tensor in, one of its shape out

UNARY = {  # domain of the random numbers
    "abs": (-2, 2), "acos": (-1, 1), "acosh": (1, 9), "asin": (-1, 1), "asinh": (-9, 9), "atan": (-9, 9),
    "atanh": (-0.9, 0.9), "ceil": (-9, 9), "cos": (-9, 9), "cosh": (-3, 3), "erf": (-3, 3), "exp": (-3, 3),
    "floor": (-9, 9), "log": (0.01, 9), "negative": (-2, 2), "round": (-9, 9), "rsqrt": (0.1, 9), "sigmoid": (-5, 5),
    "sign": (-2, 2), "sin": (-9, 9), "sinh": (-3, 3), "sqrt": (0, 9), "square": (-3, 3), "tan": (-1, 1),
    "tanh": (-3, 3), "trunc": (-9, 9), "isfinite": (-1, 1), "isinf": (-1, 1), "isnan": (-1, 1),
}
for unary, (low, high) in UNARY.items():
    add(unary, plain(getattr(op, unary)), real(5, 7, low=low, high=high))
    add(unary, plain(getattr(op, unary)), special(), variant="special", symbolic=False)
    add(unary, plain(getattr(op, unary)), real(5, 7, low=low, high=high, dtype="float64"), variant="float64",
        symbolic=False)
    if unary not in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "erf", "isinf", "isnan"):
        add(unary, plain(getattr(op, unary)), real(5, 7, low=low, high=high, dtype="float16"), variant="float16",
            symbolic=False)
for unary in ("abs", "negative", "square", "sign"):
    for dtype in ("int8", "int16", "int32", "int64"):
        add(unary, plain(getattr(op, unary)), whole(4, 6, dtype=dtype), variant=dtype, symbolic=False)
add("bitwise_not", plain(op.bitwise_not), whole(4, 6))
add("logical_not", plain(op.logical_not), bits(4, 6))
add("clip", plain(op.clip, -1, 1), real(5, 7))
add("clip", plain(op.clip, -3, 3), whole(5, 7, dtype="int64"), variant="int64")
add("clip", plain(op.clip, -1, 1), special(), variant="special", symbolic=False)
DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16",
          "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
for dtype in DTYPES:
    if dtype == "bfloat16" or dtype.startswith("float8"):
        # there is no .npy of these: back to a dtype that has one
        add("astype", lambda bb, x, dtype=dtype: op.astype(bb.emit(op.astype(x, dtype)), "float32"), real(4, 5),
            variant=dtype, symbolic=False)
        continue
    add("astype", plain(op.astype, dtype), real(4, 5, low=0, high=9), variant="float32_to_" + dtype, symbolic=False)
    if dtype == "float32":
        continue
    source = bits(4, 5) if dtype == "bool" else real(4, 5, low=0, high=9).astype(dtype)
    add("astype", plain(op.astype, "float32"), source, variant=dtype + "_to_float32", symbolic=False)
for activation in ("relu", "gelu", "gelu_tanh", "selu", "silu", "softplus", "leakyrelu"):
    add("nn." + activation, plain(getattr(op.nn, activation)), real(3, 8))
    add("nn." + activation, plain(getattr(op.nn, activation)), special(), variant="special", symbolic=False)
add("nn.relu", plain(op.nn.relu), whole(3, 8, dtype="int8"), variant="int8")
add("nn.prelu", plain(op.nn.prelu), real(2, 3, 4), real(3), symbolic=False)
add("nn.dropout", plain(op.nn.dropout, 0.5), real(3, 8))
for softmax in ("softmax", "log_softmax"):
    add("nn." + softmax, plain(getattr(op.nn, softmax)), real(3, 8))
    add("nn." + softmax, plain(getattr(op.nn, softmax), 1), real(2, 5, 3), variant="axis_1")

# ---- two tensors in, broadcast

for binary in ("add", "subtract", "multiply", "maximum", "minimum"):
    for dtype in ("float32", "float64", "float16"):
        add(binary, plain(getattr(op, binary)), real(4, 6, dtype=dtype), real(4, 6, dtype=dtype), variant=dtype,
            symbolic=dtype == "float32")
    for dtype in ("int8", "uint8", "int32", "int64"):
        low = 0 if dtype == "uint8" else -9
        add(binary, plain(getattr(op, binary)), whole(4, 6, dtype=dtype, low=low), whole(6, dtype=dtype, low=low),
            variant=dtype + "_broadcast", symbolic=dtype == "int64")
    add(binary, plain(getattr(op, binary)), special(), special()[::-1].copy(), variant="special", symbolic=False)
for binary in ("divide", "floor_divide", "floor_mod", "mod"):
    add(binary, plain(getattr(op, binary)), real(4, 6), real(4, 6, low=0.5, high=3))
    if binary != "divide":
        add(binary, plain(getattr(op, binary)), whole(4, 6), whole(4, 6, low=1), variant="int32", symbolic=False)
for binary in ("atan2", "log_add_exp", "power"):
    add(binary, plain(getattr(op, binary)), real(4, 6, low=0.1), real(4, 6))
for binary in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    add(binary, plain(getattr(op, binary)), whole(4, 6, low=0, high=3), whole(4, 6, low=0, high=3))
    add(binary, plain(getattr(op, binary)), real(4, 6), real(4, 1), variant="float32")
    add(binary, plain(getattr(op, binary)), special(), special()[::-1].copy(), variant="special", symbolic=False)
for binary in ("logical_and", "logical_or", "logical_xor"):
    add(binary, plain(getattr(op, binary)), bits(4, 6), bits(4, 6))
for binary in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    add(binary, plain(getattr(op, binary)), whole(4, 6), whole(4, 6))
    add(binary, plain(getattr(op, binary)), bits(4, 6), bits(4, 6), variant="bool")
for binary in ("left_shift", "right_shift"):
    add(binary, plain(getattr(op, binary)), whole(4, 6, low=0, high=99), whole(4, 6, low=0, high=5))
add("where", plain(op.where), bits(4, 6), real(4, 6), real(4, 6))
add("where", plain(op.where), bits(4, 1), real(6), real(4, 6), variant="broadcast")

# ---- reductions and scans

for reduction in ("max", "min", "sum", "prod", "mean", "std", "variance"):
    add(reduction, plain(getattr(op, reduction)), real(3, 4, 5))
    add(reduction, plain(getattr(op, reduction), [-2], True), real(3, 4, 5), variant="keepdims")
    add(reduction, plain(getattr(op, reduction), [0, 2]), real(3, 4, 5, dtype="float64"), variant="two_axes")
add("sum", plain(op.sum, 1), whole(3, 7), variant="int32")
add("median", plain(op.median, [1]), real(3, 5))
add("median", plain(op.median, [1]), real(3, 6), variant="even")
for search in ("argmax", "argmin"):
    add(search, plain(getattr(op, search), 1), real(3, 6))
    add(search, plain(getattr(op, search)), whole(3, 6, low=0, high=2), variant="ties")
for scan in ("cumsum", "cumprod"):
    add(scan, plain(getattr(op, scan), 1), real(3, 6))
    add(scan, plain(getattr(op, scan), 0, exclusive=True), real(3, 6), variant="exclusive")
    add(scan, plain(getattr(op, scan)), real(3, 6), variant="flat", symbolic=False)
    add(scan, plain(getattr(op, scan), 1, "int64"), whole(3, 6, low=-2, high=3), variant="int64")
add("collapse_sum_like", plain(op.collapse_sum_like), real(3, 4, 5), real(4, 1))
add("collapse_sum_to", plain(op.collapse_sum_to, (4, 1)), real(3, 4, 5), symbolic=False)

# ---- order

TIES = np.array([[3, 1, 2, 1, 3, 0, 2, 2], [5, 5, 5, 5, -1, 5, 5, -1], [0, 1, 2, 3, 4, 5, 6, 7]])
INFINITE = np.array([[1, np.inf, -np.inf, 0, -0.0, 0, np.inf, -1]])
for dtype in ("float32", "float64", "float16", "int32", "int64"):
    for descending in (False, True):
        way = dtype + ("_descending" if descending else "")
        add("sort", plain(op.sort, -1, descending), TIES.astype(dtype), variant=way, symbolic=dtype == "float32")
        for out in ("int32", "int64", "float32", "float64"):
            add("argsort", plain(op.argsort, -1, descending, out), TIES.astype(dtype), variant=way + "_" + out,
                symbolic=dtype == "float32" and out == "int32")
        add("sort", plain(op.sort, 0, descending), TIES.astype(dtype), variant=way + "_axis_0", symbolic=False)
        add("argsort", plain(op.argsort, -2, descending), TIES.astype(dtype), variant=way + "_axis_minus_2",
            symbolic=False)
    if dtype.startswith("float"):
        for descending in (False, True):
            way = dtype + ("_descending" if descending else "")
            add("sort", plain(op.sort, -1, descending), INFINITE.astype(dtype), variant=way + "_infinite",
                symbolic=False)
            add("argsort", plain(op.argsort, -1, descending), INFINITE.astype(dtype), variant=way + "_infinite",
                symbolic=False)
add("sort", plain(op.sort, 1), np.zeros((3, 0), "float32"), variant="empty", symbolic=False)
add("argsort", plain(op.argsort, 1), np.zeros((3, 0), "float32"), variant="empty", symbolic=False)
add("sort", plain(op.sort, -1), real(2, 700), variant="long")
for dtype in ("float32", "float64", "float16", "int8", "uint8", "int32", "int64"):
    source = np.abs(TIES).astype(dtype)
    for largest in (True, False):
        add("topk", plain(op.topk, 3, -1, "both", largest), source,
            variant=dtype + ("_largest" if largest else "_smallest"), symbolic=dtype == "float32")
    for out in ("int64", "float32", "float64"):
        add("topk", plain(op.topk, 3, -1, "indices", True, out), source, variant=f"{dtype}_{out}", symbolic=False)
add("topk", plain(op.topk, 2, 0, "values"), TIES.astype("float32"), variant="values_axis_0")
add("topk", plain(op.topk, 2, -2, "both"), TIES.astype("float32"), variant="axis_minus_2", symbolic=False)
add("topk", plain(op.topk, 0, 1, "both"), TIES.astype("float32"), variant="all", symbolic=False)
add("bucketize", plain(op.bucketize), real(3, 5), np.array([-1, 0, 1], "float32"))
add("bucketize", plain(op.bucketize, True, True), whole(3, 5), np.array([-4, 0, 4], "int32"), variant="right")
add("unique", plain(op.unique), whole(4, 5, low=0, high=6), symbolic=False)
add("unique", plain(op.unique), np.array([2, np.nan, 1, -0.0, 0, np.nan, np.inf], "float32"), variant="nan",
    symbolic=False)
add("unique", plain(op.unique, True, True, True, True), whole(4, 5, low=0, high=6, dtype="int64"), variant="all",
    symbolic=False)
add("unique", plain(op.unique, True, False, True, True, axis=0), whole(6, 2, low=0, high=2), variant="axis_0",
    symbolic=False)
add("unique", plain(op.unique, True, axis=-1), whole(2, 6, low=0, high=2), variant="axis_minus_1", symbolic=False)
for dtype in ("bool", "int8", "float64"):
    add("unique", plain(op.unique), whole(9, low=0, high=4).astype(dtype), variant=dtype, symbolic=False)
add("nonzero", plain(op.nonzero), whole(4, 5, low=0, high=2), symbolic=False)
add("nonzero", plain(op.nonzero), bits(3, 2, 4), variant="bool", symbolic=False)
add("nonzero", plain(op.nonzero), np.zeros((3, 4), "float32"), variant="none", symbolic=False)
add("multinomial_from_uniform", plain(op.multinomial_from_uniform),
    np.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]], "float32"), np.array([[0.5], [0.99]], "float32"),
    np.array([[0], [1]], "int64"))

# ---- shapes and places

add("broadcast_to", plain(op.broadcast_to, (2, 3, 4)), real(3, 1), symbolic=False)
add("concat", lambda bb, x, y: op.concat([x, y], 1), real(2, 3), real(2, 4))
add("concat", lambda bb, x, y, z: op.concat([x, y, z], -1), whole(2, 3), whole(2, 3), whole(2, 1), variant="three")
add("expand_dims", plain(op.expand_dims, [0, 2]), real(3, 4))
add("flatten", plain(op.flatten), real(3, 4, 2))
add("layout_transform", lambda bb, x: op.layout_transform(x, lambda i, j: (j, i // 4, i % 4)), real(8, 3),
    symbolic=False)
add("permute_dims", plain(op.permute_dims), real(2, 3, 4))
add("permute_dims", plain(op.permute_dims, [1, -1, 0]), whole(2, 3, 4, dtype="int8"), variant="axes")
add("reshape", plain(op.reshape, (4, -1)), real(2, 6), symbolic=False)
add("split", plain(op.split, 3, 1), real(2, 6))
add("split", plain(op.split, [2, 3], 1), real(2, 6), variant="places", symbolic=False)
add("squeeze", plain(op.squeeze, [1]), real(3, 1, 4), symbolic=False)
add("stack", lambda bb, x, y: op.stack([x, y], 1), real(2, 3), real(2, 3))
add("repeat", plain(op.repeat, 3, 1), real(2, 4))
add("repeat", plain(op.repeat, 2), real(2, 4), variant="flat", symbolic=False)
add("tile", plain(op.tile, (2, 3)), real(2, 4))
add("flip", plain(op.flip, 1), real(2, 4))
add("gather_elements", plain(op.gather_elements, 1), real(3, 5), places(5, 3, 2))
add("gather_nd", plain(op.gather_nd), real(3, 5), np.array([[0, 1], [2, 4]], "int64"), symbolic=False)
add("gather_nd", plain(op.gather_nd, 1), real(3, 5, 2), np.array([[1], [2], [4]], "int64"), variant="batch",
    symbolic=False)
add("index_tensor", lambda bb, x, i, j: op.index_tensor(x, [i, j]), real(4, 5), places(4, 3), places(5, 3))
add("index_put", lambda bb, x, i, j, v: op.index_put(x, [i, j], v), real(4, 5), np.array([0, 2, 3], "int64"),
    np.array([4, 1, 0], "int64"), real(3), symbolic=False)
add("index_put", lambda bb, x, i, v: op.index_put(x, [i], v, True), real(6), np.array([0, 2, 2], "int64"), real(3),
    variant="accumulate")
add("meshgrid", lambda bb, x, y: op.meshgrid([x, y]), real(3), real(4))
add("one_hot", lambda bb, i: op.one_hot(i, relax.prim_value(tvm.tirx.FloatImm("float32", 1.0)),
                                       relax.prim_value(tvm.tirx.FloatImm("float32", 0.0)), 6), places(6, 4))
for reduction in ("update", "add", "mul", "min", "max"):
    add("scatter_elements", plain(op.scatter_elements, 1, reduction), real(3, 5), np.array([[0, 3], [1, 4], [2, 0]]),
        real(3, 2), variant=reduction)
    add("scatter_nd", plain(op.scatter_nd, reduction), real(6), np.array([[4], [3], [1]]), real(3),
        variant=reduction)
add("slice_scatter", lambda bb, x, y: op.slice_scatter(x, y, 1, 5, 2, 0), real(6, 3), real(2, 3), symbolic=False)
add("reverse_sequence", plain(op.reverse_sequence), real(3, 5), np.array([2, 5, 3]))
add("strided_slice", plain(op.strided_slice, [0, 1], [1, 4], [4, 0], [1, -2]), real(5, 6), symbolic=False)
add("strided_slice", plain(op.strided_slice, [1], [1], [4]), real(5, 6), variant="one_axis")
add("dynamic_strided_slice", plain(op.dynamic_strided_slice), real(5, 6), np.array([1, 0]), np.array([4, 6]),
    np.array([1, 2]), symbolic=False)
add("take", plain(op.take, axis=1), real(3, 6), places(6, 4))
for mode in ("clip", "wrap"):
    add("take", plain(op.take, axis=0, mode=mode), real(5, 2), np.array([0, 7, -1, 3]), variant=mode)
add("tril", plain(op.tril, -1), real(4, 5))
add("triu", plain(op.triu, 1), real(2, 4, 4))
add("nn.batch_flatten", plain(op.nn.batch_flatten), real(2, 3, 4))
for mode in ("constant", "reflect", "replicate", "circular"):
    width = [0, 0, 0, 0, 1, 1, 2, 1]
    add("nn.pad", plain(op.nn.pad, width, mode), real(1, 2, 4, 5), variant=mode, symbolic=False)

# ---- made of nothing

add("arange", lambda bb: op.arange(2, 11, 3, "int64"))
add("arange", lambda bb: op.arange(0, 1, 0.25, "float32"), variant="float32")
add("eye", lambda bb: op.eye(4, 5, 1, "float32"))
add("eye_like", plain(op.eye_like, -1), real(3, 4), symbolic=False)
add("full", lambda bb, v: op.full((2, 3), v, "float32"), np.float32(2.5).reshape(()), symbolic=False)
add("full", lambda bb, s: op.full(s, const(7, "int64"), "int64"), (2, 3), variant="shape", symbolic=False)
add("full_like", lambda bb, x: op.full_like(x, const(3.0)), real(2, 3))
add("hamming_window", lambda bb: op.hamming_window(10, True, 0.54, 0.46, "float32"))
add("ones", lambda bb: op.ones((2, 3), "int32"))
add("ones_like", plain(op.ones_like), real(2, 3))
add("zeros", lambda bb: op.zeros((2, 3), "float16"))
add("zeros_like", plain(op.zeros_like), whole(2, 3))

# ---- products

add("matmul", plain(op.matmul), real(4, 6), real(6, 5))
add("matmul", plain(op.matmul), real(2, 4, 6), real(6, 5), variant="batch")
add("matmul", plain(op.matmul), real(6), real(6), variant="vectors", symbolic=False)
add("matmul", plain(op.matmul, "int32"), whole(4, 6, dtype="int8"), whole(6, 5, dtype="int8"), variant="int8")
add("matmul", plain(op.matmul, "float32"), real(4, 6, dtype="float16"), real(6, 5, dtype="float16"),
    variant="float16")
add("outer", plain(op.outer), real(3), real(4))
add("einsum", lambda bb, x, y: op.einsum([x, y], "bij,bjk->bik"), real(2, 3, 4), real(2, 4, 5))
add("quantize", lambda bb, x, s, z: op.quantize(x, s, z, 1, "int8"), real(3, 4, low=-9, high=9),
    real(4, low=0.1, high=0.3), whole(4, dtype="int8"))
add("dequantize", lambda bb, x, s, z: op.dequantize(x, s, z, 1, "float32"), whole(3, 4, dtype="int8"),
    real(4, low=0.1, high=0.3), whole(4, dtype="int8"))

# ---- networks

add("nn.conv1d", plain(op.nn.conv1d, 2, 1), real(1, 3, 9), real(4, 3, 3))
add("nn.conv2d", plain(op.nn.conv2d, padding=(1, 1)), real(1, 3, 6, 6), real(4, 3, 3, 3))
add("nn.conv2d", plain(op.nn.conv2d, strides=(2, 2), groups=2, dilation=(2, 2)), real(1, 4, 9, 9), real(6, 2, 3, 3),
    variant="groups")
add("nn.conv2d", plain(op.nn.conv2d, data_layout="NHWC", kernel_layout="HWIO"), real(1, 6, 6, 3), real(3, 3, 3, 4),
    variant="nhwc")
add("nn.conv3d", plain(op.nn.conv3d), real(1, 2, 4, 5, 4), real(3, 2, 2, 3, 2))
add("nn.conv1d_transpose", plain(op.nn.conv1d_transpose, 2), real(1, 3, 5), real(3, 4, 3), symbolic=False)
add("nn.conv2d_transpose", plain(op.nn.conv2d_transpose, (2, 2), (1, 1)), real(1, 3, 4, 4), real(3, 4, 3, 3),
    symbolic=False)
add("nn.conv3d_transpose", plain(op.nn.conv3d_transpose), real(1, 2, 3, 3, 3), real(2, 3, 2, 2, 2), symbolic=False)
for n, extent in ((1, (7,)), (2, (7, 6)), (3, (5, 6, 5))):
    data = (1, 2, *extent)
    for kind in ("max", "avg"):
        add(f"nn.{kind}_pool{n}d", plain(getattr(op.nn, f"{kind}_pool{n}d"), (3,) * n, (2,) * n, (1,) * (2 * n)),
            real(*data), symbolic=False)
        add(f"nn.{kind}_pool{n}d", plain(getattr(op.nn, f"{kind}_pool{n}d"), (2,) * n, (2,) * n, ceil_mode=True),
            real(*data), variant="ceil", symbolic=False)
    add(f"nn.adaptive_avg_pool{n}d", plain(getattr(op.nn, f"adaptive_avg_pool{n}d"), (2,) * n), real(*data),
        symbolic=False)
add("nn.batch_norm", plain(op.nn.batch_norm, 1), real(2, 3, 4), real(3), real(3), real(3), real(3, low=0.1))
add("nn.batch_norm", plain(op.nn.batch_norm, 1, training=False), real(2, 3, 4), real(3), real(3), real(3),
    real(3, low=0.1), variant="inference")
add("nn.layer_norm", plain(op.nn.layer_norm, [-1]), real(3, 8), real(8), real(8))
add("nn.group_norm", plain(op.nn.group_norm, 2, 1, [2, 3]), real(2, 4, 3, 3), real(4), real(4))
add("nn.instance_norm", plain(op.nn.instance_norm, 1, [2, 3]), real(2, 4, 3, 3), real(4), real(4))
add("nn.rms_norm", plain(op.nn.rms_norm), real(3, 8), real(8))
add("nn.attention", plain(op.nn.attention), real(1, 4, 2, 8), real(1, 6, 2, 8), real(1, 6, 2, 8))
for mask in ("TopLeft", "BottomRight"):
    add("nn.attention", plain(op.nn.attention, causal_mask=mask), real(1, 4, 2, 8), real(1, 6, 2, 8),
        real(1, 6, 2, 8), variant=mask, symbolic=False)
add("nn.attention_bias", lambda bb, q, k, v, b: op.nn.attention(q, k, v, b), real(1, 4, 2, 8), real(1, 6, 2, 8),
    real(1, 6, 2, 8), real(1, 2, 4, 6), symbolic=False)
add("nn.cross_entropy_with_logits", plain(op.nn.cross_entropy_with_logits), real(3, 5), real(3, 5, low=0))
for reduction in ("mean", "sum", "none"):
    add("nn.nll_loss", plain(op.nn.nll_loss, reduction=reduction), real(3, 5, high=0), places(5, 3), real(5, low=0.1),
        variant=reduction)

# ---- gradients

for end in ("no_grad", "start_checkpoint", "end_checkpoint"):
    add("grad." + end, plain(getattr(op.grad, end)), real(3, 4))
for kind in ("max", "avg"):
    add(f"grad.{kind}_pool2d_backward", plain(getattr(op.grad, f"{kind}_pool2d_backward"), (2, 2), (2, 2), (0, 0, 0, 0)),
        real(1, 2, 3, 3), real(1, 2, 6, 6), symbolic=False)
add("grad.nll_loss_backward", plain(op.grad.nll_loss_backward), np.float32(0.7).reshape(()), real(3, 5, high=0),
    places(5, 3), real(5, low=0.1), symbolic=False)
add("grad.take_backward", plain(op.grad.take_backward, 0), real(4, 3), real(6, 3), np.array([0, 5, 2, 2]),
    symbolic=False)

# ---- pictures

for method in ("nearest_neighbor", "linear", "cubic"):
    add("image.resize2d", plain(op.image.resize2d, (5, 7), method=method), real(1, 2, 4, 4), variant=method,
        symbolic=False)
add("image.resize3d", plain(op.image.resize3d, (3, 5, 4)), real(1, 1, 2, 4, 3), symbolic=False)
add("image.affine_grid", plain(op.image.affine_grid, (3, 4)), real(2, 2, 3))
for method in ("bilinear", "nearest", "bicubic"):
    add("image.grid_sample", plain(op.image.grid_sample, method), real(1, 2, 4, 5), real(1, 2, 3, 3, low=-1.2, high=1.2),
        variant=method)
BOXES = np.array([[[0, 0.9, 0, 0, 4, 4], [0, 0.8, 0.5, 0.5, 4, 4], [1, 0.7, 6, 6, 9, 9], [0, 0.7, 1, 6, 3, 9],
                   [-1, 0.0, 0, 0, 1, 1]]], "float32")
add("vision.get_valid_counts", plain(op.vision.get_valid_counts, 0.5), BOXES)
add("vision.non_max_suppression",
    lambda bb, d, n, i: op.vision.non_max_suppression(d, n, i, -1, 0.5, return_indices=False), BOXES,
    np.array([5], "int32"), np.array([[0, 1, 2, 3, 4]], "int32"))
add("vision.non_max_suppression",
    lambda bb, d, n, i: op.vision.non_max_suppression(d, n, i, 2, 0.5, force_suppress=True), BOXES,
    np.array([4], "int32"), np.array([[0, 1, 2, 3, 4]], "int32"), variant="indices")
add("vision.all_class_non_max_suppression",
    lambda bb, b, s: op.vision.all_class_non_max_suppression(
        b, s, const(3, "int64"), const(0.5), const(0.1), "onnx"),
    BOXES[:, :, 2:], real(1, 2, 5, low=0, high=1), symbolic=False)
add("vision.multibox_transform_loc", plain(op.vision.multibox_transform_loc), real(1, 3, 4), real(1, 16),
    real(1, 4, 4, low=0, high=1))
ROIS = np.array([[0, 0, 0, 3, 3], [0, 1, 1, 4, 3]], "float32")
add("vision.roi_align", plain(op.vision.roi_align, (2, 2), 1.0, 2), real(1, 2, 5, 5), ROIS)
add("vision.roi_pool", plain(op.vision.roi_pool, (2, 2), 1.0), real(1, 2, 5, 5), ROIS)

# ---- what a tensor is


def inspected(name, *index):
    def emit(bb, x):
        return relax.Call(tvm.ir.Op.get("relax.inspect." + name), [x, *map(relax.prim_value, index)])
    return emit


for field_name in ("byte_offset", "dtype_bits", "dtype_code", "dtype_lanes", "elem_offset", "ndim"):
    add("inspect.tensor_" + field_name, inspected("tensor_" + field_name), real(3, 4), symbolic=False)
for field_name in ("shape_i", "stride_i"):
    add("inspect.tensor_" + field_name, inspected("tensor_" + field_name, 1), real(3, 4), symbolic=False)
add("size", plain(op.size), real(3, 4))
add("shape_of", lambda bb, x: op.shape_to_tensor(bb.emit(op.shape_of(x))), real(3, 4))
add("shape_to_tensor", plain(op.shape_to_tensor), (5, 0, 7), symbolic=False)
add("tensor_to_shape", lambda bb, x: op.shape_to_tensor(bb.emit(op.tensor_to_shape(x))), np.array([2, 3, 4]),
    symbolic=False)
add("memory.view", lambda bb, x: op.memory.view(x, (2, 3), "int32", 8), real(2, 4), symbolic=False)
add("memory.ensure_zero_offset",
    lambda bb, x: op.memory.ensure_zero_offset(bb.emit(op.memory.view(x, (2, 3), None, 8))), real(2, 4),
    symbolic=False)
add("assert_op", lambda bb, x: (bb.emit(op.assert_op(relax.const(True), [], "never")), x)[1], real(3), pure=False,
    symbolic=False)
add("print", lambda bb, x: (bb.emit(op.print(x, format="")), x)[1], np.array([1, 2], "int32"), pure=False,
    symbolic=False)

# ---- operators that call: what they call is a function of the program or of the runtime


def kernel(bb):
    """A kernel that doubles a vector of 4 numbers into another."""
    @T.prim_func(private=True, s_tir=True)
    def twice(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] * T.float32(2)

    return bb.add_func(twice, "twice")


def kernel_in_place(bb):
    @T.prim_func(private=True, s_tir=True)
    def double_in_place(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = x[i] * T.float32(2)

    return bb.add_func(double_in_place, "double_in_place")


FOUR = relax.TensorType((4,), "float32")
NORMAL = [7, 9, 1.5, 2.0]  # two seeds, mean and deviation
add("call_tir", lambda bb, x: op.call_tir(kernel(bb), [x], FOUR), real(4), symbolic=False)
add("call_tir_inplace", lambda bb, x: op.call_tir_inplace(kernel_in_place(bb), [bb.emit(op.add(x, x))], [0], FOUR),
    real(4), symbolic=False)
add("call_pure_packed", lambda bb, x: op.call_pure_packed("vm.builtin.reshape", x, relax.ShapeExpr([2, 2]),
                                                        ty_args=[R.Tensor((2, 2), "float32")]), real(4), symbolic=False)

def called_by_name(bb, x):
    """A function of the program that is called by its name; the result comes last."""
    @T.prim_func(s_tir=True)
    def halve(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "halve"})
        for i in range(4):
            y[i] = x[i] * T.float32(0.5)

    bb.add_func(halve, "halve")
    return op.call_dps_packed("halve", [x], FOUR)


def appended(bb, x, y):
    """The cache of relax.frontend.nn.KVCache, which the call changes."""
    anything = relax.ObjectType()
    cache = bb.emit(op.call_pure_packed("vm.builtin.attention_kv_cache_create", x, relax.ShapeExpr([8, 3]),
                                        relax.prim_value(0), ty_args=[anything]))
    cache = bb.emit(op.call_inplace_packed("vm.builtin.attention_kv_cache_append", cache, y, inplace_indices=[0],
                                           ty_args=[anything]))
    return op.call_pure_packed("vm.builtin.attention_kv_cache_view", cache, relax.ShapeExpr([2, 3]),
                               ty_args=[R.Tensor((2, 3), "float32")])


add("call_dps_packed", called_by_name, real(4), symbolic=False)
add("call_dps_packed", lambda bb, x: op.call_dps_packed("tvm.contrib.random.normal", [*map(relax.prim_value, NORMAL)],
                                                       relax.TensorType((101,), "float32")), real(4), variant="normal",
    symbolic=False)
add("call_inplace_packed", appended, real(8, 3), real(2, 3), symbolic=False)
add("to_vdevice", lambda bb, x: op.to_vdevice(x, relax.VDevice("llvm")), real(4), symbolic=False)

# ---- operators without a function here, and why

COMPILER = "TVM's passes write it into the functions of other operators"
CLOSURE = "TVM's passes write it for nested functions: see model_closure of tests/interop"
DISCO = "needs the worker processes of TVM's Disco"
WITHOUT = {
    "builtin.alloc_tensor": COMPILER,
    "call_builtin_with_ctx": COMPILER,
    "builtin.stop_lift_params": "a mark for a pass that a plain compilation does not run",
    "call_py_func": "calls Python",
    "call_tir_with_grad": "for training, where a pass replaces it by call_tir",
    "ccl.allgather": DISCO,
    "ccl.allreduce": DISCO,
    "ccl.broadcast_from_worker0": DISCO,
    "ccl.scatter_from_worker0": DISCO,
    "dist.annotate_sharding": DISCO,
    "dist.call_tir_local_view": DISCO,
    "dist.redistribute": DISCO,
    "dist.redistribute_replica_to_shard": DISCO,
    "ewise_fma": "TVM has no legalization for it",
    "hint_on_device": "a mark for a pass that a plain compilation does not run",
    "invoke_closure": CLOSURE,
    "invoke_pure_closure": CLOSURE,
    "make_closure": CLOSURE,
    "memory.alloc_storage": COMPILER,
    "memory.alloc_tensor": COMPILER,
    "memory.kill_storage": COMPILER,
    "memory.kill_tensor": COMPILER,
    "nn.attention_var_len": "TVM's legalization of it is not written yet",
    "nn.pixel_shuffle": "TVM's legalization of it calls tvm.topi.nn.pixel_shuffle, which the wheel lacks",
    "null_value": COMPILER,
    "vm.alloc_storage": COMPILER,
    "vm.alloc_tensor": COMPILER,
    "vm.call_tir_dyn": COMPILER,
    "vm.kill_object": COMPILER,
    "wrap_param": "for parameters alone, which TVM folds",
}
