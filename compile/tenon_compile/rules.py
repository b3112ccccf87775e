# SPDX-License-Identifier: MIT
"""Rules that rewrite a graph of nodes, by name.

A rule gets a graph and a node of the operator it is for, and returns the node that replaces it, or None. Rules look at
operators, constants and shapes only; each holds for any network. They are applied until none changes anything, so
their order does not matter, except that a network's spelling is first made the one that other rules look for.

"affine" is x * scale + shift, with a number for both, or a vector along one axis.
"""

import math
from collections import Counter

import numpy

from .graph import Node, constant, is_cast

RULES = {}  # by operator: pairs of a name and a function
LAST_RULES = {}  # the same of rules that wait until no other changes anything


def rule(name, *operators, last=False):
    def add(function):
        for operator in operators:
            (LAST_RULES if last else RULES).setdefault(operator, []).append((name, function))
        return function

    return add


def rewrite(graph, only=None):
    """Apply rules (all, or those named) until nothing changes; how often each was applied."""
    applied = Counter()
    while apply_rules(graph, RULES, only, applied) or apply_rules(graph, LAST_RULES, only, applied):
        pass
    return applied


def apply_rules(graph, rules, only, applied):
    """Apply rules to each node once; whether any was applied."""
    changed = False
    for node in graph.nodes():
        if node not in graph:
            continue  # a rule removed it meanwhile
        for name, function in rules.get(node.op, ()):
            if only and name not in only:
                continue
            new = function(graph, node)
            if new is not None:
                graph.replace(node, new)
                applied[name] += 1
                changed = True
                break
    return changed


# ---- parts of patterns


def is_float(node):
    return node.dtype == "float32"


def unary(function, x):
    return Node("unary", [x], x.shape, x.dtype, {"function": function})


def affine(x, scale, shift, axis=None):
    return Node("affine", [x], x.shape, x.dtype, {"scale": scale, "shift": shift, "axis": axis})


def is_unary(node, function):
    return node.op == "unary" and node.function == function


def is_binary(node, function):
    return node.op == "binary" and node.function == function


def is_affine(node, scale, shift):
    close = node.op == "affine" and node.axis is None
    return (
        close
        and math.isclose(node.scale, scale, rel_tol=1e-5)
        and math.isclose(node.shift, shift, rel_tol=1e-5, abs_tol=1e-7)
    )


def is_clip(node, low, high):
    return node.op == "clip" and node.low == low and node.high == high


def operands(node):
    """Both orders of the inputs of an operator that commutes."""
    a, b = node.inputs
    return ((a, b), (b, a))


def reshape(x, shape):
    return Node("reshape", [x], shape, x.dtype)


def transpose(x, axes):
    return Node("transpose", [x], [x.shape[axis] for axis in axes], x.dtype, {"axes": list(axes)})


def spread(value, extent):
    """A number, or a vector, as a vector."""
    return numpy.broadcast_to(numpy.asarray(value, "float32"), (extent,))


PLAIN_TYPES = ("float32", "int32", "int64")  # to these, NumPy makes numbers of whole ones as everybody does

# ---- what does nothing


@rule("drop-identity", "reshape", "broadcast", "slice")
def drop_same_shape(graph, node):
    return node.input if node.input.shape == node.shape else None


@rule("drop-identity", "transpose")
def drop_same_order(graph, node):
    moved = [axis for axis in node.axes if node.shape[node.axes.index(axis)] > 1]
    if moved == sorted(moved):
        return reshape(node.input, node.shape)
    return None


@rule("drop-identity", "reduce")
def drop_single_element(graph, node):
    """A sum, mean, maximum or minimum of one element."""
    return reshape(node.input, node.shape) if node.input.elements == node.elements else None


@rule("drop-identity", "affine")
def drop_neutral_affine(graph, node):
    return node.input if numpy.all(node.scale == 1) and numpy.all(node.shift == 0) else None


@rule("merge-reshapes", "reshape")
def merge_reshapes(graph, node):
    return reshape(node.input.input, node.shape) if node.input.op == "reshape" else None


@rule("merge-transposes", "transpose")
def merge_transposes(graph, node):
    if node.input.op != "transpose":
        return None
    return transpose(node.input.input, [node.input.axes[axis] for axis in node.axes])


@rule("fold-constant", "reshape", "broadcast", "transpose")
def fold_constant(graph, node):
    if not node.input.is_constant():
        return None
    value = node.input.value
    if node.op == "transpose":
        return constant(numpy.ascontiguousarray(value.transpose(node.axes)))
    return constant(
        value.reshape(node.shape)
        if node.op == "reshape"
        else numpy.ascontiguousarray(numpy.broadcast_to(value, node.shape))
    )


@rule("fold-constant", "call", "binary")
def fold_arithmetic(graph, node):
    """What TVM leaves of constants: other types of numbers, and their sums and products."""
    if not node.inputs or not all(one.is_constant() for one in node.inputs):
        return None
    values = [one.value for one in node.inputs]
    if node.op == "call":
        whole = node.name == "relax.astype" and values[0].dtype.kind in "iu" and node.dtype in PLAIN_TYPES
        return constant(values[0], node.dtype) if whole else None
    if node.function not in ("add", "subtract", "multiply"):
        return None
    return constant(numpy.asarray(getattr(numpy, node.function)(*values), node.dtype))


@rule("broadcast-in-operator", "binary")
def broadcast_in_operator(graph, node):
    """Operators of two inputs broadcast by themselves."""
    inputs = [one.input if one.op == "broadcast" else one for one in node.inputs]
    if inputs == node.inputs or numpy.broadcast_shapes(*(one.shape for one in inputs)) != node.shape:
        return None
    return node.like(inputs)


@rule("keep-reduced-axes", "reduce")
def keep_reduced_axes(graph, node):
    if node.keep:
        return None
    shape = [1 if axis in node.axes else extent for axis, extent in enumerate(node.input.shape)]
    kept = Node("reduce", node.inputs, shape, node.dtype, {**node.attrs, "keep": True})
    return reshape(kept, node.shape)


@rule("reduce-before-moves", "reduce")
def reduce_before_reshape(graph, node):
    """Ahead of a reshape that only adds or drops axes of extent 1: the operator before it may have channels last."""
    move = node.input
    if move.op != "reshape" or not node.keep or not graph.single(move):
        return None
    before, after = (
        [axis for axis, extent in enumerate(shape) if extent != 1] for shape in (move.input.shape, move.shape)
    )
    if [move.input.shape[axis] for axis in before] != [move.shape[axis] for axis in after]:
        return None
    where = dict(zip(after, before))
    axes = sorted(where[axis] for axis in node.axes if axis in where)
    shape = [1 if axis in axes else extent for axis, extent in enumerate(move.input.shape)]
    return reshape(Node("reduce", [move.input], shape, node.dtype, {**node.attrs, "axes": axes}), node.shape)


# ---- affine


@rule("batch-norm-to-affine", "batch_norm")
def batch_norm_to_affine(graph, node):
    if not all(one.is_constant() for one in node.inputs[1:5]):
        return None
    gamma, beta, mean, variance = (one.value.astype("float64") for one in node.inputs[1:5])
    scale = (gamma if node.scale else 1) / numpy.sqrt(variance + node.epsilon)
    shift = (beta if node.center else 0) - mean * scale
    return affine(node.input, scale.astype("float32"), shift.astype("float32"), node.axis % len(node.shape))


def along_one_axis(x, operand):
    """A constant operand of x as a number, or as a vector along one axis; None if it is neither."""
    if not operand.is_constant() or not is_float(operand):
        return None
    number = operand.scalar()
    if number is not None:
        return number, None
    shape = (1,) * (len(x.shape) - len(operand.shape)) + operand.shape
    long = [axis for axis, extent in enumerate(shape) if extent != 1]
    if len(long) != 1 or shape[long[0]] != x.shape[long[0]]:
        return None
    return operand.value.reshape(-1), long[0]


@rule("constant-operand-to-affine", "binary")
def constant_operand(graph, node):
    if not is_float(node) or node.function not in ("add", "subtract", "multiply", "divide"):
        return None
    for second, (x, operand) in enumerate(operands(node)):
        if x.is_constant() or x.shape != node.shape or (second and node.function == "divide"):
            continue
        found = along_one_axis(x, operand)
        if found is None:
            continue
        value, axis = found
        if node.function == "subtract":
            return affine(x, -1.0, value, axis) if second else affine(x, 1.0, -value, axis)
        if node.function == "add":
            return affine(x, 1.0, value, axis)
        if node.function == "divide" and numpy.any(value == 0):
            continue
        return affine(x, value if node.function == "multiply" else 1 / value, 0.0, axis)
    return None


@rule("negative-to-affine", "unary")
def negative_to_affine(graph, node):
    return affine(node.input, -1.0, 0.0) if node.function == "negative" and is_float(node) else None


@rule("merge-affines", "affine")
def merge_affines(graph, node):
    inner = node.input
    if (
        inner.op != "affine"
        or not graph.single(inner)
        or (None not in (node.axis, inner.axis) and node.axis != inner.axis)
    ):
        return None
    axis = inner.axis if node.axis is None else node.axis
    return affine(inner.input, inner.scale * node.scale, inner.shift * node.scale + node.shift, axis)


@rule("affine-into-weights", "affine")
def affine_into_weights(graph, node):
    x = node.input
    if (
        x.op not in ("conv2d", "conv2d_transpose", "dense")
        or not graph.single(x)
        or not all(one.is_constant() for one in x.inputs[1:])
    ):
        return None
    channel = 1 if x.op != "dense" else len(x.shape) - 1
    if node.axis not in (None, channel) or (x.op == "conv2d_transpose" and x.groups != 1):
        return None
    channels = x.shape[channel]
    scale, shift = spread(node.scale, channels), spread(node.shift, channels)
    weights = x.inputs[1].value
    along = [1] * weights.ndim
    along[1 if x.op == "conv2d_transpose" else 0] = -1
    bias = x.inputs[2].value.reshape(-1) if len(x.inputs) > 2 else 0
    return x.like([x.input, constant(weights * scale.reshape(along)), constant(bias * scale + shift, "float32")])


@rule("affine-into-layer-norm", "affine")
def affine_into_layer_norm(graph, node):
    x = node.input
    last = len(node.shape) - 1
    if (
        x.op != "layer_norm"
        or not graph.single(x)
        or node.axis not in (None, last)
        or not all(one.is_constant() for one in x.inputs[1:])
    ):
        return None
    scale, shift = spread(node.scale, node.shape[last]), spread(node.shift, node.shape[last])
    return x.like([x.input, constant(x.inputs[1].value * scale), constant(x.inputs[2].value * scale + shift)])


def axis_before_reshape(before, after, axis):
    """The axis of a reshape's input that is an axis of its output; None if it was split or merged."""
    behind = math.prod(after[axis + 1 :])
    for candidate, extent in enumerate(before):
        if extent == after[axis] and math.prod(before[candidate + 1 :]) == behind:
            return candidate
    return None


@rule("affine-before-moves", "affine")
def affine_before_moves(graph, node):
    """Ahead of a reshape or transpose, if that brings it to an operator that takes it in."""
    move, axis, scale, shift = node.input, node.axis, node.scale, node.shift
    if move.op not in ("reshape", "transpose") or not graph.single(move) or move.input.is_constant():
        return None
    if axis is not None and move.op == "transpose":
        axis = move.axes[axis]
    elif axis is not None:
        before, after = move.input.shape, move.shape
        extent, behind = after[axis], math.prod(after[axis + 1 :])
        axis = axis_before_reshape(before, after, axis)
        if axis is None:
            # channels that a reshape takes apart: each value is repeated
            for candidate, whole in enumerate(before):
                if whole % extent == 0 and math.prod(before[candidate + 1 :]) * (whole // extent) == behind:
                    axis = candidate
                    repeat = whole // extent
                    scale = numpy.repeat(spread(scale, extent), repeat)
                    shift = numpy.repeat(spread(shift, extent), repeat)
                    break
            else:
                return None
    return move.like([affine(move.input, scale, shift, axis)])


@rule("elementwise-before-moves", "unary", "clip")
def elementwise_before_moves(graph, node):
    move = node.input
    if move.op not in ("reshape", "transpose") or not graph.single(move):
        return None
    return move.like([Node(node.op, [move.input], move.input.shape, node.dtype, node.attrs)])


# ---- functions in several operators


@rule("relu", "clip")
def clip_to_relu(graph, node):
    return unary("relu", node.input) if (node.low, node.high) == (0.0, math.inf) and is_float(node) else None


@rule("relu", "binary")
def maximum_to_relu(graph, node):
    if node.function != "maximum" or not is_float(node):
        return None
    for x, bound in operands(node):
        if bound.scalar() == 0.0 and x.shape == node.shape:
            return unary("relu", x)
    return None


@rule("maximum-of-stack", "reduce")
def maximum_of_stack(graph, node):
    """The way in which TVM imports Max: a stack of its operands, and a maximum over the new axis."""
    stack = node.input
    if node.function != "max" or stack.op != "call" or stack.name != "relax.stack":
        return None
    axis = int(stack.call.attrs.axis)
    if node.axes != [axis % len(stack.shape)]:
        return None
    result = stack.inputs[0]
    for other in stack.inputs[1:]:
        if other.scalar() == -math.inf:
            continue
        if result.scalar() == -math.inf:
            result = other
            continue
        result = Node("binary", [result, other], stack.inputs[0].shape, node.dtype, {"function": "maximum"})
    return reshape(result, node.shape)


@rule("hard-swish", "binary", "affine")
def hard_swish(graph, node):
    """x * clip(x + 3, 0, 6) / 6 with the division inside or last, and x * clip(x / 6 + 0.5, 0, 1)"""
    product = node.input if node.op == "affine" and is_affine(node, 1 / 6, 0) else node
    if not is_binary(product, "multiply") or (product is not node and not graph.single(product)):
        return None
    for x, gate in operands(product):
        if x.shape != gate.shape or not is_float(x):
            continue
        if product is node and is_clip(gate, 0, 1) and is_affine(gate.input, 1 / 6, 0.5) and gate.input.input is x:
            return unary("hard_swish", x)
        if product is node:
            if not is_affine(gate, 1 / 6, 0):
                continue
            gate = gate.input
        if is_clip(gate, 0, 6) and is_affine(gate.input, 1, 3) and gate.input.input is x:
            return unary("hard_swish", x)
    return None


@rule("silu", "binary")
def silu(graph, node):
    if node.function != "multiply":
        return None
    for x, gate in operands(node):
        if is_unary(gate, "sigmoid") and gate.input is x and is_float(x):
            return unary("silu", x)
    return None


def cube_of(node, x):
    """Whether a node is x * x * x."""
    if is_binary(node, "power"):
        return node.inputs[0] is x and node.inputs[1].scalar() == 3.0
    if not is_binary(node, "multiply"):
        return False
    return any(a is x and is_binary(b, "multiply") and b.inputs == [x, x] for a, b in operands(node))


def tanh_argument(node, x):
    """Whether a node is 0.79788 * (x + 0.044715 * x³)."""
    if not is_affine(node, math.sqrt(2 / math.pi), 0) or not is_binary(node.input, "add"):
        return False
    for a, b in operands(node.input):
        if a is not x:
            continue
        if is_affine(b, 0.044715, 0) and cube_of(b.input, x):
            return True
        if is_binary(b, "multiply"):  # the constant at one of the factors
            factors = []
            stack = [b]
            while stack:
                one = stack.pop()
                if is_binary(one, "multiply"):
                    stack += one.inputs
                elif one is not x and is_affine(one, 0.044715, 0):
                    factors.append(0.044715)
                    stack.append(one.input)
                else:
                    factors.append(one)
            if (
                factors.count(0.044715) == 1
                and len(factors) == 4
                and all(f is x for f in factors if not isinstance(f, float))
            ):
                return True
    return False


def gelu_gate(node, x):
    """The name of GELU whose factor a node is: 1 + erf(x / √2), 1 + tanh(…); and by what it was multiplied."""
    if node.op != "affine" or node.axis is not None or not math.isclose(node.scale, node.shift, rel_tol=1e-5):
        return None
    if is_unary(node.input, "erf") and is_affine(node.input.input, math.sqrt(0.5), 0) and node.input.input.input is x:
        return "gelu", node.scale
    if is_unary(node.input, "tanh") and tanh_argument(node.input.input, x):
        return "gelu_tanh", node.scale
    return None


@rule("gelu", "binary", "affine")
def gelu(graph, node):
    """x * 0.5 * (1 + erf(x / √2)), or with tanh, with the factor 0.5 at any of the places"""
    product, factor = node, 1.0
    if node.op == "affine":
        if node.axis is not None or node.shift != 0 or not graph.single(node.input):
            return None
        product, factor = node.input, node.scale
    if not is_binary(product, "multiply"):
        return None
    for x, gate in operands(product):
        scaled = factor
        if x.op == "affine" and x.axis is None and x.shift == 0:
            x, scaled = x.input, factor * x.scale
        found = gelu_gate(gate, x) if is_float(x) else None
        if found and math.isclose(scaled * found[1], 0.5, rel_tol=1e-5):
            return unary(found[0], x)
    return None


@rule("square", "binary")
def square(graph, node):
    if node.function == "power" and node.inputs[1].scalar() == 2.0 and node.input.shape == node.shape:
        return Node("binary", [node.input, node.input], node.shape, node.dtype, {"function": "multiply"})
    return None


@rule("layer-norm", "binary")
def layer_norm(graph, node):
    """(x - mean(x)) / sqrt(mean((x - mean(x))²) + epsilon), over the last axis"""
    if node.function != "divide" or not is_binary(node.inputs[0], "subtract") or not is_unary(node.inputs[1], "sqrt"):
        return None
    centred, variance = node.inputs[0], node.inputs[1].input
    x, mean = centred.inputs
    last = [len(node.shape) - 1]

    def is_mean(one, of):
        return one.op == "reduce" and one.function == "mean" and one.axes == last and one.keep and one.input is of

    if variance.op != "affine" or variance.axis is not None or variance.scale != 1 or not is_mean(mean, x):
        return None
    squares = variance.input.input if variance.input.op == "reduce" else None
    if (
        squares is None
        or not is_binary(squares, "multiply")
        or squares.inputs != [centred, centred]
        or not is_mean(variance.input, squares)
    ):
        return None
    extent = node.shape[-1]
    weights = constant(numpy.ones(extent, "float32")), constant(numpy.zeros(extent, "float32"))
    return Node("layer_norm", [x, *weights], node.shape, node.dtype, {"epsilon": float(variance.shift)})


# ---- products


@rule("one-hot-to-take", "matmul")
def one_hot_to_take(graph, node):
    """A one-hot vector times a matrix: a row of the matrix."""
    hot, table = node.inputs
    if not table.is_constant() or len(table.shape) != 2 or not is_cast(hot):
        return None
    equal = hot.input
    if equal.op != "call" or equal.name != "relax.equal":
        return None
    inputs = [one.input if one.op == "broadcast" else one for one in equal.inputs]
    for index, numbers in (inputs, inputs[::-1]):
        counts = numbers.is_constant() and numpy.array_equal(numbers.value.reshape(-1), numpy.arange(table.shape[0]))
        if (
            counts
            and numbers.shape[-1] == table.shape[0]
            and index.shape[-1] == 1
            and index.shape[:-1] == node.shape[:-1]
        ):
            # an index outside of the table is a vector of zeros, which the last row holds
            rows = constant(numpy.vstack([table.value, numpy.zeros((1, table.shape[1]), table.value.dtype)]))
            return Node("take", [rows, reshape(index, node.shape[:-1])], node.shape, node.dtype)
    return None


@rule("matmul-to-dense", "matmul")
def matmul_to_dense(graph, node):
    """A product with constant weights: one of two dimensions."""
    x, weights = node.inputs
    if not weights.is_constant() or len(weights.shape) != 2 or len(x.shape) < 2 or not is_float(node):
        return None
    rows = math.prod(x.shape[:-1])
    transposed = constant(numpy.ascontiguousarray(weights.value.T))
    dense = Node("dense", [reshape(x, (rows, x.shape[-1])), transposed], (rows, weights.shape[1]))
    return reshape(dense, node.shape)


def take_of(node, rows):
    return node.input.like([constant(rows.astype("float32")), node.input.inputs[1]])


@rule("function-into-table", "unary", "affine")
def function_into_table(graph, node):
    """A function of rows of a table: rows of another table."""
    take = node.input
    if take.op != "take" or not graph.single(take) or not is_float(take):
        return None
    rows = take.inputs[0].value.astype("float64")
    if node.op == "affine":
        if node.axis not in (None, len(node.shape) - 1):
            return None
        return take_of(node, rows * node.scale + node.shift)
    functions = {
        "relu": lambda x: numpy.maximum(x, 0),
        "tanh": numpy.tanh,
        "gelu_tanh": lambda x: 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        "gelu": lambda x: 0.5 * x * (1 + numpy.vectorize(math.erf)(x / math.sqrt(2))),
    }
    return take_of(node, functions[node.function](rows)) if node.function in functions else None


# ---- convolutions


@rule("transposed-convolution-without-overlap", "conv2d_transpose")
def transposed_convolution(graph, node):
    """A transposed convolution whose windows do not overlap: a 1 x 1 convolution, and its channels go beside each other."""
    x, weights = node.inputs[:2]
    if (
        not all(one.is_constant() for one in node.inputs[1:])
        or node.groups != 1
        or any(node.padding)
        or any(node.output_padding)
    ):
        return None
    inputs, outputs, height, width = weights.shape
    if node.strides != [height, width] or node.dilation != [1, 1]:
        return None
    n, _, rows, columns = x.shape
    each = constant(numpy.ascontiguousarray(weights.value.transpose(2, 3, 1, 0).reshape(-1, inputs, 1, 1)))
    bias = [constant(numpy.tile(node.inputs[2].value.reshape(-1), height * width))] if len(node.inputs) > 2 else []
    how = {"strides": [1, 1], "padding": [0] * 4, "dilation": [1, 1], "groups": 1}
    product = Node("conv2d", [x, each, *bias], (n, outputs * height * width, rows, columns), node.dtype, how)
    return Node("depth_to_space", [product], node.shape, node.dtype, {"block": [height, width]})


@rule("elementwise-before-moves", "unary", "clip", "affine")
def elementwise_before_depth_to_space(graph, node):
    space = node.input
    if space.op != "depth_to_space" or not graph.single(space):
        return None
    if node.op != "affine":
        return space.like([Node(node.op, space.inputs, space.input.shape, node.dtype, node.attrs)])
    if node.axis not in (None, 1):
        return None
    repeat = space.input.shape[1] // space.shape[1]
    scale, shift = (numpy.tile(spread(value, space.shape[1]), repeat) for value in (node.scale, node.shift))
    return space.like([affine(space.input, scale, shift, 1)])


@rule("column-convolution-to-row", "conv2d")
def column_to_row(graph, node):
    """A convolution along a single column: along a row, so that neighbours are computed together."""
    x, weights = node.inputs[:2]
    if (
        x.shape[3] != 1
        or node.shape[3] != 1
        or node.shape[2] == 1
        or weights.shape[3] != 1
        or not weights.is_constant()
    ):
        return None

    def turned(shape):
        return (shape[0], shape[1], shape[3], shape[2])

    top, left, bottom, right = node.padding
    how = {
        "strides": node.strides[::-1], "dilation": node.dilation[::-1], "padding": [left, top, right, bottom],
        "groups": node.groups,
    }  # fmt: skip
    row = constant(numpy.ascontiguousarray(weights.value.transpose(0, 1, 3, 2)))
    inputs = [reshape(x, turned(x.shape)), row, *node.inputs[2:]]
    return reshape(Node("conv2d", inputs, turned(node.shape), node.dtype, how), node.shape)
