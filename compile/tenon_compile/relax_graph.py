# SPDX-License-Identifier: MIT
"""From a function of Relax to a graph of nodes.

Operators in OPERATORS become nodes with attributes of this package. Any other call is kept: a node "call" has the
operator's name and a template of its arguments, in which a Slot stands for each input.
"""

from dataclasses import dataclass

import numpy
from tvm import relax
from tvm.ir import Call, GenericConst, Op

from .graph import Graph, Node, constant
from .kept_weights import axis_of


class NotAGraph(Exception):
    """A function of Relax that is no graph of tensors with known shapes."""


@dataclass(frozen=True)
class Slot:
    """The place of an input in the arguments of a call that is kept."""

    number: int


def ints(values):
    return [int(value) for value in values]


def prim(argument):
    """A number that is an argument."""
    value = argument.value
    return float(getattr(value, "value", value))


def prims(argument):
    """Numbers in a tuple or shape that is an argument."""
    fields = getattr(argument, "fields", None)
    return [int(getattr(getattr(v, "value", v), "value", getattr(v, "value", v))) for v in (fields or argument.values)]


def window(attrs):
    return {name: ints(attrs[name]) for name in ("strides", "padding", "dilation")}


def conv2d(call, attrs):
    if attrs.data_layout != "NCHW" or attrs.kernel_layout != "OIHW":
        return None
    return "conv2d", {**window(attrs), "groups": int(attrs.groups)}


def conv2d_transpose(call, attrs):
    if attrs.data_layout != "NCHW" or attrs.kernel_layout != "IOHW":
        return None
    return "conv2d_transpose", {
        **window(attrs), "groups": int(attrs.groups), "output_padding": ints(attrs.output_padding)
    }  # fmt: skip


def pool(kind):
    def lift(call, attrs):
        if attrs.layout != "NCHW" or attrs.out_layout != "NCHW":
            return None
        return "pool2d", {
            **window(attrs), "kind": kind, "size": ints(attrs.pool_size), "ceil_mode": bool(attrs.ceil_mode),
            "count_include_pad": bool(attrs.count_include_pad),
        }  # fmt: skip

    return lift


def unary(name):
    return lambda call, attrs: ("unary", {"function": name})


def binary(name):
    return lambda call, attrs: ("binary", {"function": name})


def reduction(name):
    def lift(call, attrs):
        dims = len(call.args[0].ty.shape)
        axes = sorted(axis % dims for axis in (ints(attrs.axis) if attrs.axis is not None else range(dims)))
        return "reduce", {"function": name, "axes": axes, "keep": bool(attrs.keepdims)}

    return lift


def strided_slice(call, attrs):
    dims = len(call.args[0].ty.shape)
    axes, begins, ends, *steps = (prims(argument) for argument in call.args[1:])
    if steps and any(step != 1 for step in steps[0]):
        return None
    begin = [0] * dims
    for axis, value in zip(axes, begins):
        extent = int(call.args[0].ty.shape[axis])
        begin[axis] = min(max(value + extent if value < 0 else value, 0), extent)
    return "slice", {"begin": begin}


def batch_norm(call, attrs):
    if attrs.training:
        return None
    return "batch_norm", {
        "axis": int(attrs.axis), "epsilon": float(attrs.epsilon), "scale": bool(attrs.scale), "center": bool(attrs.center)
    }  # fmt: skip


def resize(call, attrs):
    """Nearest neighbours by whole factors: each pixel is repeated."""
    if attrs.method != "nearest_neighbor" or attrs.layout != "NCHW":
        return None
    if any(int(to) % int(of) for of, to in zip(call.args[0].ty.shape, call.ty.shape)):
        return None
    how = attrs.coordinate_transformation_mode, attrs.rounding_method
    repeated = how in (("asymmetric", "floor"), ("asymmetric", "")) or (how[0] == "half_pixel" and "round" in how[1])
    return ("resize_nearest", {}) if repeated else None


def moves(call, attrs):
    return "reshape", {}


def constant_of(argument):
    return argument.value.numpy() if isinstance(argument, GenericConst) else None


def quantize(call, attrs):
    """With one scale: to 8 bits."""
    scale, zero = constant_of(call.args[1]), constant_of(call.args[2])
    if scale is None or zero is None or scale.size != 1 or str(call.ty.dtype) not in ("int8", "uint8"):
        return None
    if str(call.args[0].ty.dtype) != "float32" or not scale.item() > 0:
        return None
    return "quantize", {"scale": float(scale.item()), "zero": int(zero.item())}


def dequantized(x, scale, zero, axis):
    """The attributes of x * scale from integers, with a scale for all, or for each element of an axis."""
    scale, zero = constant_of(scale), constant_of(zero)
    known = scale is not None and zero is not None and scale.dtype == "float32" and scale.ndim < 2
    if not known or str(x.ty.dtype) not in ("int8", "uint8", "int32"):
        return None
    if scale.size == 1:
        return "dequantize", {"scale": float(scale.item()), "zero": int(zero.item()), "shift": 0.0, "axis": None}
    zero = numpy.broadcast_to(zero.astype("int32"), scale.shape)
    return "dequantize", {"scale": scale, "zero": zero, "shift": 0.0, "axis": axis % len(x.ty.shape)}


def dequantize(call, attrs):
    return dequantized(*call.args, int(attrs.axis)) if str(call.ty.dtype) == "float32" else None


def packed_call(call, attrs):
    axis = axis_of(call)
    return None if axis is None else dequantized(*call.args[1].fields, axis)


# operators of one operand, in relax.op and in relax.op.nn
UNARY_NAMES = (
    "abs",
    "ceil",
    "cos",
    "erf",
    "exp",
    "floor",
    "log",
    "negative",
    "round",
    "rsqrt",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
)
UNARY_NN_NAMES = ("relu", "silu", "gelu", "gelu_tanh")

OPERATORS = {
    "relax.nn.conv2d": conv2d,
    "relax.nn.conv2d_transpose": conv2d_transpose,
    "relax.nn.max_pool2d": pool("max"),
    "relax.nn.avg_pool2d": pool("avg"),
    "relax.nn.batch_norm": batch_norm,
    "relax.nn.layer_norm": lambda call, attrs: (
        ("layer_norm", {"epsilon": float(attrs.epsilon)})
        if [axis % len(call.ty.shape) for axis in ints(attrs.axes)] == [len(call.ty.shape) - 1]
        else None
    ),
    "relax.nn.softmax": lambda call, attrs: ("softmax", {"axis": int(attrs.axis) % len(call.ty.shape)}),
    "relax.matmul": lambda call, attrs: ("matmul", {}),
    "relax.clip": lambda call, attrs: ("clip", {"low": prim(call.args[1]), "high": prim(call.args[2])}),
    "relax.concat": lambda call, attrs: ("concat", {"axis": int(attrs.axis) % len(call.ty.shape)}),
    "relax.permute_dims": lambda call, attrs: (
        "transpose",
        {"axes": ints(attrs.axes) if attrs.axes is not None else list(range(len(call.ty.shape)))[::-1]},
    ),
    "relax.strided_slice": strided_slice,
    "relax.broadcast_to": lambda call, attrs: ("broadcast", {}),
    "relax.image.resize2d": resize,
    "relax.quantize": quantize,
    "relax.dequantize": dequantize,
    "relax.call_dps_packed": packed_call,
    "relax.reshape": moves,
    "relax.squeeze": moves,
    "relax.expand_dims": moves,
    "relax.flatten": moves,
    "relax.nn.batch_flatten": moves,
}
for name in UNARY_NAMES:
    OPERATORS[f"relax.{name}"] = unary(name)
for name in UNARY_NN_NAMES:
    OPERATORS[f"relax.nn.{name}"] = unary(name)
for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power"):
    OPERATORS[f"relax.{name}"] = binary(name)
for name in ("sum", "max", "min", "mean"):
    OPERATORS[f"relax.{name}"] = reduction(name)



def split(call, x):
    """Parts of a tensor along an axis."""
    begin, parts = [0] * len(x.shape), []
    for field in call.ty.fields:
        shape, dtype = tensor_type(field)
        parts.append(Node("slice", [x], shape, dtype, {"begin": list(begin)}))
        begin[int(call.attrs.axis)] += shape[int(call.attrs.axis)]
    return parts


def take_one(call, x, index):
    """One element of an axis, which a constant names: a part of the tensor."""
    if call.attrs.axis is None or not index.is_constant() or index.shape:
        return None
    axis, number = int(call.attrs.axis) % len(x.shape), int(index.value)
    if not -x.shape[axis] <= number < x.shape[axis]:
        return None
    begin, shape = [0] * len(x.shape), list(x.shape)
    begin[axis], shape[axis] = number % x.shape[axis], 1
    part = Node("slice", [x], shape, x.dtype, {"begin": begin})
    return Node("reshape", [part], shape[:axis] + shape[axis + 1 :], x.dtype)


def of_one_row(x):
    """NCW as NCHW, or OIW as OIHW."""
    return Node("reshape", [x], [*x.shape[:2], 1, x.shape[2]], x.dtype)


def row_window(attrs):
    before, behind = ints(attrs.padding)
    return {"strides": [1, *ints(attrs.strides)], "padding": [0, before, 0, behind], "dilation": [1, *ints(attrs.dilation)]}


def conv1d(call, x, weights):
    """A convolution of two dimensions, of one row."""
    attrs = call.attrs
    shape, dtype = tensor_type(call.ty)
    if attrs.data_layout != "NCW" or attrs.kernel_layout != "OIW" or attrs.out_layout != "NCW":
        return None
    how = {**row_window(attrs), "groups": int(attrs.groups)}
    row = Node("conv2d", [of_one_row(x), of_one_row(weights)], [*shape[:2], 1, shape[2]], dtype, how)
    return Node("reshape", [row], shape, dtype)


def pool1d(kind):
    def row(call, x):
        attrs = call.attrs
        shape, dtype = tensor_type(call.ty)
        if attrs.layout != "NCW" or attrs.out_layout != "NCW":
            return None
        how = {
            **row_window(attrs), "kind": kind, "size": [1, *ints(attrs.pool_size)], "ceil_mode": bool(attrs.ceil_mode),
            "count_include_pad": bool(attrs.count_include_pad),
        }  # fmt: skip
        pooled = Node("pool2d", [of_one_row(x)], [*shape[:2], 1, shape[2]], dtype, how)
        return Node("reshape", [pooled], shape, dtype)

    return row


# of these the value is a node, or a list of nodes, that a function makes of the nodes of the inputs
NODES = {
    "relax.nn.avg_pool1d": pool1d("avg"),
    "relax.nn.conv1d": conv1d,
    "relax.nn.max_pool1d": pool1d("max"),
    "relax.split": split,
    "relax.take": take_one,
}
# of these the first result counts, and no reader may take another
FIRST_RESULT = {"relax.nn.batch_norm"}
# of these the other inputs are constants, which are attributes of the node
FIRST_INPUT = {"quantize", "dequantize"}


def tensor_type(type_):
    """Shape and type of elements, if they are known."""
    if not isinstance(type_, relax.TensorType) or type_.shape is None:
        raise NotAGraph("a value is no tensor of known shape")
    try:
        return [int(extent) for extent in type_.shape], str(type_.dtype)
    except (TypeError, ValueError) as error:
        raise NotAGraph("a shape has a variable") from error


class Reader:
    """Reads the bindings of a function."""

    def __init__(self):
        self.nodes = {}  # of each variable

    def node_of(self, expression):
        if isinstance(expression, GenericConst):
            return constant(expression.value.numpy())
        node = self.nodes.get(expression)
        if node is None:
            raise NotAGraph(f"{type(expression).__name__} is used as a tensor")
        return node

    def template(self, argument, inputs):
        """An argument of a call, with slots for tensors."""
        if isinstance(argument, (relax.Var, GenericConst)):
            inputs.append(self.node_of(argument))
            return Slot(len(inputs) - 1)
        if isinstance(argument, relax.Tuple):
            return [self.template(field, inputs) for field in argument.fields]
        return argument

    def call(self, expression):
        name = expression.op.name if isinstance(expression.op, Op) else None
        if name in NODES:
            value = NODES[name](expression, *(self.node_of(argument) for argument in expression.args))
            if value is not None:
                return value
        inputs = []
        if name in FIRST_RESULT:
            shape, dtype = tensor_type(expression.ty.fields[0])
        elif isinstance(expression.ty, relax.TensorType):
            shape, dtype = tensor_type(expression.ty)
        else:
            raise NotAGraph(f"{name or 'a call'} gives no tensor")
        arguments = [self.template(argument, inputs) for argument in expression.args]
        lifted = OPERATORS[name](expression, expression.attrs) if name in OPERATORS else None
        if lifted:
            if lifted[0] in FIRST_INPUT:
                inputs = inputs[:1]
            return Node(lifted[0], inputs, shape, dtype, lifted[1])
        kept = {"name": name or "call", "call": expression, "arguments": arguments}
        return Node("call", inputs, shape, dtype, kept)

    def bind(self, variable, value):
        if isinstance(value, Call):
            self.nodes[variable] = self.call(value)
        elif isinstance(value, relax.TupleGetItem):
            source = self.nodes.get(value.tuple_value)
            if isinstance(source, list):
                self.nodes[variable] = source[value.index]
            elif source is not None and source.op == "batch_norm" and value.index == 0:
                self.nodes[variable] = source
            else:
                raise NotAGraph("an operator has several results")
        elif isinstance(value, relax.Tuple):
            self.nodes[variable] = [self.node_of(field) for field in value.fields]
        elif isinstance(value, (relax.Var, GenericConst)):
            self.nodes[variable] = self.node_of(value)
        else:
            raise NotAGraph(f"{type(value).__name__} in the function")


def graph_of(module):
    """The graph of a module's function "main"; NotAGraph if it is none."""
    function = module["main"]
    reader, inputs = Reader(), []
    for parameter in function.params:
        shape, dtype = tensor_type(parameter.ty)
        node = Node(
            "input",
            [],
            shape,
            dtype,
            {"name": parameter.name_hint if hasattr(parameter, "name_hint") else parameter.name},
        )
        inputs.append(node)
        reader.nodes[parameter] = node
    for block in function.body.blocks:
        for binding in block.bindings:
            if not isinstance(binding, relax.VarBinding):
                raise NotAGraph(f"{type(binding).__name__} in the function")
            reader.bind(binding.var, binding.value)
    result = function.body.body
    outputs = reader.nodes[result] if result in reader.nodes else reader.node_of(result)
    return Graph(inputs, outputs if isinstance(outputs, list) else [outputs])
