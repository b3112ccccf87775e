# SPDX-License-Identifier: MIT
"""From a graph of nodes back to a function of Relax, with channels last.

A value of four dimensions can be held in two orders: plain, as the network has it (NCHW), and with channels last
(NHWC), in which the schedules compute convolutions along rows of channels. Each is made of the other when an operator
asks for it: the transposes that are left are those between operators that want different orders.
"""

import hashlib
import math
from dataclasses import replace

import numpy
from tvm import relax
from tvm.relax import op

from . import integer_kernels, kernels
from .dot_products import dot_for
from .graph import TO_LAST
from .kernels import choose_depthwise_tile, choose_tile, depthwise_tiles_for, filled_tiles_for, pack, tiles_for
from .pairs import depthwise_in_pair, pairs_of, tile_in_pair
from .relax_graph import UNARY_NAMES, UNARY_NN_NAMES, Slot
from .tuning import kernel_of

FROM_LAST = (0, 3, 1, 2)
AXIS_IN_LAST = (0, 3, 1, 2)  # where an axis of NCHW is in NHWC

UNARY = {name: getattr(op, name) for name in UNARY_NAMES} | {name: getattr(op.nn, name) for name in UNARY_NN_NAMES}


def in_last(shape):
    return [shape[axis] for axis in TO_LAST]


def moves_nothing(shape):
    """Whether NCHW and NHWC are the same bytes."""
    return shape[1] == 1 or shape[2] * shape[3] == 1


def number(value):
    return relax.const(float(value), "float32")


INJECTIVE = 2  # a kind of TVM's: it is not fused behind products, whose tiles would look up one element at a time
ELEMENTWISE = "tenon.elementwise"  # of a function that TVM takes for another kind
FEW = 4  # channels of a picture that convolutions read as it is, without a copy that has channels last
MOVES = ("reshape", "transpose")  # emitted when they are asked for, in the order that is asked for


def source_of(node):
    """Where the elements of a node come from, through transposes and reshapes that only add or drop axes of extent 1.

    With it, for each axis of the node, the axis of the source; None for an extent of 1.
    """
    axes = [axis if extent != 1 else None for axis, extent in enumerate(node.shape)]
    while node.op in MOVES:
        if node.op == "transpose":
            axes = [None if axis is None else node.axes[axis] for axis in axes]
        else:
            before = [axis for axis, extent in enumerate(node.input.shape) if extent != 1]
            after = [axis for axis, extent in enumerate(node.shape) if extent != 1]
            if [node.input.shape[axis] for axis in before] != [node.shape[axis] for axis in after]:
                break
            where = dict(zip(after, before))
            axes = [None if axis is None else where[axis] for axis in axes]
        node = node.input
    return node, axes


class Emitter:
    """Writes the nodes of a graph with a BlockBuilder; plain and last hold the values in both orders."""

    def __init__(self, builder, vectors, apart, tuned, pairs):
        self.builder, self.vectors = builder, vectors
        self.pairs = pairs  # convolutions that become one kernel, by each of them
        self.tuned = tuned  # tiles that were timed; None: those that are chosen by their sizes
        self.apart = apart  # arrays of more elements become parameters of the function; None: all are constants
        self.parameters = {}  # those: a variable and an array of each name
        self.arrays = {}  # what stands for an array, by shape, type and digest
        self._plain, self._last = {}, {}

    def emit(self, expression):
        return self.builder.emit(expression)

    def array(self, value):
        """A constant, or a parameter; one that has been emitted is not emitted again."""
        value = numpy.ascontiguousarray(value)
        key = value.shape, value.dtype.str, hashlib.blake2b(value).digest()
        if key not in self.arrays:
            self.arrays[key] = self.new_array(value)
        return self.arrays[key]

    def new_array(self, value):
        if self.apart is None or value.size <= self.apart:
            return relax.const(value, str(value.dtype))
        name = f"weights{len(self.parameters)}"
        variable = relax.Var(name, relax.TensorType(value.shape, str(value.dtype)))
        self.parameters[name] = variable, value
        return variable

    # ---- values

    def plain(self, node):
        if node not in self._plain:
            if node.is_constant():
                value = self.array(node.value) if node.shape else relax.const(node.value.item(), node.dtype)
            elif node.op in MOVES:
                value = self.emit(self.moved(node, last=False))
            else:
                last = self._last[node]
                same = moves_nothing(node.shape)
                value = self.emit(op.reshape(last, node.shape) if same else op.permute_dims(last, list(FROM_LAST)))
            self._plain[node] = value
        return self._plain[node]

    def last(self, node):
        if node not in self._last:
            if node.is_constant():
                value = self.array(node.value.transpose(TO_LAST))
            elif node.op in MOVES:
                value = self.emit(self.moved(node, last=True))
            else:
                plain = self.plain(node)
                same = moves_nothing(node.shape)
                value = self.emit(
                    op.reshape(plain, in_last(node.shape)) if same else op.permute_dims(plain, list(TO_LAST))
                )
            self._last[node] = value
        return self._last[node]

    def moved(self, node, last):
        """A reshape or transpose: a reshape alone if the bytes are held in this order already."""
        source, axes = source_of(node)
        if source is not node and source not in self._plain and source not in self._last:
            self.plain(source)
        wanted = [axes[axis] for axis in (TO_LAST if last else range(len(axes))) if axes[axis] is not None]
        shape = in_last(node.shape) if last else node.shape
        for held, order in ((self._plain, range(len(source.shape))), (self._last, TO_LAST)):
            if source in held and [axis for axis in order if axis in wanted] == wanted:
                return op.reshape(held[source], shape)
        if last:
            return op.permute_dims(self.plain(node), list(TO_LAST))
        if node.op == "transpose":
            return op.permute_dims(self.plain(node.input), node.axes)
        return op.reshape(self.plain(node.input), node.shape)

    def wants_last(self, node):
        """Whether an operator that takes both orders is computed with channels last: if an input already is."""
        others = [one for one in node.inputs if one.shape]
        four = all(len(one.shape) == 4 for one in [node, *others])
        return four and any(one in self._last for one in others if not one.is_constant())

    def both_orders(self, node):
        """A function that gives inputs in the order in which a node is computed, and whether that is NHWC."""
        if not self.wants_last(node):
            return self.plain, False
        return lambda one: self.last(one) if one.shape else self.plain(one), True

    # ---- operators: each returns the value, and whether it has channels last

    def call(self, node):
        def arguments(template):
            if isinstance(template, Slot):
                return self.plain(node.inputs[template.number])
            if isinstance(template, list):
                return relax.Tuple([arguments(one) for one in template])
            return template

        kept = node.call
        return relax.Call(kept.op, [arguments(one) for one in node.arguments], kept.attrs, kept.ty_args), False

    def unary(self, node):
        get, last = self.both_orders(node)
        x = get(node.input)
        if node.function in PARTS and node.dtype == "float32":
            return PARTS[node.function](self, x), last
        return UNARY[node.function](x), last

    # functions in parts: TVM has vectors of exp, erf and tanh for those that stand alone, in 32 bits

    def hard_swish(self, x):
        gate = self.emit(op.clip(self.emit(op.add(x, number(3))), 0, 6))
        return op.multiply(x, self.emit(op.multiply(gate, number(1 / 6))))

    def one_and_exp(self, x):
        return self.emit(op.add(self.emit(op.exp(self.emit(op.negative(x)))), number(1)))

    def sigmoid(self, x):
        return op.divide(number(1), self.one_and_exp(x))

    def silu(self, x):
        return op.divide(x, self.one_and_exp(x))

    def half_of_one_and(self, value, x):
        return op.multiply(self.emit(op.add(self.emit(value), number(1))), self.emit(op.multiply(x, number(0.5))))

    def gelu(self, x):
        return self.half_of_one_and(op.erf(self.emit(op.multiply(x, number(math.sqrt(0.5))))), x)

    def gelu_tanh(self, x):
        scale = math.sqrt(2 / math.pi)
        square = self.emit(op.multiply(self.emit(op.multiply(x, x)), number(scale * 0.044715)))
        return self.half_of_one_and(op.tanh(self.emit(op.multiply(self.emit(op.add(square, number(scale))), x))), x)

    def clip(self, node):
        get, last = self.both_orders(node)
        return op.clip(get(node.input), node.low, node.high), last

    def cast(self, node):
        get, last = self.both_orders(node)
        return op.astype(get(node.input), node.dtype), last

    def binary(self, node):
        get, last = self.both_orders(node)
        return getattr(op, node.function)(*(get(one) for one in node.inputs)), last

    def affine(self, node):
        get, last = self.both_orders(node)
        x = get(node.input)
        shape = [1] * len(node.shape)
        if node.axis is not None:
            shape[AXIS_IN_LAST[node.axis] if last else node.axis] = -1

        def operand(value):
            return (
                number(value) if numpy.ndim(value) == 0 else self.array(numpy.asarray(value, "float32").reshape(shape))
            )

        if numpy.any(numpy.asarray(node.scale) != 1):
            x = op.multiply(x, operand(node.scale))
            if numpy.all(numpy.asarray(node.shift) == 0):
                return x, last
            x = self.emit(x)
        return op.add(x, operand(node.shift)), last

    def conv2d(self, node):
        x, weights = node.inputs[:2]
        each = node.groups == node.shape[1] == x.shape[1] and weights.shape[1] == 1 and node.groups > 1
        if not weights.is_constant() or (node.groups != 1 and not each):
            how = {name: node.attrs[name] for name in ("strides", "padding", "dilation", "groups")}
            value = op.nn.conv2d(self.plain(x), self.plain(weights), **how)
            return self.with_bias(value, node, [1, -1, 1, 1]), False
        how = in_last(node.shape), node.strides, node.padding, node.dilation
        if node in self.pairs:
            return self.in_pair(node, *self.pairs[node], how), True
        _, channels, rows, columns = node.shape
        if each:
            kernel = self.array(weights.value.transpose(2, 3, 0, 1)[..., 0])
            picture, shape = self.last(x), in_last(x.shape)
            if any(node.padding) and not self.vectors.conditions:
                picture, shape, how = self.padded(picture, shape, *how)
            tiles = depthwise_tiles_for(columns, channels, self.vectors, rows)
            tile = self.tile("depthwise_conv2d", shape, weights.shape, how, tiles)
            value = self.kernel(kernels.depthwise_conv2d, picture, kernel, *how, tile)
            return self.with_bias(value, node, [1, 1, 1, -1]), True
        fill, tiles = filled_tiles_for(columns, channels, self.vectors, math.prod(weights.shape[1:]), rows)
        filled = numpy.pad(weights.value, ((0, fill), (0, 0), (0, 0), (0, 0))) if fill else weights.value
        shape = [*how[0][:3], channels + fill]
        tile = self.tile("conv2d", in_last(x.shape), filled.shape, (shape, *how[1:]), tiles)
        source, planar = self.picture(x)
        value = self.kernel(kernels.conv2d, source, self.array(pack(filled, tile)), shape, *how[1:], tile, planar)
        if fill:
            value = op.strided_slice(self.emit(value), [3], [0], [channels])
        return self.with_bias(value, node, [1, 1, 1, -1]), True

    def picture(self, x):
        """What a convolution reads, and whether it has channels first.

        It multiplies each element by a vector of weights, so it does not matter where the neighbours are; a copy takes time.
        """
        held = x in self._plain and x not in self._last and x.op not in MOVES
        planar = held and x.shape[1] <= FEW and not self.vectors.threads
        return self.plain(x) if planar else self.last(x), planar

    def in_pair(self, node, first, second, how):
        """One of two convolutions that become one kernel: TVM takes the second for one that it fuses behind the first."""
        tile, weights = tile_in_pair(first, self.vectors), node.inputs[1].value
        if node is first:
            x, planar = self.picture(node.input)
            around = second.padding[0], second.padding[2]
            value = self.kernel(kernels.conv2d, x, self.array(pack(weights, tile)), *how, tile, planar, around)
        else:
            weights = self.array(weights.transpose(2, 3, 0, 1)[..., 0])
            value = self.kernel(depthwise_in_pair, self.last(node.input), weights, *how, tile, attrs={ELEMENTWISE: True})
        return self.with_bias(value, node, [1, 1, 1, -1])

    def padded(self, picture, extents, shape, strides, padding, dilation):
        """A copy with zeros around it, its shape, and how a convolution to a shape reads it."""
        top, left, bottom, right = padding
        copy = self.emit(op.nn.pad(picture, [0, 0, top, bottom, left, right, 0, 0]))
        n, high, wide, channels = extents
        extents = [n, top + high + bottom, left + wide + right, channels]
        return copy, extents, (shape, strides, [0, 0, 0, 0], dilation)

    def tile(self, name, source, weights, how, tiles):
        """The tile of a kernel: the first, unless another was faster."""
        return self.tuned.tile(kernel_of(name, source, weights, how), tiles) if self.tuned else tiles[0]

    def kernel(self, function, x, weights, *how, attrs=None):
        return self.builder.call_te(
            lambda a, b: function(a, b, *how), x, weights, primfunc_name_hint=function.__name__, primfunc_attrs=attrs
        )  # fmt: skip

    def with_bias(self, value, node, shape):
        if len(node.inputs) < 3:
            return value
        bias = node.inputs[2]
        if bias.is_constant():
            shift = self.array(bias.value.reshape(shape))
        else:
            shift = self.emit(op.reshape(self.plain(bias), [bias.elements if extent < 0 else 1 for extent in shape]))
        return op.add(self.emit(value), shift)

    def quantize(self, node):
        get, last = self.both_orders(node)
        value = self.builder.call_te(
            integer_kernels.quantize, get(node.input), node.scale, node.zero, node.dtype, primfunc_name_hint="quantize"
        )
        return value, last

    def dequantize(self, node):
        get, last = self.both_orders(node)
        shape = [1] * len(node.shape)
        if node.axis is not None:
            shape[AXIS_IN_LAST[node.axis] if last else node.axis] = -1

        def operand(value):
            value = numpy.asarray(value, "float32")
            if not value.ndim or (value == value[0]).all():
                return number(value.reshape(-1)[0])
            return self.array(value.reshape(shape))

        x = self.emit(op.astype(get(node.input), "float32"))
        if numpy.any(numpy.asarray(node.zero) != 0):
            x = self.emit(op.subtract(x, operand(node.zero)))
        x = op.multiply(x, operand(node.scale))
        return (op.add(self.emit(x), operand(node.shift)) if numpy.any(numpy.asarray(node.shift) != 0) else x), last

    def table(self, node):
        get, last = self.both_orders(node)
        return self.builder.call_te(
            integer_kernels.look_up, get(node.input), self.array(node.values), primfunc_name_hint="look_up",
            primfunc_attrs={"op_pattern": INJECTIVE},
        ), last  # fmt: skip

    def integer_product(self, function, x, node, shape, how=()):
        """A product of integers by constant weights OIHW; outputs are filled up to whole vectors."""
        weights = node.inputs[1].value
        dot = dot_for(self.vectors.dots, weights)
        weights = weights.reshape([*weights.shape, *[1] * (4 - weights.ndim)])
        channels = shape[-1]
        fill = -channels % dot.lanes if channels > dot.lanes and not self.vectors.threads else 0
        weights = numpy.pad(weights, ((0, fill), (0, 0), (0, 0), (0, 0)))
        rows = shape[1] if len(shape) == 4 else 1
        # a group of products is one, as a load of weights is
        depth = math.prod(weights.shape[1:]) // dot.group
        tile = choose_tile(shape[-2], channels + fill, replace(self.vectors, lanes=dot.lanes, sums=dot.sums), depth, rows)
        _, zero = integer_kernels.held(node.zero, node.input.dtype, dot)
        of_weights = self.array(weights.sum((1, 2, 3), dtype="int32") * zero) if zero else None
        packed = integer_kernels.pack(weights, tile, dot)
        packed = self.array(packed if len(shape) == 4 else packed[:, 0, 0])
        shape = [*shape[:-1], channels + fill]
        operands = [x, packed] + ([of_weights] if zero else [])
        value = self.builder.call_te(
            lambda a, b, c=None: function(a, b, c, node.zero, shape, *how, tile, dot),
            *operands, primfunc_name_hint=function.__name__,
        )  # fmt: skip
        return op.strided_slice(self.emit(value), [len(shape) - 1], [0], [channels]) if fill else value

    def integer_conv2d(self, node):
        x, weights = node.inputs
        how = node.strides, node.padding, node.dilation
        if node.groups == 1:
            value = self.integer_product(integer_kernels.integer_conv2d, self.last(x), node, in_last(node.shape), how)
            return value, True
        tile = choose_depthwise_tile(node.shape[3], node.shape[1], self.vectors, node.shape[2])
        packed = self.array(weights.value.transpose(2, 3, 0, 1)[..., 0].astype("int32"))
        shape = in_last(node.shape)
        value = self.builder.call_te(
            lambda a, b: integer_kernels.integer_depthwise_conv2d(a, b, node.zero, shape, *how, tile),
            self.last(x), packed, primfunc_name_hint="integer_depthwise_conv2d",
        )  # fmt: skip
        return value, True

    def integer_dense(self, node):
        return self.integer_product(integer_kernels.integer_dense, self.plain(node.input), node, node.shape), False

    def integer_sum(self, node):
        get, last = self.both_orders(node)
        axes = [AXIS_IN_LAST[axis] if last else axis for axis in node.axes]
        return self.builder.call_te(
            integer_kernels.integer_sum, get(node.input), node.zero, axes, primfunc_name_hint="integer_sum"
        ), last  # fmt: skip

    def integer_pool2d(self, node):
        how = node.zero, in_last(node.shape), node.size, node.strides, node.padding, node.dilation
        return self.builder.call_te(
            integer_kernels.integer_pool2d, self.last(node.input), *how, primfunc_name_hint="integer_pool2d"
        ), True  # fmt: skip

    def conv2d_transpose(self, node):
        how = {name: node.attrs[name] for name in ("strides", "padding", "output_padding", "dilation", "groups")}
        value = op.nn.conv2d_transpose(self.plain(node.input), self.plain(node.inputs[1]), **how)
        return self.with_bias(value, node, [1, -1, 1, 1]), False

    def depth_to_space(self, node):
        value = self.builder.call_te(
            kernels.depth_to_space, self.last(node.input), in_last(node.shape), node.block, primfunc_name_hint="depth_to_space"
        )
        return value, True

    def dense(self, node):
        """Columns of the weights are filled up to whole vectors."""
        weights = node.inputs[1].value
        rows, columns = node.shape
        bias = node.inputs[2].value if len(node.inputs) > 2 else None
        fill = -columns % self.vectors.lanes if columns > self.vectors.lanes else 0
        if fill:
            weights = numpy.pad(weights, ((0, fill), (0, 0)))
            bias = numpy.pad(bias, (0, fill)) if bias is not None else None
        tiles = tiles_for(rows, columns + fill, self.vectors, weights.shape[1])
        tile = self.tile("dense", node.input.shape, weights.shape, [(rows, columns + fill)], tiles)
        packed = pack(weights[:, :, None, None], tile)[:, 0, 0]
        value = self.kernel(kernels.dense, self.plain(node.input), self.array(packed), (rows, columns + fill), tile)
        if bias is not None:
            value = op.add(self.emit(value), self.array(bias))
        if fill:
            value = op.strided_slice(self.emit(value), [1], [0], [columns])
        return value, False

    def matmul(self, node):
        x, y = node.inputs
        rows, columns = node.shape[-2:] if len(node.shape) > 1 else (1, 1)
        tiled = x.shape[:-2] == y.shape[:-2] and node.dtype == "float32" and rows > 1 and columns % self.vectors.lanes == 0
        if not tiled or self.vectors.lanes == 1:
            return op.matmul(self.plain(x), self.plain(y)), False
        tile = choose_tile(rows, columns, self.vectors, x.shape[-1])
        return self.kernel(kernels.product, self.plain(x), self.plain(y), node.shape, tile), False

    def pool2d(self, node):
        function = op.nn.max_pool2d if node.kind == "max" else op.nn.avg_pool2d
        how = {"strides": node.strides, "padding": node.padding, "dilation": node.dilation, "ceil_mode": node.ceil_mode}
        return function(
            self.last(node.input), pool_size=node.size, layout="NHWC", count_include_pad=node.count_include_pad, **how
        ), True  # fmt: skip

    def reduce(self, node):
        get, last = self.both_orders(node)
        axes = [AXIS_IN_LAST[axis] if last else axis for axis in node.axes]
        return getattr(op, node.function)(get(node.input), axes, True), last

    def softmax(self, node):
        return op.nn.softmax(self.plain(node.input), axis=node.axis), False

    def layer_norm(self, node):
        return op.nn.layer_norm(*(self.plain(one) for one in node.inputs), axes=[-1], epsilon=node.epsilon), False

    def batch_norm(self, node):
        values = [self.plain(one) for one in node.inputs]
        how = {"axis": node.axis, "epsilon": node.epsilon, "center": node.center, "scale": node.scale, "training": False}
        return relax.TupleGetItem(self.emit(op.nn.batch_norm(*values, **how)), 0), False

    def concat(self, node):
        get, last = self.both_orders(node)
        return op.concat([get(one) for one in node.inputs], AXIS_IN_LAST[node.axis] if last else node.axis), last

    def resize_nearest(self, node):
        n, channels, rows, columns = node.input.shape
        height, width = node.shape[2] // rows, node.shape[3] // columns
        apart = self.emit(op.reshape(self.last(node.input), [n, rows, 1, columns, 1, channels]))
        repeated = self.emit(op.broadcast_to(apart, [n, rows, height, columns, width, channels]))
        return op.reshape(repeated, in_last(node.shape)), True

    def take(self, node):
        """An index outside of the table is that of its last row."""
        table, index = node.inputs
        last = table.shape[0] - 1
        flat = self.emit(op.reshape(self.plain(index), [index.elements]))
        negative = self.emit(op.less(flat, relax.const(0, index.dtype)))
        inside = self.emit(op.where(negative, relax.const(last, index.dtype), flat))
        rows = self.emit(op.take(self.plain(table), inside, axis=0, mode="clip"))
        return op.reshape(rows, node.shape), False

    def broadcast(self, node):
        return op.broadcast_to(self.plain(node.input), node.shape), False

    def slice(self, node):
        get, last = self.both_orders(node)
        order = TO_LAST if last else range(len(node.shape))
        begin = [node.begin[axis] for axis in order]
        end = [node.begin[axis] + node.shape[axis] for axis in order]
        return op.strided_slice(get(node.input), list(range(len(begin))), begin, end), last

    def region(self, node):
        """A function of oneDNN's."""
        types = [relax.TensorType(in_last(one.shape) if one.last else one.shape, one.dtype) for one in node.results]
        inputs = [self.last(one) if copy.last else self.plain(one) for one, copy in zip(node.inputs, node.reads)]
        value = relax.call_dps_packed(node.name, relax.Tuple(inputs), types if len(types) > 1 else types[0])
        return value, len(types) == 1 and node.results[0].last

    def region_result(self, node):
        return relax.TupleGetItem(self.plain(node.input), node.number), node.input.results[node.number].last

    def add_input(self, node, variable):
        self._plain[node] = variable

    def add(self, node):
        value, last = getattr(self, node.op)(node)
        (self._last if last else self._plain)[node] = self.emit(value)


PARTS = {name: getattr(Emitter, name) for name in ("hard_swish", "sigmoid", "silu", "gelu", "gelu_tanh")}


def module_of(graph, functions, vectors, apart=None, tuned=None):
    """A module whose "main" computes the graph, and the arrays that are parameters of it, by name.

    Functions are those of another module, for calls that were kept. Arrays of more than "apart" elements are
    parameters behind the inputs; without it there are none.
    """
    builder = relax.BlockBuilder(functions)
    inputs = [relax.Var(node.name, relax.TensorType(node.shape, node.dtype)) for node in graph.inputs]
    emitter = Emitter(builder, vectors, apart, tuned, pairs_of(graph, vectors))
    for node, variable in zip(graph.inputs, inputs):
        emitter.add_input(node, variable)
    with builder.function("main", attrs={"num_input": len(inputs)}):
        with builder.dataflow():
            for node in graph.nodes():
                if node.op not in ("constant", "input", *MOVES):
                    emitter.add(node)
            outputs = [emitter.plain(node) for node in graph.outputs]
            result = builder.emit_output(outputs[0] if len(outputs) == 1 else relax.Tuple(outputs))
        variables = [variable for variable, _ in emitter.parameters.values()]
        builder.emit_func_output(result, [*inputs, *variables])
    return builder.get(), {name: array for name, (_, array) in emitter.parameters.items()}
