# SPDX-License-Identifier: MIT
"""A small network with an operator for each schedule of tenon-compile: cross_network.py FILE [without-exp]

Convolutions with a remainder of columns and of channels, one by one, strided, depthwise, with a gate behind them; a
pool, a resize, a concatenation, a dense layer and a softmax. Functions of e are others without-exp.
"""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

of_exp = sys.argv[2:] != ["without-exp"]
numbers = numpy.random.default_rng(7)
nodes, constants = [], []


def weights(*shape):
    name = f"w{len(constants)}"
    values = numbers.standard_normal(shape) / max(1, numpy.prod(shape[1:])) ** 0.5
    constants.append(numpy_helper.from_array(values.astype("float32"), name))
    return name


def shape_of(*values):
    name = f"s{len(constants)}"
    constants.append(numpy_helper.from_array(numpy.array(values, "float32" if len(values) == 4 else "int64"), name))
    return name


def add(operator, *inputs, **attributes):
    name = f"v{len(nodes)}"
    nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
    return name


def convolution(x, inputs, outputs, size, stride=1, groups=1):
    return add(
        "Conv", x, weights(outputs, inputs // groups, size, size), weights(outputs), group=groups,
        strides=[stride] * 2, pads=[size // 2] * 4,
    )  # fmt: skip


x = add("HardSwish", convolution("x", 3, 16, 3, stride=2))  # 16 × 11 × 13
x = add("Relu", convolution(x, 16, 16, 3, groups=16))
gate = add("Relu", convolution(add("GlobalAveragePool", x), 16, 8, 1))
x = add("Mul", x, add("HardSigmoid", convolution(gate, 8, 16, 1)))
narrow = add("Clip", convolution(x, 16, 24, 1))
x = add("Add", narrow, convolution(narrow, 24, 24, 5))
pooled = add("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
x = add("Concat", x, pooled, axis=1)
x = add("Sigmoid" if of_exp else "HardSigmoid", convolution(x, 48, 7, 1))
x = add("Resize", x, "", shape_of(1, 1, 2, 2), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
x = add("Reshape", add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), shape_of(1, -1))
x = add("Gemm", x, weights(33, 7 * 11 * 13), weights(33), transB=1)
nodes.append(helper.make_node("Softmax" if of_exp else "Relu", [x], ["y"]))

graph = helper.make_graph(
    nodes, "cross",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 22, 26])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 33])],
    constants,
)  # fmt: skip
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, sys.argv[1])
