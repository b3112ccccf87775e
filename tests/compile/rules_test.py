# SPDX-License-Identifier: MIT
"""Each rule of tenon_compile/rules.py and onednn.py on a graph of a few nodes: what it makes, and that the numbers stay.

Needs numpy alone. Prints TAP.
"""

import inspect
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.dot_products import dot_for, dot_with_form, dots_of  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402
from tenon_compile.graph import Graph, Node, constant  # noqa: E402
from tenon_compile.integer_rules import dequantize  # noqa: E402
from tenon_compile.onednn import RULES as ONEDNN_RULES, make_regions  # noqa: E402
from tenon_compile.onednn_module import graph_of  # noqa: E402
from tenon_compile.rules import LAST_RULES, RULES, affine, reshape, rewrite, transpose, unary  # noqa: E402
from tenon_compile.targets import host_of, processors_of  # noqa: E402
from tenon_compile.wide_numbers import in_float32, rewritten_in_float32  # noqa: E402

rng = np.random.default_rng(1)


# ---- graphs


def vector(extent):
    return rng.uniform(0.5, 1.5, extent).astype("float32")


def value(*shape):
    """A constant of different numbers."""
    return constant(rng.uniform(0.5, 1.5, shape).astype("float32"))


def x(*shape, dtype="float32"):
    return Node("input", [], shape, dtype, {"name": "x"})


def binary(function, a, b):
    return Node("binary", [a, b], np.broadcast_shapes(a.shape, b.shape), a.dtype, {"function": function})


def number(n):
    return constant(np.float32(n))


def clip(a, low, high):
    return Node("clip", [a], a.shape, a.dtype, {"low": low, "high": high})


def reduce(function, a, axes, keep=True):
    shape = [1 if axis in axes else extent for axis, extent in enumerate(a.shape)]
    shape = shape if keep else [extent for axis, extent in enumerate(a.shape) if axis not in axes]
    return Node("reduce", [a], shape, a.dtype, {"function": function, "axes": axes, "keep": keep})


def conv2d(a, weights, *bias, strides=(1, 1), padding=(0, 0, 0, 0), groups=1):
    rows, columns = (
        (a.shape[2 + i] + padding[i] + padding[2 + i] - weights.shape[2 + i]) // strides[i] + 1 for i in (0, 1)
    )  # fmt: skip
    how = {"strides": list(strides), "padding": list(padding), "dilation": [1, 1], "groups": groups}
    return Node("conv2d", [a, weights, *bias], (a.shape[0], weights.shape[0], rows, columns), a.dtype, how)


def conv2d_transpose(a, weights, *bias, strides):
    shape = a.shape[0], weights.shape[1], a.shape[2] * strides[0], a.shape[3] * strides[1]
    how = {"strides": list(strides), "padding": [0] * 4, "output_padding": [0, 0], "dilation": [1, 1], "groups": 1}
    return Node("conv2d_transpose", [a, weights, *bias], shape, a.dtype, how)


def quantize(a, scale, zero, dtype="uint8"):
    return Node("quantize", [a], a.shape, dtype, {"scale": scale, "zero": zero})


def pool2d(kind, a, size, **how):
    shape = (*a.shape[:2], *(extent - size + 1 for extent in a.shape[2:]))
    how = {"strides": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "ceil_mode": False, "count_include_pad": False, **how}
    return Node("pool2d", [a], shape, a.dtype, {"kind": kind, "size": [size, size], **how})


def bytes_of(*shape, dtype="int8"):
    """Weights in 8 bits."""
    return constant(rng.integers(*((-127, 128) if dtype == "int8" else (0, 256)), shape).astype(dtype))


def small(*shape, dtype="uint8"):
    """An input in 8 bits, dequantized."""
    return dequantize(x(*shape, dtype=dtype), 0.02, 100 if dtype == "uint8" else -3)


def call(name, inputs, shape, dtype="float32", **attrs):
    return Node("call", inputs, shape, dtype, {"name": name, "call": SimpleNamespace(attrs=SimpleNamespace(**attrs))})


def as_int32(a):
    return call("relax.astype", [a], a.shape, "int32")


# ---- the numbers that a graph gives


def erf(a):
    return np.vectorize(math.erf)(a)


def gelu_tanh(a):
    return 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))


FUNCTIONS = {
    "relu": lambda a: np.maximum(a, 0), "tanh": np.tanh, "sqrt": np.sqrt, "erf": erf, "negative": np.negative,
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "silu": lambda a: a / (1 + np.exp(-a)), "gelu_tanh": gelu_tanh,
    "hard_swish": lambda a: a * np.clip(a + 3, 0, 6) / 6, "gelu": lambda a: 0.5 * a * (1 + erf(a / math.sqrt(2))),
}  # fmt: skip


def convolve(node, a, weights, *bias):
    top, left, bottom, right = node.padding
    a = np.pad(a, ((0, 0), (0, 0), (top, bottom), (left, right)))
    each, per_group = weights.shape[1], node.shape[1] // node.groups
    out = np.zeros(node.shape)
    for o, h, w in np.ndindex(*node.shape[1:]):
        begin = (o // per_group) * each
        window = a[:, begin : begin + each, h * node.strides[0] :, w * node.strides[1] :]
        out[:, o, h, w] = (window[:, :, : weights.shape[2], : weights.shape[3]] * weights[o]).sum((1, 2, 3))
    return out + (bias[0].reshape(1, -1, 1, 1) if bias else 0)


def convolve_transposed(node, a, weights, *bias):
    out = np.einsum("nihw,ioyx->nohywx", a, weights).reshape(node.shape)
    return out + (bias[0].reshape(1, -1, 1, 1) if bias else 0)


def layer_norm(node, a, scale, shift):
    centred = a - a.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + node.epsilon) * scale + shift


def batch_norm(node, a, gamma, beta, mean, variance):
    along = [-1 if axis == node.axis else 1 for axis in range(a.ndim)]
    gamma, beta, mean, variance = (v.reshape(along) for v in (gamma, beta, mean, variance))
    return (a - mean) / np.sqrt(variance + node.epsilon) * gamma + beta


def scaled(node, a):
    along = [-1 if axis == node.axis else 1 for axis in range(a.ndim)]
    scale, shift = (v if np.ndim(v) == 0 else np.reshape(v, along) for v in (node.scale, node.shift))
    return a * scale + shift


def depth_to_space(node, a):
    n, channels, rows, columns = node.shape
    height, width = node.block
    parts = a.reshape(n, height, width, channels, rows // height, columns // width)
    return parts.transpose(0, 3, 4, 1, 5, 2).reshape(node.shape)


def called(node, *inputs):
    if node.name == "relax.stack":
        return np.stack(inputs, node.call.attrs.axis)
    if node.name == "relax.equal":
        return inputs[0] == inputs[1]
    return inputs[0].astype(node.dtype)


def rows_of(node, table, index):
    return table[np.where((index < 0) | (index >= len(table)), len(table) - 1, index)]


def along(node, value):
    return value if np.ndim(value) == 0 else np.reshape(value, [-1 if axis == node.axis else 1 for axis in range(len(node.shape))])


def dequantized(node, a):
    scale, zero, shift = (along(node, one) for one in (node.scale, node.zero, node.shift))
    return (a.astype("float64") - zero) * scale + shift


def quantized(node, a):
    bounds = np.iinfo(node.dtype)
    return np.clip(np.rint(a / node.scale) + node.zero, bounds.min, bounds.max).astype(node.dtype)


def pooled(node, a):
    windows = np.lib.stride_tricks.sliding_window_view(a, node.size, (2, 3))
    return {"max": np.max, "avg": np.mean, "sum": np.sum}[node.attrs.get("kind", "sum")](windows, (4, 5))


def less_zero(node, a):
    return a.astype("int64") - node.zero


def softmax(node, a):
    powers = np.exp(a - a.max(node.axis, keepdims=True))
    return powers / powers.sum(node.axis, keepdims=True)


def of_onednn(node, *inputs):
    """A kernel: what the node that it stands for gives, then what is behind it."""
    functions = list(node.post_ops or [])
    summand = inputs[-1] if functions and functions[0][0] == "sum" else None
    given = inputs[:-1] if summand is not None else inputs
    value = of_integers(node, *given) if node.original.op.startswith("integer") else OPERATORS[node.original.op](node.original, *given)
    for name, alpha, beta in functions:
        name = name.removeprefix("nn.")
        if name == "sum":
            value = value + summand
        elif name == "linear":
            value = value * alpha + beta
        else:
            value = np.clip(value, alpha, beta) if name == "clip" else FUNCTIONS[name](value)
    if node.dtype == "float32":
        return value
    bounds = np.iinfo(node.dtype)
    return np.clip(np.rint(value), bounds.min, bounds.max).astype(node.dtype)


def of_integers(node, a, weights, bias):
    """As the runtime has it: a zero point, scales and a bias by channel."""
    original = node.original.like(node.original.inputs, zero=node.attributes["zero_point"][0])
    assert weights.dtype == np.int8, weights.dtype
    sums = OPERATORS[original.op](original, a, weights.astype("int64"))
    channels = [1, -1] + [1] * (len(node.shape) - 2)
    return sums * np.reshape(node.attributes["scales"], channels) + np.reshape(bias, channels)


def of_region(node, *inputs):
    values = dict(zip(node.reads, inputs))
    for one in node.inside:
        values[one] = of_onednn(one, *(values[i] if i in values else i.value for i in one.inputs))
        assert values[one].shape == one.shape
    results = [values[one] for one in node.results]
    return results if len(results) > 1 else results[0]


OPERATORS = {
    "softmax": softmax, "region": of_region, "region_result": lambda node, results: results[node.number],
    "quantize": quantized, "dequantize": dequantized, "concat": lambda node, *a: np.concatenate(a, node.axis),
    "pool2d": pooled, "integer_pool2d": lambda node, a: pooled(node, less_zero(node, a)),
    "integer_conv2d": lambda node, a, w: convolve(node, less_zero(node, a), w),
    "integer_dense": lambda node, a, w: less_zero(node, a) @ w.T.astype("int64"),
    "integer_sum": lambda node, a: less_zero(node, a).sum(tuple(node.axes), keepdims=True),
    "table": lambda node, a: node.values[a.view("uint8")],
    "unary": lambda node, a: FUNCTIONS[node.function](a),
    "binary": lambda node, a, b: getattr(np, node.function)(a, b),
    "affine": scaled, "clip": lambda node, a: np.clip(a, node.low, node.high),
    "reduce": lambda node, a: getattr(np, node.function)(a, axis=tuple(node.axes), keepdims=node.keep),
    "reshape": lambda node, a: a.reshape(node.shape), "transpose": lambda node, a: a.transpose(node.axes),
    "broadcast": lambda node, a: np.broadcast_to(a, node.shape),
    "slice": lambda node, a: a[tuple(slice(b, b + e) for b, e in zip(node.begin, node.shape))],
    "conv2d": convolve, "conv2d_transpose": convolve_transposed, "depth_to_space": depth_to_space,
    "dense": lambda node, a, w, *b: a @ w.T + (b[0] if b else 0), "matmul": lambda node, a, b: a @ b,
    "layer_norm": layer_norm, "batch_norm": batch_norm, "take": rows_of, "call": called,
}  # fmt: skip


def numbers_of(graph, given):
    values = {}
    for node in graph.nodes():
        if node.is_constant():
            values[node] = node.value.astype("float64") if node.value.dtype.kind == "f" else node.value
        elif node.op == "input":
            values[node] = given
        else:
            values[node] = OPERATORS[node.op](node, *(values[one] for one in node.inputs))
            assert node.op == "region" or values[node].shape == node.shape, (node.op, values[node].shape, node.shape)
    return [values[node] for node in graph.outputs]


def words(graph):
    """The operators of a graph, in order."""
    return " ".join(
        node.function if node.op in ("unary", "binary") else node.op
        for node in graph.nodes()
        if node.op not in ("input", "constant")
    )


def types_of(graph):
    return " ".join(f"{node.op}:{node.dtype}" for node in graph.nodes() if node.op not in ("input", "constant"))


tested, kernels_tested = set(), set()


def check_regions(outputs, expected, kernels, faster=lambda node, summed: True):
    """What is left of a graph, and the kernels of its regions with what is behind them; the numbers stay the same."""
    source = next(node for node in Graph([], outputs).nodes() if node.op == "input")
    given = rng.uniform(-4, 4, source.shape) if source.dtype == "float32" else rng.integers(0, 100, source.shape).astype(source.dtype)
    graph = Graph([source], outputs)
    before = numbers_of(graph, given)
    kernels_tested.update(make_regions(graph, faster))
    assert words(graph) == expected, f"{words(graph)!r}, expected {expected!r}"
    inside = [
        "+".join([one.kernel, *(name for name, *_ in one.post_ops or [])])
        for region in graph.nodes()
        if region.op == "region"
        for one in region.inside
    ]
    assert " ".join(inside) == kernels, f"{' '.join(inside)!r}, expected {kernels!r}"
    for a, b in zip(before, numbers_of(graph, given)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
    return [node for node in graph.nodes() if node.op == "region"]


def pointwise(a, channels=3):
    return conv2d(a, value(channels, a.shape[1], 1, 1), value(channels))


def dequantized_sums(op, a, weights, zero=0, scale=0.25, shift=0.0, **how):
    """A product of bytes by a graph's operators, with a scale by channel."""
    if op == "integer_conv2d":
        plain = conv2d(a, constant(weights), **how)
        shape, attrs = plain.shape, {**plain.attrs, "zero": zero}
    else:
        shape, attrs = (a.shape[0], len(weights)), {"zero": zero}
    sums = Node(op, [a, constant(weights.astype("int16"))], shape, "int32", attrs)
    return dequantize(sums, np.full(shape[1], scale) * np.arange(1, shape[1] + 1), shift=shift, axis=1)


def make_region(output):
    graph = Graph([node for node in Graph([], [output]).nodes() if node.op == "input"], [output])
    make_regions(graph)
    return graph.outputs[0]


def check(rule, output, expected, given=None):
    """A rule alone makes operators of others, with the same numbers."""
    tested.add(rule)
    outputs = output if isinstance(output, list) else [output]
    source = next(node for node in Graph([], outputs).nodes() if node.op == "input")
    if given is None:
        few = source.dtype in ("int8", "uint8")
        given = bytes_of(*source.shape, dtype=source.dtype).value if few else rng.uniform(-4, 4, source.shape)
    graph = Graph([source], outputs)
    before = numbers_of(graph, given)
    rewrite(graph, only={rule})
    assert words(graph) == expected, f"{words(graph)!r}, expected {expected!r}"
    for a, b in zip(before, numbers_of(graph, given)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


# ---- cases


def a_reshape_to_the_same_shape_is_dropped():
    check("drop-identity", unary("relu", reshape(x(2, 3), (2, 3))), "relu")


def a_transpose_of_axes_of_one_is_a_reshape():
    check("drop-identity", unary("relu", transpose(x(1, 5, 1, 3), [0, 2, 1, 3])), "reshape relu")


def a_reduction_of_one_element_is_dropped():
    check("drop-identity", unary("relu", reduce("mean", x(2, 1, 3), [1])), "relu")


def an_affine_that_changes_nothing_is_dropped():
    check("drop-identity", unary("relu", affine(x(2, 3), 1.0, np.zeros(3), 1)), "relu")


def a_slice_of_all_is_dropped():
    check("drop-identity", unary("relu", Node("slice", [x(2, 3)], (2, 3), attrs={"begin": [0, 0]})), "relu")


def two_reshapes_are_one():
    check("merge-reshapes", reshape(reshape(x(2, 6), (3, 4)), (12,)), "reshape")


def two_transposes_are_one():
    check("merge-transposes", transpose(transpose(x(2, 3, 4), [1, 2, 0]), [2, 1, 0]), "transpose")


def moves_of_constants_are_computed():
    moved = transpose(reshape(value(6), (2, 3)), [1, 0])
    check("fold-constant", binary("add", x(3, 2), moved), "add")
    check("fold-constant", binary("add", x(3, 2), Node("broadcast", [value(2)], (3, 2))), "add")


def arithmetic_of_constants_is_computed():
    whole = constant(np.array([[1, -2]]), "int8")
    less = binary("subtract", as_int32(whole), constant(np.array(3), "int32"))
    check("fold-constant", binary("multiply", x(3, 2), less), "multiply")


def a_broadcast_in_front_of_an_operator_is_dropped():
    check(
        "broadcast-in-operator",
        binary("add", x(3, 2), Node("broadcast", [unary("relu", value(1, 2))], (3, 2))),
        "relu add",
    )


def a_broadcast_that_is_needed_stays():
    a = Node("broadcast", [x(1, 2)], (3, 2))
    check("broadcast-in-operator", binary("add", a, number(1)), "broadcast add")


def reductions_keep_their_axes():
    check("keep-reduced-axes", reduce("sum", x(2, 3, 4), [1], keep=False), "reduce reshape")


def a_reduction_goes_ahead_of_axes_of_one():
    check("reduce-before-moves", reduce("max", reshape(x(1, 5, 1, 3), (1, 5, 3)), [2]), "reduce reshape")
    check("reduce-before-moves", reduce("max", reshape(x(15), (5, 3)), [1]), "reshape reduce")


def a_batch_norm_is_an_affine():
    node = Node("batch_norm", [x(2, 3, 4), *(value(3) for _ in range(4))], (2, 3, 4),
                attrs={"axis": 1, "epsilon": 1e-3, "scale": True, "center": True})  # fmt: skip
    check("batch-norm-to-affine", node, "affine")


def constant_operands_become_affine():
    for function in ("add", "subtract", "multiply", "divide"):
        for operand in (number(3), value(4, 1), value(3, 1, 1)):
            check("constant-operand-to-affine", binary(function, x(3, 4, 1), operand), "affine")
    for function in ("add", "subtract", "multiply"):
        check("constant-operand-to-affine", binary(function, number(3), x(3, 4)), "affine")


def operands_of_two_axes_or_that_broadcast_the_other_stay():
    check("constant-operand-to-affine", binary("add", x(3, 4), value(3, 4)), "add")
    check("constant-operand-to-affine", binary("add", x(1, 4), value(3, 1)), "add")
    check("constant-operand-to-affine", binary("divide", number(3), x(3, 4)), "divide", np.ones((3, 4)))


def a_negation_is_an_affine():
    check("negative-to-affine", unary("negative", x(3)), "affine")


def affines_are_merged():
    check("merge-affines", affine(affine(x(2, 3), vector(3), vector(3), 1), 2.0, 1.0), "affine")
    check("merge-affines", affine(affine(x(2, 3), 2.0, 1.0), vector(3), 1.0, 1), "affine")


def affines_of_two_axes_or_with_two_readers_stay():
    check("merge-affines", affine(affine(x(2, 3), vector(3), 0.0, 1), vector(2), 0.0, 0), "affine affine")
    inner = affine(x(2, 3), 2.0, 1.0)
    check("merge-affines", binary("add", inner, affine(inner, 3.0, 0.0)), "affine affine add")


def an_affine_goes_into_weights():
    check("affine-into-weights", affine(conv2d(x(1, 2, 4, 4), value(3, 2, 3, 3)), vector(3), vector(3), 1), "conv2d")
    check(
        "affine-into-weights",
        affine(conv2d(x(1, 4, 4, 4), value(4, 1, 3, 3), value(4), groups=4), 2.0, vector(4), 1),
        "conv2d",
    )
    check(
        "affine-into-weights",
        affine(conv2d_transpose(x(1, 2, 3, 3), value(2, 3, 2, 2), strides=(2, 2)), vector(3), 1.0, 1),
        "conv2d_transpose",
    )
    dense = Node("dense", [x(2, 3), value(4, 3), value(4)], (2, 4))
    check("affine-into-weights", affine(dense, vector(4), 1.0, 1), "dense")


def an_affine_along_another_axis_stays():
    check("affine-into-weights", affine(conv2d(x(1, 2, 4, 4), value(3, 2, 3, 3)), vector(2), 0.0, 2), "conv2d affine")


def an_affine_goes_into_a_layer_norm():
    norm = Node("layer_norm", [x(2, 5), value(5), value(5)], (2, 5), attrs={"epsilon": 1e-5})
    check("affine-into-layer-norm", affine(norm, vector(5), 0.5, 1), "layer_norm")


def an_affine_goes_ahead_of_moves():
    check("affine-before-moves", affine(reshape(x(2, 12), (2, 3, 4)), 2.0, 1.0), "affine reshape")
    check("affine-before-moves", affine(reshape(x(2, 3, 4), (2, 12)), 2.0, 1.0), "affine reshape")
    check("affine-before-moves", affine(transpose(x(2, 3, 4), [2, 0, 1]), vector(4), vector(4), 0), "affine transpose")
    check("affine-before-moves", affine(reshape(x(2, 3, 4), (2, 3, 4, 1)), vector(3), 0.0, 1), "affine reshape")
    check("affine-before-moves", affine(reshape(x(2, 12, 5), (2, 3, 4, 5)), vector(3), 1.0, 1), "affine reshape")


def an_affine_of_an_axis_that_was_merged_stays():
    check("affine-before-moves", affine(reshape(x(2, 3, 4), (2, 12)), vector(12), 0.0, 1), "reshape affine")


def functions_go_ahead_of_moves():
    check("elementwise-before-moves", unary("relu", transpose(x(2, 3), [1, 0])), "relu transpose")
    check("elementwise-before-moves", clip(reshape(x(2, 3), (6,)), 0, 1), "clip reshape")
    space = Node("depth_to_space", [x(1, 8, 2, 2)], (1, 2, 4, 4), attrs={"block": [2, 2]})
    check(
        "elementwise-before-moves", unary("relu", affine(space, vector(2), vector(2), 1)), "affine relu depth_to_space"
    )


def relu_is_recognised():
    check("relu", clip(x(3), 0.0, math.inf), "relu")
    check("relu", binary("maximum", number(0), x(3)), "relu")
    check("relu", clip(x(3), 0.0, 6.0), "clip")


def a_maximum_of_a_stack_is_one_of_its_parts():
    a = x(2, 3)
    check(
        "maximum-of-stack",
        reduce("max", call("relax.stack", [a, unary("tanh", a)], (2, 2, 3), axis=0), [0], keep=False),
        "tanh maximum reshape",
    )
    lowest = constant(np.full((2, 3), -np.inf, "float32"))
    check("maximum-of-stack", reduce("max", call("relax.stack", [lowest, a], (2, 2, 3), axis=0), [0]), "reshape")


def hard_swish_is_recognised():
    a = x(3)
    gate = clip(affine(a, 1.0, 3.0), 0, 6)
    check("hard-swish", affine(binary("multiply", a, gate), 1 / 6, 0.0), "hard_swish")
    check("hard-swish", binary("multiply", affine(gate, 1 / 6, 0.0), a), "hard_swish")
    check("hard-swish", binary("multiply", a, clip(affine(a, 1 / 6, 0.5), 0, 1)), "hard_swish")
    check("hard-swish", binary("multiply", a, clip(affine(a, 1 / 5, 0.5), 0, 1)), "affine clip multiply")


def silu_is_recognised():
    a = x(3)
    check("silu", binary("multiply", unary("sigmoid", a), a), "silu")


def gelu_is_recognised():
    a = x(3)
    gate = affine(unary("erf", affine(a, math.sqrt(0.5), 0.0)), 1.0, 1.0)
    check("gelu", affine(binary("multiply", a, gate), 0.5, 0.0), "gelu")
    check("gelu", binary("multiply", affine(a, 0.5, 0.0), gate), "gelu")
    half = affine(unary("erf", affine(a, math.sqrt(0.5), 0.0)), 0.5, 0.5)
    check("gelu", binary("multiply", half, a), "gelu")
    cube = binary("multiply", a, binary("multiply", a, a))
    inner = affine(binary("add", a, affine(cube, 0.044715, 0.0)), math.sqrt(2 / math.pi), 0.0)
    check("gelu", binary("multiply", a, affine(unary("tanh", inner), 0.5, 0.5)), "gelu_tanh")
    power = Node("binary", [a, number(3)], (3,), attrs={"function": "power"})
    inner = affine(binary("add", a, affine(power, 0.044715, 0.0)), math.sqrt(2 / math.pi), 0.0)
    check("gelu", binary("multiply", a, affine(unary("tanh", inner), 0.5, 0.5)), "gelu_tanh")


def another_factor_is_no_gelu():
    a = x(3)
    gate = affine(unary("erf", affine(a, math.sqrt(0.5), 0.0)), 1.0, 1.0)
    check("gelu", affine(binary("multiply", a, gate), 0.4, 0.0), "affine erf affine multiply affine")


def the_power_of_two_is_a_product():
    check("square", Node("binary", [x(3), number(2)], (3,), attrs={"function": "power"}), "multiply")


def layer_norm_is_recognised():
    a = x(2, 5)
    centred = binary("subtract", a, reduce("mean", a, [1]))
    variance = reduce("mean", binary("multiply", centred, centred), [1])
    check("layer-norm", binary("divide", centred, unary("sqrt", affine(variance, 1.0, 1e-5))), "layer_norm")


def a_norm_over_another_axis_stays():
    a = x(5, 2)
    centred = binary("subtract", a, reduce("mean", a, [0]))
    variance = reduce("mean", binary("multiply", centred, centred), [0])
    expected = "reduce subtract multiply reduce affine sqrt divide"
    check("layer-norm", binary("divide", centred, unary("sqrt", affine(variance, 1.0, 1e-5))), expected)


def a_product_with_constants_has_two_dimensions():
    check("matmul-to-dense", Node("matmul", [x(2, 3, 4), value(4, 5)], (2, 3, 5)), "reshape dense reshape")


def one_hot_times_a_matrix_takes_rows():
    index = np.array([[[0], [3], [-1], [7]]], "int32")
    equal = call("relax.equal", [x(1, 4, 1, dtype="int32"), constant(np.arange(5, dtype="int32"))], (1, 4, 5), "bool")
    hot = call("relax.astype", [equal], (1, 4, 5))
    check("one-hot-to-take", Node("matmul", [hot, value(5, 6)], (1, 4, 6)), "reshape take", index)


def a_function_of_rows_goes_into_the_table():
    take = Node("take", [value(5, 6), x(4, dtype="int32")], (4, 6))
    check("function-into-table", unary("gelu", affine(take, vector(6), 1.0, 1)), "take", np.array([0, 4, 2, 9]))


def a_transposed_convolution_without_overlap_is_one_of_1x1():
    node = conv2d_transpose(x(1, 3, 2, 4), value(3, 2, 2, 3), value(2), strides=(2, 3))
    check("transposed-convolution-without-overlap", node, "conv2d depth_to_space")


def one_with_overlap_stays():
    node = conv2d_transpose(x(1, 3, 2, 4), value(3, 2, 2, 2), strides=(2, 2))
    node.attrs["strides"] = [1, 2]
    graph = Graph([node.input], [node])
    rewrite(graph, only={"transposed-convolution-without-overlap"})
    assert words(graph) == "conv2d_transpose"


def a_column_convolution_is_one_of_a_row():
    node = conv2d(x(1, 3, 9, 1), value(2, 3, 3, 1), strides=(2, 1), padding=(1, 0, 0, 0))
    check("column-convolution-to-row", node, "reshape conv2d reshape")


def integers_are_moved_instead_of_what_they_stand_for():
    rule = "integers-through-moves"
    check(rule, reshape(small(2, 6), (3, 4)), "reshape dequantize")
    check(rule, transpose(small(2, 3, 4), [2, 0, 1]), "transpose dequantize")
    check(rule, Node("slice", [small(4, 3)], (2, 3), attrs={"begin": [1, 0]}), "slice dequantize")
    check(rule, pool2d("max", small(1, 2, 4, 5), 3), "pool2d dequantize")
    check(rule, reduce("max", small(2, 3), [1]), "reduce dequantize")
    a = x(2, 3, dtype="uint8")
    parts = [dequantize(a, 0.5, 3), dequantize(Node("reshape", [a], (2, 3), "uint8"), 0.5, 3)]
    check(rule, Node("concat", parts, (4, 3), attrs={"axis": 0}), "reshape concat dequantize")


def scales_of_an_axis_follow_it():
    a = dequantize(x(4, 3, dtype="int8"), vector(4), np.arange(4), axis=0)
    check("integers-through-moves", transpose(a, [1, 0]), "transpose dequantize")
    check("integers-through-moves", reshape(a, (4, 3, 1)), "reshape dequantize")
    check("integers-through-moves", reshape(a, (12,)), "dequantize reshape")


def parts_of_two_scales_are_joined_as_numbers():
    a = x(2, 3, dtype="uint8")
    joined = Node("concat", [dequantize(a, 0.5, 3), dequantize(a, 0.25, 3)], (4, 3), attrs={"axis": 0})
    check("integers-through-moves", joined, "dequantize dequantize concat")


def a_smallest_value_of_numbers_that_fall_is_no_largest():
    check("integers-through-moves", reduce("max", dequantize(x(2, 3, dtype="int8"), -0.5, 1), [1]), "dequantize reduce")


def quantizing_goes_ahead_of_moves():
    check("quantize-before-moves", quantize(transpose(x(2, 3), [1, 0]), 0.05, 128), "quantize transpose")
    joined = Node("concat", [x(2, 3), x(2, 3)], (4, 3), attrs={"axis": 0})
    joined.inputs[1] = joined.inputs[0]
    check("quantize-before-moves", quantize(joined, 0.05, -3, "int8"), "quantize quantize concat")


def what_was_dequantized_the_same_way_is_not_quantized():
    check("quantized-again", reshape(quantize(small(2, 3), 0.02, 100), (6,)), "reshape")
    check("quantized-again", quantize(small(2, 3), 0.03, 100), "dequantize quantize")
    check("quantized-again", quantize(small(2, 3), 0.02, 100, "int8"), "dequantize quantize")


def limits_that_the_type_has_are_dropped():
    check("limits-of-the-type", quantize(unary("relu", x(9)), 0.02, 0), "quantize")
    check("limits-of-the-type", quantize(unary("relu", x(9)), 0.02, 1), "relu quantize")
    check("limits-of-the-type", quantize(clip(x(9), 0.0, 6.0), 6 / 255, 0), "quantize")
    check("limits-of-the-type", quantize(clip(x(9), 0.0, 2.0), 6 / 255, 0), "clip quantize")


def convolutions_of_8_bits_are_computed_in_integers():
    rule = "convolution-in-integers"
    for dtype in ("int8", "uint8"):
        weights = dequantize(bytes_of(3, 2, 3, 3, dtype=dtype), vector(3), np.array([0, 5, -1]), axis=0)
        check(rule, conv2d(small(1, 2, 5, 5, dtype=dtype), weights), "integer_conv2d dequantize")
    each = dequantize(bytes_of(4, 1, 3, 3), 0.01)
    padded = conv2d(small(1, 4, 5, 5), each, groups=4, padding=(1, 1, 1, 1))
    check(rule, padded, "integer_conv2d dequantize")


def convolutions_in_groups_or_of_numbers_stay():
    rule = "convolution-in-integers"
    grouped = conv2d(small(1, 4, 5, 5), dequantize(bytes_of(4, 2, 3, 3), 0.01), groups=2)
    check(rule, grouped, "dequantize dequantize conv2d")
    check(rule, conv2d(x(1, 2, 5, 5), dequantize(bytes_of(3, 2, 3, 3), 0.01)), "dequantize conv2d")


def sums_that_may_leave_32_bits_stay():
    weights = dequantize(constant(np.full((60000, 1), 255, "uint8")), 0.01)
    graph = Node("matmul", [small(1, 60000), weights], (1, 1))
    check("product-in-integers", graph, "dequantize dequantize matmul")


def products_of_8_bits_are_computed_in_integers():
    weights = dequantize(bytes_of(4, 5), vector(5), np.zeros(5, "int32"), axis=1)
    node = Node("matmul", [small(2, 3, 4), weights], (2, 3, 5))
    check("product-in-integers", node, "reshape integer_dense dequantize reshape")


def products_with_a_computed_zero_point_are_computed_in_integers():
    weights = constant(rng.integers(-130, 130, (6, 4)), "int32")
    for dtype in ("uint8", "int8"):
        a = x(2, 3, 6, dtype=dtype)
        zero = reduce("min", reshape(as_int32(a), (36,)), [0])
        product = Node("matmul", [binary("subtract", as_int32(a), zero), weights], (2, 3, 4), "int32")
        check("product-with-computed-zero-point", product,
              "reshape integer_dense call reshape reduce reshape multiply subtract reshape")  # fmt: skip
    check("product-with-computed-zero-point", Node("matmul", [as_int32(a), weights], (2, 3, 4), "int32"), "reshape integer_dense reshape")
    wide = constant(rng.integers(-300, 300, (6, 4)), "int32")
    check("product-with-computed-zero-point", Node("matmul", [as_int32(a), wide], (2, 3, 4), "int32"), "call matmul")


def sums_and_averages_of_8_bits_are_computed_in_integers():
    check("sum-in-integers", reduce("mean", small(1, 2, 3, 4), [2, 3]), "integer_sum dequantize")
    check("sum-in-integers", reduce("sum", small(2, 5, dtype="int8"), [1]), "integer_sum dequantize")
    check("average-in-integers", pool2d("avg", small(1, 2, 4, 5), 3), "integer_pool2d dequantize")


def an_average_of_windows_of_several_sizes_stays():
    node = pool2d("avg", small(1, 2, 4, 5), 3, padding=[1, 1, 1, 1])
    graph = Graph([node.input.input], [node])
    rewrite(graph, only={"average-in-integers"})
    assert words(graph) == "dequantize pool2d"


def an_affine_goes_into_the_scales():
    rule = "affine-into-dequantize"
    check(rule, affine(small(2, 3), 2.0, 1.0), "dequantize")
    check(rule, affine(small(2, 3), vector(3), vector(3), 1), "dequantize")
    a = dequantize(x(2, 3, dtype="int8"), vector(3), np.zeros(3, "int32"), axis=1)
    check(rule, affine(a, vector(2), 0.0, 0), "dequantize affine")


def long_functions_of_8_bits_are_tables():
    rule = "function-of-bytes-to-table"
    for dtype in ("int8", "uint8"):
        every = np.arange(256).astype("uint8").view(dtype)
        a = dequantize(x(256, dtype=dtype), 0.05, 3)
        check(rule, quantize(unary("sigmoid", a), 1 / 256, -128, "int8"), "table", every)
        gate = dequantize(quantize(clip(affine(a, 1 / 6, 0.5), 0, 1), 1 / 255, 0), 1 / 255)
        check(rule, quantize(binary("multiply", a, gate), 0.0413, 9), "table", every)


def functions_of_tables_are_tables():
    every = np.arange(256).astype("uint8")
    for dtype in ("int8", "uint8"):
        first = quantize(unary("sigmoid", dequantize(x(256, dtype="uint8"), 0.05, 3)), 1 / 100, 7, dtype)
        second = quantize(binary("multiply", *(dequantize(first, 1 / 100, 7) for _ in range(2))), 1 / 90, 0, "uint8")
        check("function-of-bytes-to-table", second, "table", every)


def short_functions_and_those_of_two_values_stay():
    rule = "function-of-bytes-to-table"
    check(rule, quantize(unary("relu", small(9)), 0.05, 3), "dequantize relu quantize")
    a = small(3, 3)
    other = unary("sigmoid", dequantize(transpose(a.input, [1, 0]), 0.5))
    expected = "dequantize transpose dequantize sigmoid multiply quantize"
    check(rule, quantize(binary("multiply", a, other), 0.05, 3), expected)


def weights_that_nothing_takes_as_integers_become_numbers():
    weights = dequantize(bytes_of(2, 3), vector(3), np.array([0, 1, 2]), axis=1)
    check("weights-to-float", binary("add", x(2, 3), weights), "add")


def each_reader_dequantizes_for_itself():
    a = small(2, 3)
    outputs = [unary("relu", a), unary("tanh", a), binary("multiply", a, a)]
    check("dequantize-for-each-reader", outputs, "dequantize relu dequantize tanh dequantize multiply")


def weights_that_do_not_fit_into_bytes_are_multiplied_in_16_bits():
    fit, wide = np.array([-128, 127], "int16"), np.array([-5, 200], "int16")
    for features, group in (({"avx512vnni", "avx512bw", "avx2", "sse2"}, 2), ({"avxvnni", "avx2"}, 2), ({"dotprod", "neon"}, 1)):
        dots = dots_of(features)
        assert dots[0].group == 4 and dot_for(dots, fit) is dots[0]
        other = dot_for(dots, wide)
        assert other.weights == "int16" and other.group == group and (group == 1 or other.lanes == dots[0].lanes)


def levels_of_x86_have_forms_in_common():
    lesser, best = dots_of({"sse2"}), dots_of({"sse2", "avx2", "avx512bw", "avx512vnni"})
    assert {dot.form for dot in best} == {dot.form for dot in lesser}
    of_lesser = dot_with_form(lesser, best[0].form)
    assert of_lesser.pairs and of_lesser.lanes == 4 and not of_lesser.adds and best[0].adds


def the_last_of_the_default_levels_has_products_of_bytes():
    names = processors_of("cpu", "v2,v3,v4+avx512vnni")
    assert names == ["v2", "v3", "v4+avx512vnni"]
    assert host_of("cpu", names[-1])["mcpu"] == "x86-64-v4" and host_of("cpu", names[-1])["mattr"] == ["+avx512vnni"]
    for wrong in ("v2,v4+avx512vnni,v4", "v2,v3+avx512vnni", "v2,v4+avx512vnni,v4+avx512vnni"):
        try:
            processors_of("cpu", wrong)
        except CompileError:
            continue
        raise AssertionError(wrong)


# ---- oneDNN

def onednn_takes_what_is_behind_a_product_in_its_order():
    y = affine(unary("relu", affine(pointwise(x(1, 2, 4, 4)), -1.0, 3.0)), 0.5, 1.0)
    check_regions([clip(y, 0, 2)], "region", "dnnl.conv2d_bias+linear+nn.relu+linear+clip")


def a_sum_is_in_the_product_if_no_function_is_before_it():
    a = x(1, 3, 4, 4)
    check_regions([unary("tanh", binary("add", a, pointwise(a)))], "region", "dnnl.conv2d_bias+sum+tanh")
    check_regions([binary("add", a, unary("tanh", pointwise(a)))], "region add", "dnnl.conv2d_bias+tanh")


def a_product_that_has_other_readers_takes_nothing():
    y = pointwise(x(1, 2, 4, 4))
    check_regions([binary("multiply", unary("sigmoid", y), y)], "region sigmoid multiply", "dnnl.conv2d_bias")
    check_regions([y, unary("sigmoid", y)], "region sigmoid", "dnnl.conv2d_bias")


def what_onednn_lacks_stands_between_regions():
    y = pointwise(unary("erf", pointwise(x(1, 2, 4, 4))))
    check_regions([y], "region erf region", "dnnl.conv2d_bias dnnl.conv2d_bias")
    whole = conv2d(x(1, 2, 4, 4, dtype="float64"), value(3, 2, 1, 1))
    check_regions([whole], "conv2d", "")


def a_region_gives_several_results():
    y = pointwise(x(1, 2, 4, 4))
    z = unary("relu", pointwise(y))
    check_regions([unary("erf", y), binary("add", z, unary("erf", z))],
                  "region region_result erf region_result erf add", "dnnl.conv2d_bias dnnl.conv2d_bias+nn.relu")  # fmt: skip


def products_that_do_not_read_each_other_are_regions_of_their_own():
    a = x(1, 2, 4, 4)
    check_regions([pointwise(pointwise(a)), pointwise(a, 5)], "region region",
                  "dnnl.conv2d_bias dnnl.conv2d_bias dnnl.conv2d_bias")  # fmt: skip
    joined = binary("add", pointwise(pointwise(a)), pointwise(a))
    check_regions([joined], "region", "dnnl.conv2d_bias dnnl.conv2d_bias dnnl.conv2d_bias+sum")


def products_of_bytes_have_scales_and_a_bias():
    whole, a, rows = rng.integers(-127, 128, (3, 2, 3, 3)), x(1, 2, 4, 4, dtype="uint8"), x(4, 6, dtype="int8")
    padded = dequantized_sums("integer_conv2d", a, whole, 7, padding=(1, 1, 1, 1), shift=np.arange(3.0))
    [region] = check_regions([padded], "region", "dnnl.conv2d_bias")
    assert region.inside[0].attributes["zero_point"] == [7]
    [region] = check_regions([dequantized_sums("integer_conv2d", a, whole, 7)], "region", "dnnl.conv2d_bias")
    assert region.inside[0].attributes["zero_point"] == [0]  # it is in the bias
    product = dequantized_sums("integer_dense", rows, rng.integers(-127, 128, (5, 6)), 3)
    check_regions([product], "region", "dnnl.dense_bias")
    graph, _ = graph_of(make_region(product))
    assert [node["attrs"]["dtype"] for node in graph["nodes"]] == [[["int8"]], [["int8"]], [["float32"]], [["float32"]]]


def a_result_in_bytes_is_part_of_its_product():
    weights, a = rng.integers(-127, 128, (3, 2, 1, 1)), x(1, 2, 4, 4, dtype="uint8")
    check_regions([quantize(dequantized_sums("integer_conv2d", a, weights, 7), 37.3, 100)], "region", "dnnl.conv2d_bias")
    y = clip(dequantized_sums("integer_conv2d", a, weights), -900.0, 800.0)
    check_regions([quantize(y, 29.3, -8, "int8")], "region", "dnnl.conv2d_bias+clip+linear")
    both = dequantized_sums("integer_conv2d", a, weights)
    check_regions([both, quantize(both, 29.3, 100)], "region quantize", "dnnl.conv2d_bias")
    check_regions([quantize(pointwise(x(1, 2, 4, 4)), 0.1, 100)], "region quantize", "dnnl.conv2d_bias")
    added = binary("add", dequantized_sums("integer_conv2d", a, weights), dequantized_sums("integer_conv2d", a, weights))
    check_regions([quantize(added, 60.0, 100)], "region quantize", "dnnl.conv2d_bias dnnl.conv2d_bias+sum")


def a_product_that_onednn_does_not_have_stays_in_integers():
    a = x(1, 2, 4, 4, dtype="uint8")
    large, zeros = np.full((3, 2, 1, 1), 200), np.ones((3, 2, 1, 1), "int64")
    check_regions([dequantized_sums("integer_conv2d", a, large)], "integer_conv2d dequantize", "")
    check_regions([dequantized_sums("integer_conv2d", a, zeros, scale=0.0)], "integer_conv2d dequantize", "")


def what_is_no_product_is_left_to_tvm():
    y = Node("softmax", [unary("relu", x(2, 5))], (2, 5), attrs={"axis": 1})
    check_regions([affine(y, vector(5), 0.5, 1)], "relu softmax affine", "")
    y = pool2d("max", pointwise(x(1, 2, 5, 5)), 2)
    check_regions([pointwise(affine(y, vector(3), vector(3), 1))], "region pool2d affine region", "dnnl.conv2d_bias dnnl.conv2d_bias")


def a_product_that_is_slower_in_onednn_is_left_to_tvm():
    a, asked = x(1, 2, 4, 4), []

    def wide(node, summed):
        asked.append((node.shape[1], summed))
        return node.shape[1] > 4

    y = unary("tanh", binary("add", x(1, 5, 4, 4), pointwise(unary("relu", pointwise(a)), 5)))
    y.input.inputs[0] = pointwise(a, 5)
    check_regions([y], "conv2d relu region region", "dnnl.conv2d_bias dnnl.conv2d_bias+sum+tanh", wide)
    assert sorted(asked) == [(3, False), (5, True), (5, True)], asked
    asked.clear()
    up, rows = conv2d_transpose(a, value(2, 3, 2, 2), strides=(2, 2)), x(2, 4, 4)
    for product in (up, Node("matmul", [rows, rows], rows.shape)):  # these never take a sum
        make_regions(Graph([a, rows], [binary("add", x(*product.shape), product)]), wide)
    assert [summed for _, summed in asked] == [False, False], asked


def onednn_computes_other_products():
    rows = unary("relu", Node("dense", [x(4, 6), value(8, 6), value(8)], (4, 8)))
    check_regions([rows], "region", "dnnl.dense_bias+nn.relu")
    a = x(1, 2, 3, 3)
    check_regions([Node("matmul", [a, a], a.shape)], "reshape reshape region reshape", "nn.batch_matmul")
    up = conv2d_transpose(x(1, 2, 3, 3), value(2, 3, 2, 2), value(3), strides=(2, 2))
    check_regions([binary("add", unary("erf", up), up)], "region erf add", "dnnl.deconv2d_bias")


def a_region_is_a_graph_in_json_and_arrays():
    a = x(1, 2, 4, 4)
    [region] = check_regions([clip(pointwise(a), 0, 2)], "region", "dnnl.conv2d_bias+clip")
    graph, constants = graph_of(region)
    assert [node["op"] for node in graph["nodes"]] == ["input", "const", "const", "kernel"]
    assert graph["arg_nodes"] == [0, 1, 2] and graph["heads"] == [[3, 0, 0]]
    assert list(constants) == [graph["nodes"][1]["name"], graph["nodes"][2]["name"]]
    attributes = graph["nodes"][3]["attrs"]
    assert attributes["shape"] == [[[1, 4, 4, 3]]] and attributes["padding"] == [["0"] * 4]
    assert attributes["data_layout"] == [["NHWC"]] and graph["nodes"][0]["attrs"]["shape"] == [[[1, 4, 4, 2]]]
    assert graph["nodes"][1]["attrs"]["shape"] == [[[3, 2, 1, 1]]]
    assert attributes["post_ops"] == [["clip"]] and [float(attributes["post_beta"][0][0])] == [2]


def numbers_in_16_bits_are_computed_in_float32_and_rounded_once():
    a = x(1, 2, 4, 4, dtype="float16")
    y = unary("relu", conv2d(a, constant(value(3, 2, 1, 1).value.astype("float16"))))
    graph = in_float32(Graph([a], [y]))
    assert types_of(graph) == "cast:float32 conv2d:float32 unary:float32 cast:float16", types_of(graph)
    assert all(node.value.dtype == "float32" for node in graph.nodes() if node.is_constant())
    assert graph.outputs[0].shape == y.shape and graph.inputs == [a]


def an_operator_that_is_kept_reads_16_bits():
    a = x(2, 3, dtype="float16")
    kept = call("relax.tan", [unary("exp", a)], a.shape, "float16")
    graph = in_float32(Graph([a], [unary("tanh", kept), reshape(kept, (6,))]))
    expected = "cast:float32 unary:float32 cast:float16 call:float16 cast:float32 unary:float32 cast:float16 reshape:float16"
    assert types_of(graph) == expected, types_of(graph)


def a_cast_to_float32_takes_numbers_that_were_not_rounded():
    a = x(2, 3, dtype="float16")
    graph = in_float32(Graph([a], [unary("tanh", call("relax.astype", [unary("exp", a)], a.shape))]))
    assert types_of(graph) == "cast:float32 unary:float32 unary:float32", types_of(graph)


def a_one_hot_vector_in_16_bits_takes_a_row_too():
    index = x(1, 4, 1, dtype="int32")
    equal = call("relax.equal", [index, constant(np.arange(5, dtype="int32"))], (1, 4, 5), "bool")
    hot = call("relax.astype", [equal], equal.shape, "float16")
    graph = in_float32(Graph([index], [Node("matmul", [hot, constant(value(5, 6).value.astype("float16"))], (1, 4, 6), "float16")]))
    rewrite(graph, only={"one-hot-to-take"})
    assert words(graph) == "reshape take cast", words(graph)


def a_maximum_of_a_stack_in_16_bits_is_one_of_its_parts_too():
    a = x(2, 3, dtype="float16")
    stack = call("relax.stack", [binary("add", a, a), a], (2, 2, 3), "float16", axis=0)
    graph, applied = rewritten_in_float32(Graph([a], [reduce("max", stack, [0], keep=False)]))
    assert words(graph) == "cast add maximum cast", words(graph)
    assert applied["maximum-of-stack"] == 1 and types_of(graph).endswith("binary:float32 cast:float16"), types_of(graph)


def what_nothing_reads_any_more_is_forgotten():
    a = x(2, 3)
    graph = Graph([a], [unary("relu", reshape(reshape(a, (6,)), (2, 3)))])
    rewrite(graph)
    assert words(graph) == "relu" and len(graph.nodes()) == 2 and len(graph.readers(a)) == 1


def every_rule_has_a_case():
    names = {name for table in (RULES, LAST_RULES) for rules in table.values() for name, _ in rules}
    assert names == tested, names ^ tested
    names = {name for rules in ONEDNN_RULES.values() for name, _ in rules}
    assert names == kernels_tested, names ^ kernels_tested


def main():
    cases = [
        f
        for f in globals().values()
        if inspect.isfunction(f) and f.__module__ == __name__ and f.__code__.co_firstlineno > FIRST_CASE and f is not main
    ]
    failures = 0
    for number_, case in enumerate(cases, 1):
        sentence = case.__name__.replace("_", " ")
        try:
            case()
            print(f"ok {number_} - {sentence}")
        except Exception as error:
            failures += 1
            print(
                f"not ok {number_} - {sentence}\n# {type(error).__name__}: {str(error)[:600]}".replace("\n", "\n# ", 0)
            )
    print(f"1..{len(cases)}")
    sys.exit(1 if failures else 0)


FIRST_CASE = check.__code__.co_firstlineno
main()
