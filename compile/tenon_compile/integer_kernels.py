# SPDX-License-Identifier: MIT
"""Kernels of networks in 8-bit integers: products with sums of 32 bits, and sums, channels last.

Inputs are made what the products of the processor want in a first pass: 16 bits less the zero point, or 8 bits with or
without a sign, whose zero point is taken from the sums at the end. The weights of a convolution are packed as the loops read
them: (O / T, KH, KW, I / G, T, G) for tiles of T output channels and groups of G inputs.
"""

import numpy
from tvm import te, tirx

from .dot_products import MARK as DOT_MARK
from .dot_products import PLAIN
from .kernels import mark

def held(zero, dtype, dot):
    """What is taken from inputs of a type when they are widened, and the zero point that they have then."""
    if dot.inputs == "int16":
        return zero, 0
    # to 8 bits with the sign, or without one
    moved = 0 if dtype == dot.inputs else 128 if dtype == "uint8" else -128
    return moved, zero - moved


def widened(x, zero, padding, dot, fill=0):
    """x (NHWC or MK) as products want it, with its zero point around it, and channels filled up."""
    less, zero_then = held(zero, x.dtype, dot)
    if x.dtype == dot.inputs and not any(padding) and not fill:
        return x
    shape = [int(extent) for extent in x.shape]
    top, left, bottom, right = padding
    around = {1: (top, bottom), 2: (left, right)} if len(shape) == 4 else {}
    around[len(shape) - 1] = (0, fill)
    new = [extent + sum(around.get(axis, (0, 0))) for axis, extent in enumerate(shape)]

    def element(*at):
        inside, source = [], list(at)
        for axis, (before, behind) in around.items():
            source[axis] = at[axis] - before
            inside += [at[axis] >= before] if before else []
            inside += [at[axis] < before + shape[axis]] if behind else []
        value = (x[tuple(source)].astype("int16") - tirx.const(less, "int16")).astype(dot.inputs)
        return tirx.if_then_else(tirx.all(*inside), value, tirx.const(zero_then, dot.inputs)) if inside else value

    return te.compute(new, element, name="widen")


def pack(weights, tile, dot):
    """OIHW as the loops read it."""
    outputs, inputs, height, width = weights.shape
    weights = numpy.pad(weights, ((0, 0), (0, -inputs % dot.group), (0, 0), (0, 0)))
    shape = outputs // tile.channels, tile.channels, weights.shape[1] // dot.group, dot.group, height, width
    return numpy.ascontiguousarray(weights.reshape(shape).transpose(0, 4, 5, 2, 1, 3).astype(dot.weights))


def attrs_of(tile, dot):
    """Marks of a product, with the form of its operands if processors have a function for them."""
    return {**mark(tile), DOT_MARK: dot.form} if dot.function else mark(tile)


def without_zero(sums, of_weights):
    """Sums less what the zero point of the inputs adds to them, by channel."""
    if of_weights is None:
        return sums
    return te.compute(sums.shape, lambda *at: sums[at] - of_weights[at[-1]], name="without_zero")


def integer_conv2d(x, weights, of_weights, zero, shape, strides, padding, dilation, tile, dot):
    """The convolution of x (NHWC) to a shape, by packed weights."""
    _, height, width, groups, channels, group = (int(extent) for extent in weights.shape)
    source = widened(x, zero, padding, dot, groups * group - int(x.shape[3]))
    row, column, many, few = (te.reduce_axis((0, extent)) for extent in (height, width, groups, group))

    def term(n, h, w, o):
        at = source[
            n, h * strides[0] + row * dilation[0], w * strides[1] + column * dilation[1], many * group + few
        ].astype("int32")
        by = weights[o // channels, row, column, many, o % channels, few].astype("int32")
        return te.sum(at * by, axis=[row, column, many, few])

    sums = te.compute(shape, term, name="integer_conv2d", attrs=attrs_of(tile, dot))
    return without_zero(sums, of_weights)


def integer_depthwise_conv2d(x, weights, zero, shape, strides, padding, dilation, tile):
    """The convolution of each channel of x (NHWC) by its own weights (HWC), in 16 bits."""
    source = widened(x, zero, padding, PLAIN)
    row, column = (te.reduce_axis((0, int(extent))) for extent in weights.shape[:2])

    def term(n, h, w, c):
        at = source[n, h * strides[0] + row * dilation[0], w * strides[1] + column * dilation[1], c]
        return te.sum(at.astype("int32") * weights[row, column, c].astype("int32"), axis=[row, column])

    return te.compute(shape, term, name="integer_depthwise_conv2d", attrs=mark(tile))


def integer_dense(x, weights, of_weights, zero, shape, tile, dot):
    """The product of x (M, K) and packed weights (N / T, K / G, T, G)."""
    _, groups, channels, group = (int(extent) for extent in weights.shape)
    source = widened(x, zero, (0, 0, 0, 0), dot, groups * group - int(x.shape[1]))
    many, few = te.reduce_axis((0, groups)), te.reduce_axis((0, group))

    def term(m, n):
        at = source[m, many * group + few].astype("int32")
        return te.sum(at * weights[n // channels, many, n % channels, few].astype("int32"), axis=[many, few])

    return without_zero(te.compute(shape, term, name="integer_dense", attrs=attrs_of(tile, dot)), of_weights)


def integer_sum(x, zero, axes):
    """The sum of x less its zero point over axes, which are kept."""
    extents = [int(extent) for extent in x.shape]
    over = {axis: te.reduce_axis((0, extents[axis])) for axis in axes}

    def total(*at):
        source = [over.get(axis, index) for axis, index in enumerate(at)]
        return te.sum(x[tuple(source)].astype("int32") - tirx.const(zero, "int32"), axis=list(over.values()))

    shape = [1 if axis in over else extent for axis, extent in enumerate(extents)]
    return te.compute(shape, total, name="integer_sum")


def integer_pool2d(x, zero, shape, size, strides, padding, dilation):
    """The sum of windows of x (NHWC) less its zero point."""
    top, left, bottom, right = padding
    height, width = int(x.shape[1]), int(x.shape[2])
    row, column = (te.reduce_axis((0, extent)) for extent in size)

    def total(n, h, w, c):
        y, z = (
            h * strides[0] + row * dilation[0] - top,
            w * strides[1] + column * dilation[1] - left,
        )
        inside = tirx.all(y >= 0, y < height, z >= 0, z < width)
        value = x[n, y, z, c].astype("int32") - tirx.const(zero, "int32")
        term = tirx.if_then_else(inside, value, tirx.const(0, "int32")) if any(padding) else value
        return te.sum(term, axis=[row, column])

    return te.compute(shape, total, name="integer_pool2d")


def quantize(x, scale, zero, dtype):
    """x / scale rounded to even, plus the zero point, within the type.

    A float32 of about 1.5 * 2^23 holds whole numbers only, so adding that rounds; it is vectorised on every processor. The
    number that is added has seven digits, all that TVM writes of one in code of OpenCL and CUDA, and is even, as halves ask.
    """
    low, high = (int(bound) for bound in (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max))
    whole = 12582910.0

    def element(*at):
        value = x[at] * tirx.const(numpy.float32(1) / numpy.float32(scale), "float32")
        value = te.max(te.min(value, tirx.const(high - zero, "float32")), tirx.const(low - zero, "float32"))
        bits = tirx.reinterpret("int32", value + tirx.const(whole, "float32"))
        first = int(numpy.float32(whole).view("int32"))
        return (bits - tirx.const(first - zero, "int32")).astype(dtype)

    return te.compute(x.shape, element, name="quantize")


def look_up(x, table):
    """Elements of a table of 256 by the bytes of x."""
    return te.compute(x.shape, lambda *at: table[x[at].astype("uint8").astype("int32")], name="look_up")
