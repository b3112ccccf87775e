# SPDX-License-Identifier: MIT
"""Operators and forms of ONNX that TVM's importer lacks or reads wrongly, and that ONNX has no definition for, as other
operators of ONNX."""

import math

import numpy
from ml_dtypes import finfo
from onnx import TensorProto, helper

from .onnx_nodes import Nodes, replace_nodes
from .resize_onnx import FRACTIONS, resized

FORMS = {}  # by operator
MOST_NUMBERS = 1 << 22  # of a table that takes an operator's place
MOST_EXACT = 1 << 24  # the whole numbers up to it are numbers of float32


def form(operator):
    def add(function):
        FORMS[operator] = function
        return function

    return add


@form("LpNormalization")
def divided_by_norm(new):
    """A norm of 0 leaves the zeros that it is of."""
    x, axis, order = new.input(0), new.attributes.get("axis", -1), new.attributes.get("p", 2)
    norm = f"ReduceL{order}"
    size = new.add(norm, x, new.constant([axis], "int64")) if new.opset >= 18 else new.add(norm, x, axes=[axis])
    dtype = helper.tensor_dtype_to_np_dtype(new.types.get(x, TensorProto.FLOAT))
    least = new.constant(finfo(dtype).tiny, dtype)
    new.add("Div", x, new.add("Max", size, least), output=new.output)
    return new


@form("Dropout")
def kept(new):
    """Nothing is dropped outside of training, or by a ratio of 0, and the mask is true."""
    trains = bool(new.input(2)) and bool(new.constants.get(new.input(2), True))
    drops = trains and (new.constants.get(new.input(1), 1) if new.input(1) else 0.5) != 0
    shape = new.shapes.get(new.node.input[0])
    if (len(new.node.output) < 2 and not trains) or shape is None or drops:
        return None
    new.add("Identity", new.node.input[0], output=new.node.output[0])
    for mask in new.node.output[1:]:
        new.add("Identity", new.constant(numpy.ones(shape, bool)), output=mask)
    return new


@form("ReverseSequence")
def turned(new):
    """Elements are taken from the places where they are."""
    x, lengths = new.input(0), new.constants.get(new.input(1))
    time, batch = new.attributes.get("time_axis", 0), new.attributes.get("batch_axis", 1)
    shape = new.shapes.get(x)
    if lengths is None or shape is None or new.opset < 11:
        return None
    place = numpy.arange(shape[time])[:, None] * numpy.ones(shape[batch], "int64")
    place = numpy.where(place < lengths, lengths - 1 - place, place)
    order = [time, batch, *(axis for axis in range(len(shape)) if axis not in (time, batch))]
    places = numpy.stack([place, numpy.arange(shape[batch]) * numpy.ones_like(place)], -1)
    moved = new.add("GatherND", new.add("Transpose", x, perm=order), new.constant(places, "int64"))
    new.add("Transpose", moved, perm=numpy.argsort(order).tolist(), output=new.output)
    return new


@form("CumProd")
def multiplied_up(new):
    """Each place is the product of those up to it: of what a triangle of ones leaves."""
    x, axis = new.input(0), new.constants.get(new.input(1))
    shape = new.shapes.get(x)
    if axis is None or shape is None:
        return None
    axis, n = int(axis) % len(shape), shape[int(axis) % len(shape)]
    if n * math.prod(shape) > MOST_NUMBERS:
        new.refuse(f"{n} numbers in a row of {math.prod(shape)} are too many; export the network with fewer")
    used = numpy.tril(numpy.ones((n, n), bool), -1 if new.attributes.get("exclusive", 0) else 0)
    used = used[::-1, ::-1] if new.attributes.get("reverse", 0) else used
    used = used.reshape(*[1] * axis, n, n, *[1] * (len(shape) - axis - 1))
    one = new.add("CastLike", new.constant(1, "int32"), x)
    rows = new.add("Unsqueeze", x, new.constant([axis], "int64"))
    chosen = new.add("Where", new.constant(used), rows, one)
    axes = new.constant([axis + 1], "int64")
    if new.opset >= 18:
        new.add("ReduceProd", chosen, axes, keepdims=0, output=new.output)
    else:
        new.add("ReduceProd", chosen, axes=[axis + 1], keepdims=0, output=new.output)
    return new


@form("TensorScatter")
def written_into_cache(new):
    """Values are written to a cache from a place on, of each batch."""
    past, update = new.input(0), new.input(1)
    cache, values = new.shapes.get(past), new.shapes.get(update)
    begin = new.constants.get(new.input(2)) if new.input(2) else numpy.zeros(1, "int64")
    if begin is None or cache is None or values is None:
        return None
    axis = new.attributes.get("axis", -2) % len(cache)
    begin = numpy.broadcast_to(begin, [cache[0]])
    shape = [values[0], *[1] * (axis - 1), values[axis], *[1] * (len(cache) - axis - 1)]
    places = begin[:, None] + numpy.arange(values[axis])
    if new.attributes.get("mode", b"linear") == b"circular":
        places = places % cache[axis]
    elif (places >= cache[axis]).any():
        new.refuse("it writes behind the end of the cache")
    where = numpy.broadcast_to(places.reshape(shape), values)
    new.add("ScatterElements", past, new.constant(where, "int64"), update, axis=axis, output=new.output)
    return new


@form("Pow")
def of_one_type(new):
    """The exponent has the type of the base; powers of whole numbers are computed in float64, as in ONNX Runtime."""
    x, y = new.types.get(new.input(0)), new.types.get(new.input(1))
    whole = x in (TensorProto.INT32, TensorProto.INT64)
    if x is None or y is None or (x == y and not whole):
        return None
    between = TensorProto.DOUBLE if whole else x
    base, exponent = (new.add("Cast", new.input(place), to=between) for place in (0, 1))
    power = new.add("Pow", base, exponent)
    exact = new.add("Round", power) if whole and y not in FRACTIONS else power
    new.add("Cast", exact, to=x, output=new.output)
    return new


def of_bytes(new):
    """Extremes of truth values are those of 0 and 1."""
    if new.types.get(new.input(0)) != TensorProto.BOOL:
        return None
    x = new.add("Cast", new.input(0), to=TensorProto.UINT8)
    extreme = new.add(new.node.op_type, x, *new.node.input[1:], **new.attributes)
    new.add("Cast", extreme, output=new.output, to=TensorProto.BOOL)
    return new


FORMS["ReduceMax"] = FORMS["ReduceMin"] = of_bytes


@form("DFT")
def products_of_waves(new):
    """A discrete Fourier transform as products with cosines and sines."""
    x, length = new.input(0), new.constants.get(new.input(1)) if new.input(1) else None
    shape = new.shapes.get(x)
    axis = new.constants.get(new.input(2)) if new.input(2) else new.attributes.get("axis", 1 if new.opset < 20 else -2)
    if shape is None or axis is None or new.types.get(x) != TensorProto.FLOAT or (new.input(1) and length is None):
        return None
    axis, inverse, half = int(axis) % len(shape), new.attributes.get("inverse", 0), new.attributes.get("onesided", 0)
    back = inverse and half  # to real numbers, of the half of what they became that is not the other's mirror
    n = int(length) if length is not None else 2 * (shape[axis] - 1) if back else shape[axis]
    used = min(n // 2 + 1 if back else n, shape[axis])
    bins = n // 2 + 1 if half and not inverse else n
    if used * bins > MOST_NUMBERS:
        new.refuse(f"{n} numbers in a row are too many; export the network with shorter frames")
    phase = 2 * math.pi * (numpy.outer(numpy.arange(used), numpy.arange(bins)) % n) / n
    cosine, sine = (function(phase) / (n if inverse else 1) for function in (numpy.cos, numpy.sin))
    sine = sine if inverse else -sine
    # (a, b) · [[cos, sin], [-sin, cos]], elements and parts in one axis
    matrix = numpy.stack([numpy.stack([cosine, sine], -1), numpy.stack([-sine, cosine], -1)], 1)[:, : shape[-1]]
    if back:
        mirrored = (numpy.arange(used) > 0) & (2 * numpy.arange(used) != n)
        matrix = matrix[..., :1] * numpy.where(mirrored, 2, 1)[:, None, None, None]
    rest = [one for one in range(len(shape) - 1) if one != axis]
    order = [*rest, axis, len(shape) - 1]
    first = new.add("Slice", x, *(new.constant([one], "int64") for one in (0, used, axis)))
    flat = new.add(
        "Reshape", new.add("Transpose", first, perm=order), new.constant([*(shape[one] for one in rest), used * shape[-1]], "int64")
    )  # fmt: skip
    product = new.add("MatMul", flat, new.constant(matrix.reshape(used * shape[-1], -1), "float32"))
    parts = new.add("Reshape", product, new.constant([*(shape[one] for one in rest), bins, matrix.shape[-1]], "int64"))
    new.add("Transpose", parts, perm=numpy.argsort(order).tolist(), output=new.output)
    return new


@form("STFT")
def waves_of_frames(new):
    """A transform of each frame of a signal, which a window may weigh."""
    signal, step, length = new.input(0), new.constants.get(new.input(1)), new.input(3)
    shape, window = new.shapes.get(signal), new.input(2)
    size = new.constants.get(length) if length else (new.shapes.get(window) or [None])[0]
    if shape is None or step is None or size is None:
        return None
    size, step = int(size), int(step)
    places = numpy.arange((shape[1] - size) // step + 1)[:, None] * step + numpy.arange(size)
    frames = new.add("Gather", signal, new.constant(places, "int64"), axis=1)
    if len(shape) == 2:
        frames = new.add("Unsqueeze", frames, new.constant([3], "int64"))
    if window:
        weights = new.add("Reshape", window, new.constant([size, 1], "int64"))
        frames = new.add("Mul", frames, weights)
    half = new.attributes.get("onesided", 1)
    if new.opset < 20:
        new.add("DFT", frames, output=new.output, axis=2, onesided=half)
    else:
        new.add("DFT", frames, "", new.constant(2, "int64"), output=new.output, onesided=half)
    return new


@form("EyeLike")
def diagonal(new):
    """A constant, which depends on a shape alone."""
    shape, kind = new.shapes.get(new.input(0)), new.attributes.get("dtype", new.types.get(new.input(0)))
    if shape is None or kind is None:
        return None
    if math.prod(shape) > MOST_NUMBERS:
        new.refuse(f"{math.prod(shape)} numbers are too many for a constant; export the network with fewer")
    ones = new.constant(numpy.eye(*shape, new.attributes.get("k", 0)), "float32")
    new.add("Cast", ones, output=new.output, to=kind)
    return new


@form("Unsqueeze")
def axes_in_a_list(new):
    """Axes that are one number without a list."""
    axes = new.constants.get(new.input(1)) if new.input(1) else None
    if axes is None or axes.ndim == 1:
        return None
    new.add("Unsqueeze", new.input(0), new.constant(axes.reshape(-1)), output=new.output)
    return new


@form("PRelu")
def slope_of_channels(new):
    """A slope for each channel, as opsets before 7 write it: TVM's importer takes it along the last axis."""
    slope, shape = new.constants.get(new.input(1)), new.shapes.get(new.input(0))
    if new.opset >= 7 or slope is None or shape is None or slope.ndim != 1 or slope.size == 1:
        return None
    below = new.add("Relu", new.add("Neg", new.input(0)))
    scaled = new.add("Mul", below, new.constant(slope.reshape(-1, *[1] * (len(shape) - 2))))
    new.add("Sub", new.add("Relu", new.input(0)), scaled, output=new.output)
    return new


@form("OneHot")
def chosen_place(new):
    """Indices of any type are compared with all places; those below 0 count from the end."""
    depth, shape = new.constants.get(new.input(1)), new.shapes.get(new.input(0))
    if depth is None or shape is None or new.opset < 13:
        return None
    depth, axis = int(depth.reshape(-1)[0]), new.attributes.get("axis", -1) % (len(shape) + 1)
    index = new.add("Cast", new.input(0), to=TensorProto.INT64)
    index = new.add("Unsqueeze", index, new.constant([axis], "int64"))
    places = numpy.arange(depth).reshape(-1, *[1] * (len(shape) - axis))
    here, from_end = (
        new.add("Equal", index, new.constant(places - begin, "int64")) for begin in (0, depth)
    )  # fmt: skip
    off, on = (new.add("Gather", new.input(2), new.constant(place, "int64")) for place in (0, 1))
    new.add("Where", new.add("Or", here, from_end), on, off, output=new.output)
    return new


def parts_of(sums, most):
    """Ranges of channels, of each of which no sum is more than a number, but for those of one channel."""
    begin, total = 0, 0
    for channel in range(sums.shape[1]):
        total = total + sums[:, channel]
        if total.max() > most and channel > begin:
            yield begin, channel
            begin, total = channel, sums[:, channel]
    yield begin, sums.shape[1]


@form("ConvInteger")
def exact_convolution(new):
    """A convolution in float32 of so many channels that their sums are exact; those of all are added as integers."""
    weights = new.constants.get(new.input(1))
    zero = new.constants.get(new.input(3)) if new.input(3) else numpy.zeros(1, "int64")
    shape = new.shapes.get(new.input(0))
    if weights is None or zero is None or shape is None:
        return None
    weights = weights.astype("int64") - zero.astype("int64").reshape(-1, *[1] * (weights.ndim - 1))
    x = new.add("Cast", new.input(0), to=TensorProto.FLOAT)
    if new.input(2):
        x = new.add("Sub", x, new.add("Cast", new.input(2), to=TensorProto.FLOAT))
    sums = 255 * numpy.abs(weights).sum(tuple(range(2, weights.ndim)))
    parts = list(parts_of(sums, MOST_EXACT)) if new.attributes.get("group", 1) == 1 else [(0, weights.shape[1])]
    if any(sums[:, begin:end].sum(1).max() > MOST_EXACT for begin, end in parts):
        return None
    added = []
    for begin, end in parts:
        ends = [new.constant([one], "int64") for one in (begin, end, 1)]
        channels = x if len(parts) == 1 else new.add("Slice", x, *ends)
        product = new.add("Conv", channels, new.constant(weights[:, begin:end], "float32"), **new.attributes)
        added.append(new.add("Cast", product, to=TensorProto.INT32))
    while len(added) > 1:
        added = [new.add("Add", *added[:2]), *added[2:]]
    new.add("Identity", added[0], output=new.output)
    return new


FORMS["Resize"] = resized


def replace_other_forms(network, shapes, constants, types, opset):
    """Replace them in place; whether there was any."""

    def form_of(node):
        if node.op_type not in FORMS or node.domain not in ("", "ai.onnx"):
            return None
        new = Nodes(node, shapes, constants, opset)
        new.types = types
        return FORMS[node.op_type](new)

    return replace_nodes(network.graph, form_of)
