# SPDX-License-Identifier: MIT
"""Rules that compute networks in 8-bit integers in integers.

Such a network dequantizes the inputs of each operator and quantizes its result. "dequantize" is (x - zero) * scale +
shift, with numbers, or vectors along one axis; "quantize" is x / scale + zero, rounded and kept within its type.
Products and sums become sums of integers in 32 bits, which are dequantized; what only moves elements, or takes the
largest, moves integers. Other operators stay in float32 between the two, in one kernel.
"""

import math

import numpy

from .graph import Node, constant
from .rules import axis_before_reshape, is_binary, is_unary, reshape, rule

SMALL = ("int8", "uint8")


def dequantize(x, scale, zero=0, shift=0.0, axis=None):
    attrs = {"scale": scale, "zero": zero, "shift": shift, "axis": axis}
    return Node("dequantize", [x], x.shape, "float32", attrs)


def requantized(x, node):
    """x quantized as a node of "quantize" does."""
    return Node("quantize", [x], x.shape, node.dtype, {"scale": node.scale, "zero": node.zero})


def again(x, node):
    """x dequantized as a node of "dequantize" with one scale does."""
    return dequantize(x, node.scale, node.zero, node.shift)


def is_small(node):
    """Whether a node is dequantized from 8 bits with one scale."""
    return node.op == "dequantize" and node.input.dtype in SMALL and node.axis is None and node.shift == 0.0


def weights_of(node):
    """Weights less their zero points, and their scales by output (the first axis); None if a node is none in 8 bits."""
    if node.op != "dequantize" or not node.input.is_constant() or node.input.dtype not in SMALL:
        return None
    if node.axis not in (None, 0) or numpy.any(numpy.asarray(node.shift) != 0):
        return None
    outputs = node.shape[0]
    zero = numpy.broadcast_to(node.zero, (outputs,)).astype("int32")
    value = node.input.value.astype("int32") - zero.reshape([-1] + [1] * (len(node.shape) - 1))
    return value, numpy.broadcast_to(numpy.asarray(node.scale, "float32"), (outputs,))


def fits(x, value):
    """Whether sums of products of x and weights stay within 32 bits."""
    low, high = (0, 255) if x.input.dtype == "uint8" else (-128, 127)
    largest = max(abs(low - x.zero), abs(high - x.zero))
    return largest < 2**15 and largest * numpy.abs(value.astype("int64")).reshape(len(value), -1).sum(1).max() < 2**31


# ---- what moves elements


@rule("integers-through-moves", "reshape", "transpose")
def integers_through_moves(graph, node):
    before = node.input
    if before.op != "dequantize" or before.input.dtype not in SMALL or numpy.any(numpy.asarray(before.shift) != 0):
        return None
    axis = before.axis
    if axis is not None and node.op == "transpose":
        axis = node.axes.index(axis)
    elif axis is not None:
        axis = axis_before_reshape(node.shape, before.shape, axis)
        if axis is None:
            return None
    moved = Node(node.op, [before.input], node.shape, before.input.dtype, node.attrs)
    return dequantize(moved, before.scale, before.zero, before.shift, axis)


@rule("integers-through-moves", "slice", "broadcast", "resize_nearest", "depth_to_space")
def integers_through_copies(graph, node):
    if not is_small(node.input):
        return None
    return again(Node(node.op, [node.input.input], node.shape, node.input.input.dtype, node.attrs), node.input)


@rule("integers-through-moves", "pool2d", "reduce")
def integers_through_maximum(graph, node):
    largest = node.kind if node.op == "pool2d" else node.function
    if largest not in ("max", "min") or not is_small(node.input) or node.input.scale <= 0:
        return None
    return again(Node(node.op, [node.input.input], node.shape, node.input.input.dtype, node.attrs), node.input)


@rule("integers-through-moves", "concat")
def integers_through_concat(graph, node):
    first = node.inputs[0]
    same = all(
        is_small(one)
        and (one.scale, one.zero, one.input.dtype) == (first.scale, first.zero, first.input.dtype)
        for one in node.inputs
    )  # fmt: skip
    if not same:
        return None
    joined = Node("concat", [one.input for one in node.inputs], node.shape, first.input.dtype, node.attrs)
    return again(joined, first)


@rule("quantize-before-moves", "quantize")
def quantize_before_moves(graph, node):
    move = node.input
    if move.op not in ("reshape", "transpose", "slice", "concat", "resize_nearest", "depth_to_space"):
        return None
    if not graph.single(move):
        return None
    inputs = [requantized(one, node) for one in move.inputs]
    return Node(move.op, inputs, move.shape, node.dtype, move.attrs)


@rule("quantized-again", "quantize")
def quantized_again(graph, node):
    """What was just dequantized the same way."""
    x = node.input
    if not is_small(x) or x.input.dtype != node.dtype or (x.scale, x.zero) != (node.scale, node.zero):
        return None
    return x.input


@rule("limits-of-the-type", "quantize")
def limits_of_the_type(graph, node):
    """Limits that the type has by itself."""
    x = node.input
    bounds = numpy.iinfo(node.dtype)
    lowest, highest = ((bound - node.zero) * node.scale for bound in (int(bounds.min), int(bounds.max)))
    if is_unary(x, "relu"):
        low, high = 0.0, math.inf
    elif x.op == "clip":
        low, high = x.low, x.high
    else:
        return None
    return requantized(x.input, node) if low <= lowest and high >= highest else None


# ---- products and sums


@rule("convolution-in-integers", "conv2d")
def convolution(graph, node):
    x = node.inputs[0]
    found = weights_of(node.inputs[1])
    if not is_small(x) or found is None or len(node.inputs) > 2:
        return None
    value, scale = found
    each = node.groups == node.shape[1] == x.shape[1] and value.shape[1] == 1
    if (node.groups != 1 and not each) or not fits(x, value):
        return None
    attrs = {**node.attrs, "zero": x.zero}
    sums = Node("integer_conv2d", [x.input, constant(value, "int16")], node.shape, "int32", attrs)
    return dequantize(sums, scale * numpy.float32(x.scale), axis=1)


@rule("product-in-integers", "matmul")
def product(graph, node):
    """A product with weights: one of two dimensions."""
    x, weights = node.inputs
    if not is_small(x) or len(weights.shape) != 2 or len(x.shape) < 2 or weights.op != "dequantize":
        return None
    turned = weights.like([constant(weights.input.value.T)]) if weights.input.is_constant() else None
    if turned is None:
        return None
    turned.shape = weights.shape[::-1]
    if weights.axis is not None:
        turned.attrs["axis"] = 1 - weights.axis
    found = weights_of(turned)
    if found is None or not fits(x, found[0]):
        return None
    value, scale = found
    rows = math.prod(x.shape[:-1])
    flat = reshape(x.input, (rows, x.shape[-1]))
    attrs = {"zero": x.zero}
    sums = Node("integer_dense", [flat, constant(value, "int16")], (rows, len(value)), "int32", attrs)
    return reshape(dequantize(sums, scale * numpy.float32(x.scale), axis=1), node.shape)


def widened(node):
    """The bytes that a node is as integers of 32 bits; None if it is none."""
    whole = node.op == "call" and node.name == "relax.astype" and node.dtype == "int32"
    return node.input if whole and node.input.dtype in SMALL and not node.input.is_constant() else None


@rule("product-with-computed-zero-point", "matmul")
def product_with_computed_zero_point(graph, node):
    """MatMulInteger: bytes less a zero point that is computed, times weights. The zero point is taken from the sums."""
    x, weights = node.inputs
    if node.dtype != "int32" or not weights.is_constant() or len(weights.shape) != 2 or len(x.shape) < 2:
        return None
    zero = None
    if is_binary(x, "subtract") and x.inputs[1].elements == 1:
        x, zero = x.inputs
    of_bytes, value = widened(x), weights.value.T
    # sums less those of the zero point are within twice of what sums are
    if of_bytes is None or numpy.abs(value).max() > 255 or 2 * 255 * numpy.abs(value.astype("int64")).sum(1).max() >= 2**31:
        return None
    rows = math.prod(x.shape[:-1])
    flat = reshape(of_bytes, (rows, x.shape[-1]))
    sums = Node("integer_dense", [flat, constant(value, "int16")], (rows, len(value)), "int32", {"zero": 0})
    if zero is not None:
        one, of_weights = reshape(zero, (1, 1)), constant(value.sum(1, dtype="int32")[None])
        less = Node("binary", [one, of_weights], (1, len(value)), "int32", {"function": "multiply"})
        sums = Node("binary", [sums, less], sums.shape, "int32", {"function": "subtract"})
    return reshape(sums, node.shape)


@rule("sum-in-integers", "reduce")
def total(graph, node):
    x = node.input
    if node.function not in ("sum", "mean") or not node.keep or not is_small(x):
        return None
    count = math.prod(x.shape[axis] for axis in node.axes)
    sums = Node("integer_sum", [x.input], node.shape, "int32", {"axes": node.axes, "zero": x.zero})
    return dequantize(sums, x.scale / (count if node.function == "mean" else 1))


@rule("average-in-integers", "pool2d")
def average(graph, node):
    """Of windows that all have the same number of elements."""
    x = node.input
    if node.kind != "avg" or not is_small(x) or node.ceil_mode or (any(node.padding) and not node.count_include_pad):
        return None
    attrs = {**{name: node.attrs[name] for name in ("size", "strides", "padding", "dilation")}, "zero": x.zero}
    sums = Node("integer_pool2d", [x.input], node.shape, "int32", attrs)
    return dequantize(sums, x.scale / math.prod(node.size))


@rule("affine-into-dequantize", "affine")
def affine_into_dequantize(graph, node):
    x = node.input
    if x.op != "dequantize" or not graph.single(x) or (None not in (node.axis, x.axis) and node.axis != x.axis):
        return None
    axis = x.axis if node.axis is None else node.axis
    zero = x.zero
    if axis is not None and x.axis is None:
        zero = numpy.full(x.shape[axis], zero)
    return dequantize(x.input, x.scale * node.scale, zero, x.shift * node.scale + node.shift, axis)


# ---- functions of 8 bits

# vector operations that a node takes, about
LOOKUP = 20
COSTS = {"quantize": 6, "dequantize": 3, "affine": 2, "clip": 2, "binary": 1, "table": LOOKUP}
CHEAP = {"relu": 1, "abs": 1, "negative": 1, "hard_swish": 5}
DEAR = 15  # of other functions
FUNCTIONS = {
    "relu": lambda x: numpy.maximum(x, 0),
    "abs": numpy.abs,
    "negative": numpy.negative,
    "sqrt": numpy.sqrt,
    "exp": numpy.exp,
    "tanh": numpy.tanh,
    "erf": numpy.vectorize(math.erf),
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "silu": lambda x: x / (1 + numpy.exp(-x)),
    "hard_swish": lambda x: x * numpy.clip(x + 3, 0, 6) / 6,
    "gelu": lambda x: 0.5 * x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}
BINARY = {"add": numpy.add, "subtract": numpy.subtract, "multiply": numpy.multiply, "divide": numpy.divide,
          "maximum": numpy.maximum, "minimum": numpy.minimum}  # fmt: skip


class OfBytes:
    """A node as a function of one node of 8 bits, element by element: its 256 values, if it is one."""

    def __init__(self, source):
        self.source, self.cost, self._values = source, 0, {}

    def values(self, node):
        """The values of a node by the bytes of the source, as float64; None if it is no function of it."""
        if node not in self._values:
            self._values[node] = self._compute(node)
        return self._values[node]

    def _compute(self, node):
        if node is self.source:
            return numpy.arange(256).astype("uint8").view(node.dtype).astype("float64")
        if node.op == "constant":
            number = node.scalar()
            return None if number is None else numpy.full(256, number)
        known = node.op in COSTS or node.op == "unary" and node.function in FUNCTIONS
        if not known or any(one.shape != self.source.shape and not one.is_constant() for one in [node, *node.inputs]):
            return None
        if node.op in ("affine", "dequantize") and node.axis is not None:
            return None
        inputs = [self.values(one) for one in node.inputs]
        if any(one is None for one in inputs):
            return None
        self.cost += COSTS[node.op] if node.op in COSTS else CHEAP.get(node.function, DEAR)
        with numpy.errstate(all="ignore"):
            return self._result(node, *inputs)

    def _result(self, node, x, *others):
        if node.op == "quantize":
            bounds = numpy.iinfo(node.dtype)
            whole = numpy.rint(numpy.nan_to_num(x.astype("float32") / numpy.float32(node.scale)))
            return numpy.clip(whole + node.zero, bounds.min, bounds.max).astype("float64")
        if node.op == "dequantize":
            return (x - node.zero) * node.scale + node.shift
        if node.op == "table":
            return node.values[x.astype(node.input.dtype).view("uint8")].astype("float64")
        if node.op == "affine":
            return x * node.scale + node.shift
        if node.op == "clip":
            return numpy.clip(x, node.low, node.high)
        return FUNCTIONS[node.function](x) if node.op == "unary" else BINARY.get(node.function, no_values)(x, *others)


def no_values(*_):
    return None


def sources_of(node):
    """Nodes of 8 bits that a node is perhaps a function of, the nearest first."""
    found, seen, todo = [], {node}, [node]
    while todo:
        one = todo.pop(0)
        for of in one.inputs:
            if of in seen or of.shape != node.shape:
                continue
            seen.add(of)
            if of.dtype in SMALL and not of.is_constant():
                found.append(of)
            if of.op in COSTS or of.op == "unary":
                todo.append(of)
    return found


@rule("function-of-bytes-to-table", "quantize", last=True)
def function_to_table(graph, node):
    """Operators between an integer of 8 bits and another: a table of 256, if they take longer than it does."""
    for source in reversed(sources_of(node)):
        function = OfBytes(source)
        values = function.values(node)
        if values is not None and function.cost > LOOKUP:
            return Node("table", [source], node.shape, node.dtype, {"values": values.astype(node.dtype)})
    return None


# ---- what is not computed in integers


@rule("weights-to-float", "dequantize", last=True)
def weights_to_float(graph, node):
    if not node.input.is_constant():
        return None
    along = [-1 if axis == node.axis else 1 for axis in range(len(node.shape))]
    scale, zero, shift = (
        numpy.reshape(one, along) if numpy.ndim(one) else one for one in (node.scale, node.zero, node.shift)
    )
    value = (node.input.value.astype("int32") - zero).astype("float32") * scale + shift
    return constant(value, "float32")


@rule("dequantize-for-each-reader", "dequantize", last=True)
def dequantize_for_each_reader(graph, node):
    """So that readers load 8 bits and not 32."""
    if node.input.dtype in SMALL and not node.input.is_constant() and len(set(graph.readers(node))) > 1:
        graph.split(node)
    return None
