# SPDX-License-Identifier: MIT
"""Two small networks, of float32 and, between QuantizeLinear and DequantizeLinear, of int8: networks.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(sys.argv[1])
CONVOLUTION = {"pads": [1, 1, 1, 1]}
POOL = {"kernel_shape": [2, 2], "strides": [2, 2]}


class Network:
    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, operator, inputs, name, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def quantized(self, value, scale, zero, name):
        numbers = [self.constant(f"{name}_scale", np.float32(scale)), self.constant(f"{name}_zero", np.int8(zero))]
        q = self.add("QuantizeLinear", [value, *numbers], f"{name}_q")
        return self.add("DequantizeLinear", [q, *numbers], name)

    def weights(self, array, scale, name):
        numbers = [self.constant(f"{name}_scale", np.float32(scale)), self.constant(f"{name}_zero", np.int8(0))]
        return self.add("DequantizeLinear", [self.constant(f"{name}_q", array.astype("int8")), *numbers], name)

    def save(self, name):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 16, 16])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, FOLDER / f"{name}.onnx")


def float32(rng):
    n = Network()
    w = n.constant("w", rng.standard_normal((4, 1, 3, 3)).astype("float32"))
    c = n.add("Conv", ["x", w, n.constant("b", rng.standard_normal(4).astype("float32"))], "c", **CONVOLUTION)
    p = n.add("MaxPool", [n.add("Relu", [c], "r")], "p", **POOL)
    d = n.constant("d", (rng.standard_normal((256, 10)) / 16).astype("float32"))
    e = n.constant("e", rng.standard_normal(10).astype("float32"))
    n.add("Softmax", [n.add("Gemm", [n.add("Flatten", [p], "f"), d, e], "g")], "y", axis=1)
    n.save("float32")


def int8(rng):
    n = Network()
    w = n.weights(rng.integers(-90, 90, (8, 1, 3, 3)), 0.01, "w")
    b = n.constant("b", rng.standard_normal(8).astype("float32"))
    c = n.add("Conv", [n.quantized("x", 0.02, 3, "xd"), w, b], "c", **CONVOLUTION)
    r = n.quantized(n.add("Relu", [c], "r"), 0.03, -128, "rd")
    p = n.quantized(n.add("MaxPool", [r], "p", **POOL), 0.03, -128, "pd")
    f = n.quantized(n.add("Flatten", [p], "f"), 0.03, -128, "fd")
    d = n.weights(rng.integers(-90, 90, (512, 10)), 0.002, "d")
    e = n.constant("e", rng.standard_normal(10).astype("float32"))
    n.quantized(n.add("Gemm", [f, d, e], "g"), 0.1, 5, "y")
    n.save("int8")


float32(np.random.default_rng(3))
int8(np.random.default_rng(4))
