# SPDX-License-Identifier: MIT
"""Networks with mistakes, and two right ones: wrong_networks.py FOLDER"""

import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = Path(sys.argv[1])
X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2])
Y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])


def save(name, nodes, constants=(), opset=17, given=X, **how):
    graph = helper.make_graph(nodes, name, [given], [Y], list(constants))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), folder / f"{name}.onnx", **how)


def weights(*shape, name="w"):
    return numpy_helper.from_array(numpy.ones(shape, "float32"), name)


save("right", [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Tanh", ["a"], ["y"])], [weights(2, 2)])
# of products of many shapes
sizes = [2, 64, 80, 96, 112, 128, 144, 2]
names = ["x", *(f"x{number}" for number in range(1, len(sizes) - 1)), "y"]
layers = [weights(*shape, name=f"w{number}") for number, shape in enumerate(zip(sizes, sizes[1:]))]
save("layers", [helper.make_node("MatMul", [x, w.name], [y]) for x, w, y in zip(names, layers, names[1:])], layers)
save("nowhere", [helper.make_node("Add", ["x", "nowhere"], ["y"])])
save("late", [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Neg", ["b"], ["y"])])
save("no-output", [helper.make_node("Relu", ["x"], ["z"])])
name = "a\n\33[31m"
save("name", [helper.make_node("Relu", [name], ["y"])], given=helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]))
# rows of three by rows of two
save("product", [helper.make_node("MatMul", ["x", "w"], ["y"])], [weights(3, 2)])
save(
    "beside", [helper.make_node("MatMul", ["x", "w"], ["y"])], [weights(2, 2)],
    save_as_external_data=True, location="beside.weights", size_threshold=0,
)  # fmt: skip
# the numbers belong to rows, as they would not since opset 7
for axis in (0, 1):
    save(f"axis{axis}", [helper.make_node("Add", ["x", "w"], ["y"], broadcast=1, axis=axis)], [weights(2)], opset=6)
save("opset99", [helper.make_node("Relu", ["x"], ["y"])], opset=99)
