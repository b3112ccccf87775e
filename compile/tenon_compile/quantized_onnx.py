# SPDX-License-Identifier: MIT
"""ONNX's operators of quantized tensors, as the same operators of numbers between DequantizeLinear and QuantizeLinear.

TVM imports those; integer_rules.py then computes them in integers. An operator with scales that are no constants
stays as it is, and TVM's importer refuses it by its name.
"""

import numpy
from onnx import helper, numpy_helper

# operators of one quantized tensor (x, scale, zero, scale and zero of y), and of two, by what they are of numbers
OF_ONE = {
    "QLinearAveragePool": "AveragePool",
    "QLinearGlobalAveragePool": "GlobalAveragePool",
    "QLinearLeakyRelu": "LeakyRelu",
    "QLinearSigmoid": "Sigmoid",
    "QLinearSoftmax": "Softmax",
}
OF_TWO = {"QLinearAdd": "Add", "QLinearMul": "Mul", "QLinearMatMul": "MatMul"}
QUANTIZED = {*OF_ONE, *OF_TWO, "QLinearConv", "QLinearConcat", "QGemm"}


class Replacement:
    """The nodes that replace one node."""

    def __init__(self, node, constants):
        self.node, self.constants = node, constants
        self.nodes, self.initializers = [], []
        self.inputs = [*node.input, *[""] * 9]

    def name(self):
        return f"{self.node.output[0]}/{len(self.nodes)}/{len(self.initializers)}"

    def add(self, operator, inputs, output=None, **attributes):
        while inputs and not inputs[-1]:
            inputs.pop()
        output = output or self.name()
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def dequantized(self, first, axis=None):
        """The three inputs from a place on: a tensor, its scale and its zero point."""
        tensor, scale, zero = self.inputs[first : first + 3]
        along = {"axis": axis} if axis is not None and self.constants[scale].size > 1 else {}
        return self.add("DequantizeLinear", [tensor, scale, zero], **along)

    def bias(self, name, *scales):
        """A bias of 32 bits: its scale is the product of the others'."""
        value = self.constants[name].astype("float32")
        for scale in scales:
            value = value * self.constants[scale].reshape(-1)
        given = self.name()
        self.initializers.append(numpy_helper.from_array(value, given))
        return given

    def quantized(self, value, place):
        self.add("QuantizeLinear", [value, *self.inputs[place : place + 2]], self.node.output[0])


def attributes_of(node, *without):
    return {one.name: helper.get_attribute_value(one) for one in node.attribute if one.name not in without}


def replace(node, constants):
    """The replacement of a node."""
    new = Replacement(node, constants)
    kind = node.op_type
    if kind in OF_ONE:
        value = new.add(OF_ONE[kind], [new.dequantized(0)], **attributes_of(node, "channels_last", "opset"))
        new.quantized(value, 3)
    elif kind in OF_TWO:
        value = new.add(OF_TWO[kind], [new.dequantized(0), new.dequantized(3, axis=1)])
        new.quantized(value, 6)
    elif kind == "QLinearConv":
        x, weights = new.dequantized(0), new.dequantized(3, axis=0)
        bias = new.bias(new.inputs[8], new.inputs[1], new.inputs[4]) if new.inputs[8] else ""
        new.quantized(new.add("Conv", [x, weights, bias], **attributes_of(node)), 6)
    elif kind == "QGemm":
        turned = attributes_of(node).get("transB", 0)
        a, b = new.dequantized(0), new.dequantized(3, axis=0 if turned else 1)
        bias = new.bias(new.inputs[6], new.inputs[1], new.inputs[4]) if new.inputs[6] else ""
        if new.inputs[7]:
            new.quantized(new.add("Gemm", [a, b, bias], **attributes_of(node)), 7)
        else:
            new.add("Gemm", [a, b, bias], node.output[0], **attributes_of(node))
    else:  # QLinearConcat: scale and zero point of y come first
        parts = [new.dequantized(place) for place in range(2, len(node.input), 3)]
        new.quantized(new.add("Concat", parts, **attributes_of(node)), 0)
    return new


def can_be_replaced(node, constants):
    if node.op_type not in QUANTIZED or attributes_of(node).get("channels_last", 0):
        return False
    places = {"QLinearConv": (1, 4, 8), "QGemm": (1, 4, 6), "QLinearConcat": range(3, len(node.input), 3)}
    if node.op_type in OF_ONE:
        needed = (1,)
    else:
        needed = places.get(node.op_type, (1, 4))
    names = [node.input[place] for place in needed if place < len(node.input) and node.input[place]]
    return all(name in constants for name in names)


def replace_quantized_operators(network):
    """Replace them in place."""
    graph = network.graph
    if not any(node.op_type in QUANTIZED for node in graph.node):
        return
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        value = next((one for one in node.attribute if one.name == "value"), None)
        if node.op_type == "Constant" and value is not None:
            constants[node.output[0]] = numpy.asarray(numpy_helper.to_array(value.t))
    nodes = []
    for node in graph.node:
        if not can_be_replaced(node, constants):
            nodes.append(node)
            continue
        new = replace(node, constants)
        nodes += new.nodes
        graph.initializer.extend(new.initializers)
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
