# SPDX-License-Identifier: MIT
"""Operators of TensorFlow Lite that look at windows of a picture: convolutions, pools, and those that resize."""

import math

from .conversion import TO_FIRST, TO_LAST, converts

SAME = 0


def around(operator, x, y, size, strides, dilation=(1, 1)):
    """What lies before and behind the rows and columns of a picture of shape x, so that its result has shape y."""
    if operator.option(0, "<b") != SAME:
        return [0, 0], [0, 0]
    totals = [
        max((y[1 + i] - 1) * strides[i] + (size[i] - 1) * dilation[i] + 1 - x[1 + i], 0) for i in (0, 1)
    ]  # fmt: skip
    before = [total // 2 for total in totals]
    return before, [total - one for total, one in zip(totals, before)]


def padded_before(net, number):
    """A tensor that a PAD of rows and columns made, as what it was before, and its padding; else as it is."""
    operator = net.made_by.get(number)
    if operator is None or operator.name != "PAD" or net.tensor(operator.inputs[1]).data is None:
        return number, [0, 0], [0, 0]
    pads = net.tensor(operator.inputs[1]).data
    if pads.shape != (4, 2) or pads[0].any() or pads[3].any() or (pads < 0).any():
        return number, [0, 0], [0, 0]
    return operator.inputs[0], [int(one) for one in pads[1:3, 0]], [int(one) for one in pads[1:3, 1]]


def weights_of(net, number, axes, shape=None):
    """Weights with their axes in another order, as numbers; their scales follow."""
    tensor = net.tensor(number)
    how = tensor.quantization
    value = net.transpose(net.value(number), axes)
    value = net.reshape(value, shape) if shape else value
    if how is None:
        return value
    # where a depthwise convolution's channels are, there is an axis of one before them
    return net.dequantized(value, tensor, axis=axes.index(how.axis) if shape is None else 0)


def four(net, operator, *numbers):
    for number in numbers:
        if len(net.tensor(number).shape) != 4:
            net.refuse(operator, f"{net.tensor(number).name} has {len(net.tensor(number).shape)} axes, expected 4")


def biased(net, operator, place):
    """The name of a bias, in a list; none if there is none."""
    given = len(operator.inputs) > place and operator.inputs[place] >= 0
    return [net.number(operator.inputs[place])] if given else []


@converts("CONV_2D", "DEPTHWISE_CONV_2D")
def convolution(net, operator):
    depthwise = operator.name != "CONV_2D"
    number, weights, (y,) = operator.inputs[0], operator.inputs[1], operator.outputs
    four(net, operator, number, weights, y)
    strides = [operator.option(2), operator.option(1)]
    first = 5 if depthwise else 4
    dilation = [operator.option(first + 1, default=1), operator.option(first, default=1)]
    size = net.tensor(weights).shape[1:3]
    shape, result = net.tensor(number).shape, net.tensor(y).shape
    before, behind = around(operator, shape, result, size, strides, dilation)
    if operator.option(0, "<b") != SAME:
        number, before, behind = padded_before(net, number)
    channels = shape[3]
    if depthwise:
        groups = channels
        kernel = weights_of(net, weights, [3, 0, 1, 2], [net.tensor(weights).shape[3], 1, *size])
    else:
        groups = channels // max(net.tensor(weights).shape[3], 1)
        kernel = weights_of(net, weights, TO_FIRST)
    value = net.add(
        "Conv", net.transpose(net.number(number), TO_FIRST), kernel, *biased(net, operator, 2), strides=strides,
        dilations=dilation, pads=[*before, *behind], group=groups, kernel_shape=size,
    )  # fmt: skip
    value = net.activated(operator, value, operator.option(4 if depthwise else 3, "<b"))
    net.give(y, net.transpose(value, TO_LAST))


@converts("TRANSPOSE_CONV")
def transposed_convolution(net, operator):
    weights, number, (y,) = operator.inputs[1], operator.inputs[2], operator.outputs
    four(net, operator, number, weights, y)
    strides, size = [operator.option(2), operator.option(1)], net.tensor(weights).shape[1:3]
    shape, result = net.tensor(number).shape, net.tensor(y).shape
    totals = [(shape[1 + i] - 1) * strides[i] + size[i] - result[1 + i] for i in (0, 1)]
    before = [max(total, 0) // 2 for total in totals]
    behind = [max(total, 0) - one for total, one in zip(totals, before)]
    value = net.add(
        "ConvTranspose", net.transpose(net.number(number), TO_FIRST), weights_of(net, weights, [3, 0, 1, 2]),
        *biased(net, operator, 3), strides=strides, pads=[*before, *behind], output_padding=[max(-total, 0) for total in totals],
        kernel_shape=size,
    )  # fmt: skip
    net.give(y, net.transpose(net.activated(operator, value, operator.option(3, "<b")), TO_LAST))


@converts("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(net, operator):
    number, (y,) = operator.inputs[0], operator.outputs
    four(net, operator, number, y)
    strides, size = [operator.option(2), operator.option(1)], [operator.option(4), operator.option(3)]
    before, behind = around(operator, net.tensor(number).shape, net.tensor(y).shape, size, strides)
    kind, how = ("MaxPool", {}) if operator.name == "MAX_POOL_2D" else ("AveragePool", {"count_include_pad": 0})
    x = net.transpose(net.number(number), TO_FIRST)
    value = net.add(kind, x, kernel_shape=size, strides=strides, pads=[*before, *behind], **how)
    net.give(y, net.transpose(net.activated(operator, value, operator.option(5, "<b")), TO_LAST))


@converts("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(net, operator):
    number, (y,) = operator.inputs[0], operator.outputs
    four(net, operator, number, y)
    bilinear = operator.name == "RESIZE_BILINEAR"
    first = 2 if bilinear else 0
    corners, centres = operator.option(first, "<B"), operator.option(first + 1, "<B")
    how = {"coordinate_transformation_mode": "align_corners" if corners else "half_pixel" if centres else "asymmetric"}
    if bilinear:
        how["mode"] = "linear"
    else:
        how.update(mode="nearest", nearest_mode="round_prefer_ceil" if corners or centres else "floor")
    _, rows, columns, channels = net.tensor(y).shape
    sizes = net.integers([net.tensor(y).shape[0], channels, rows, columns])
    value = net.add("Resize", net.transpose(net.number(number), TO_FIRST), "", "", sizes, **how)
    net.give(y, net.transpose(value, TO_LAST))


@converts("FULLY_CONNECTED")
def fully_connected(net, operator):
    number, weights, (y,) = operator.inputs[0], operator.inputs[1], operator.outputs[:1]
    if operator.option(1, "<b") or len(net.tensor(weights).shape) != 2:
        net.refuse(operator, "its weights have another order")
    inputs = net.tensor(weights).shape[1]
    if math.prod(net.tensor(number).shape) % inputs:
        net.refuse(operator, f"inputs {net.tensor(number).shape} for {inputs} columns of weights")
    x = net.reshape(net.number(number), [-1, inputs])
    value = net.add("MatMul", x, weights_of(net, weights, [1, 0]))
    for bias in biased(net, operator, 2):
        value = net.add("Add", value, bias)
    net.give(y, net.reshape(net.activated(operator, value, operator.option(0, "<b")), net.tensor(y).shape))


@converts("BATCH_MATMUL")
def product(net, operator):
    operands = []
    for place in (0, 1):
        value, axes = net.number(operator.inputs[place]), list(range(len(net.tensor(operator.inputs[place]).shape)))
        if operator.option(place, "<B"):
            axes[-2:] = axes[:-3:-1]
            value = net.transpose(value, axes)
        operands.append(value)
    net.give(operator.outputs[0], net.add("MatMul", *operands))
