# SPDX-License-Identifier: MIT
"""Operators of TensorFlow Lite that move elements. Those of a quantized tensor move its integers."""

import math

import numpy

from .conversion import TO_FIRST, TO_LAST, converts


def give_moved(net, number, value, source):
    """A tensor whose elements are those of another one, as they are stored; its scale may be another one, though."""
    ours, theirs = net.tensor(number), net.tensor(source)
    if ours.quantization is None or ours.quantization.same(theirs.quantization):
        net.store(number, value)
    elif theirs.quantization is None:
        net.give(number, value)
    else:
        net.give(number, net.dequantized(value, theirs))


@converts("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
def reshape(net, operator):
    source, (y,) = operator.inputs[0], operator.outputs
    if math.prod(net.tensor(source).shape) != math.prod(net.tensor(y).shape):
        net.refuse(operator, f"{net.tensor(source).shape} becomes {net.tensor(y).shape}")
    give_moved(net, y, net.reshape(net.value(source), net.tensor(y).shape), source)


@converts("TRANSPOSE")
def transpose(net, operator):
    axes = [int(axis) for axis in net.array(operator, 1, "its order").reshape(-1)]
    source = operator.inputs[0]
    give_moved(net, operator.outputs[0], net.transpose(net.value(source), axes), source)


@converts("CONCATENATION")
def concatenation(net, operator):
    (y,), first = operator.outputs, net.tensor(operator.inputs[0])
    axis = operator.option(0)
    how = net.tensor(y).quantization
    same = all(how is not None and how.same(net.tensor(number).quantization) for number in operator.inputs)
    if how is None or same:
        value = net.add("Concat", *(net.value(number) for number in operator.inputs), axis=axis)
        if first.quantization is None:
            value = net.activated(operator, value, operator.option(1, "<b"))
        net.store(y, value)
    else:
        net.give(y, net.add("Concat", *(net.number(number) for number in operator.inputs), axis=axis))


@converts("PACK")
def pack(net, operator):
    axis, source = operator.option(1), operator.inputs[0]
    shape = list(net.tensor(source).shape)
    axis += len(shape) + 1 if axis < 0 else 0
    shape.insert(axis, 1)
    parts = [net.reshape(net.value(number), shape) for number in operator.inputs]
    give_moved(net, operator.outputs[0], net.add("Concat", *parts, axis=axis), source)


def give_parts(net, operator, source, axis, sizes):
    axis += len(net.tensor(source).shape) if axis < 0 else 0
    if len(sizes) != len(operator.outputs):
        net.refuse(operator, f"{len(sizes)} parts for {len(operator.outputs)} outputs")
    begin = 0
    for number, size in zip(operator.outputs, sizes):
        value = part(net, net.value(source), [begin], [begin + size], [axis])
        give_moved(net, number, net.reshape(value, net.tensor(number).shape), source)
        begin += size


def part(net, value, begin, end, axes, strides=None):
    steps = [net.integers(strides)] if strides else []
    return net.add("Slice", value, net.integers(begin), net.integers(end), net.integers(axes), *steps)


@converts("UNPACK")
def unpack(net, operator):
    give_parts(net, operator, operator.inputs[0], operator.option(1), [1] * len(operator.outputs))


@converts("SPLIT")
def split(net, operator):
    axis, source = int(net.array(operator, 0, "its axis").reshape(-1)[0]), operator.inputs[1]
    extent = net.tensor(source).shape[axis]
    count = len(operator.outputs)
    if extent % count:
        net.refuse(operator, f"{extent} in {count} parts")
    give_parts(net, operator, source, axis, [extent // count] * count)


@converts("SPLIT_V")
def split_by_sizes(net, operator):
    source = operator.inputs[0]
    sizes = [int(size) for size in net.array(operator, 1, "its sizes").reshape(-1)]
    axis = int(net.array(operator, 2, "its axis").reshape(-1)[0])
    known = sum(size for size in sizes if size >= 0)
    sizes = [size if size >= 0 else net.tensor(source).shape[axis] - known for size in sizes]
    give_parts(net, operator, source, axis, sizes)


@converts("SLICE")
def slice_(net, operator):
    source = operator.inputs[0]
    begin = [int(one) for one in net.array(operator, 1, "its begin").reshape(-1)]
    size = [int(one) for one in net.array(operator, 2, "its size").reshape(-1)]
    extents = net.tensor(source).shape
    if not len(begin) == len(size) == len(extents):
        net.refuse(operator, f"{len(begin)} places for {len(extents)} axes")
    end = [extent if many < 0 else first + many for first, many, extent in zip(begin, size, extents)]
    give_moved(net, operator.outputs[0], part(net, net.value(source), begin, end, list(range(len(begin)))), source)


@converts("STRIDED_SLICE")
def strided_slice(net, operator):
    source, (y,) = operator.inputs[0], operator.outputs
    begin, end, strides = (
        [int(one) for one in net.array(operator, place, "its places").reshape(-1)] for place in (1, 2, 3)
    )
    masks = [operator.option(field) for field in range(5)]
    if masks[2] or masks[3] or operator.option(5, "<B"):
        net.refuse(operator, "an ellipsis, a new axis, or an offset is not taken")
    extents = net.tensor(source).shape
    if not len(begin) == len(end) == len(strides) <= len(extents) or 0 in strides:
        net.refuse(operator, f"{len(begin)} places and {len(strides)} strides for {len(extents)} axes")
    for axis, stride in enumerate(strides):
        if masks[4] >> axis & 1:
            # one element
            begin[axis] += extents[axis] if begin[axis] < 0 else 0
            end[axis], strides[axis] = begin[axis] + 1, 1
            continue
        if masks[0] >> axis & 1:
            begin[axis] = 0 if stride > 0 else extents[axis]
        if masks[1] >> axis & 1:
            end[axis] = extents[axis] if stride > 0 else -(2**31)
    value = part(net, net.value(source), begin, end, list(range(len(begin))), strides)
    give_moved(net, y, net.reshape(value, net.tensor(y).shape), source)


@converts("PAD", "PADV2", "MIRROR_PAD")
def pad(net, operator):
    pads = net.array(operator, 1, "its padding")
    source, (y,) = operator.inputs[0], operator.outputs
    if pads.shape != (len(net.tensor(source).shape), 2):
        net.refuse(operator, f"padding of shape {pads.shape} for {len(net.tensor(source).shape)} axes")
    around = net.integers([*pads[:, 0], *pads[:, 1]])
    if operator.name == "MIRROR_PAD":
        if operator.option(0, "<b"):
            net.refuse(operator, "a mirror that repeats the edge is not taken")
        return give_moved(net, y, net.add("Pad", net.value(source), around, mode="reflect"), source)
    filled = [net.constant(filling(net, operator))] if operator.name == "PADV2" else []
    return net.give(y, net.add("Pad", net.number(source), around, *filled))


def filling(net, operator):
    """What a PADV2 puts around, as a number."""
    value, how = net.array(operator, 2, "its value").reshape(-1)[0], net.tensor(operator.inputs[2]).quantization
    return numpy.float32(value) if how is None else (value - numpy.float32(how.zeros[0])) * how.scales[0]


@converts("TILE")
def tile(net, operator):
    repeats = net.integers(net.array(operator, 1, "its repeats").reshape(-1))
    give_moved(net, operator.outputs[0], net.add("Tile", net.value(operator.inputs[0]), repeats), operator.inputs[0])


@converts("BROADCAST_TO")
def broadcast(net, operator):
    shape = net.integers(net.tensor(operator.outputs[0]).shape)
    give_moved(net, operator.outputs[0], net.add("Expand", net.value(operator.inputs[0]), shape), operator.inputs[0])


@converts("GATHER", "EMBEDDING_LOOKUP")
def gather(net, operator):
    if operator.name == "EMBEDDING_LOOKUP":
        (index, source), axis = operator.inputs, 0
    else:
        (source, index), axis = operator.inputs[:2], operator.option(0)
        if operator.option(1):
            net.refuse(operator, "with axes of a batch it is not taken")
    how = net.tensor(source).quantization
    table = net.value(source) if how is None or len(how.scales) == 1 else net.number(source)
    value = net.add("Gather", table, net.value(index), axis=axis)
    if how is not None and len(how.scales) > 1:
        return net.give(operator.outputs[0], value)
    return give_moved(net, operator.outputs[0], value, source)


@converts("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def between_depth_and_space(net, operator):
    """The channels of a block are behind each other in both, ordered by row, column and channel."""
    source, (y,) = operator.inputs[0], operator.outputs
    block = operator.option(0)
    x = net.transpose(net.value(source), TO_FIRST)
    if operator.name == "DEPTH_TO_SPACE":
        value = net.add("DepthToSpace", x, blocksize=block, mode="DCR")
    else:
        value = net.add("SpaceToDepth", x, blocksize=block)
    give_moved(net, y, net.transpose(value, TO_LAST), source)


@converts("SHAPE")
def shape(net, operator):
    tensor = net.tensor(operator.outputs[0])
    net.store(operator.outputs[0], net.constant(net.tensor(operator.inputs[0]).shape, tensor.dtype))
