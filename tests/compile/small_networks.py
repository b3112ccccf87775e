# SPDX-License-Identifier: MIT
"""Networks of a few nodes, written as exporters write them: small_networks.py FOLDER"""

import sys
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
folder = Path(sys.argv[1])


def constant(name, values, dtype="int64"):
    return numpy_helper.from_array(numpy.array(values, dtype), name)


def save(name, opset, nodes, inputs, outputs, constants=()):
    """Inputs and outputs are a name, a shape, and a type that is not float32."""
    values = [
        [helper.make_tensor_value_info(n, *(of_type or [FLOAT]), shape) for n, shape, *of_type in sides]
        for sides in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, name, *values, list(constants))
    version = 5 if opset < 11 else 6 if opset < 13 else 8
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)
    onnx.checker.check_model(model)
    onnx.save(model, folder / f"{name}.onnx")


def branch(name, nodes, output):
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, FLOAT, None)])


# names of inputs that are no identifiers, and two that differ in a point only
for number, name in enumerate(("input.1", "0", "0x", "a=b", "größe", "in put", "x[0]", 'q"x')):
    save(f"name{number}", 17, [helper.make_node("Relu", [name], ["y"])], [(name, [1, 4])], [("y", [1, 4])])
save("alike", 17, [helper.make_node("Sub", ["x.y", "x_y"], ["y"])], [("x.y", [1]), ("x_y", [1])], [("y", [1])])
save("scalar", 17, [helper.make_node("Relu", ["x"], ["y"])], [("x", [])], [("y", [])])
save("constant", 17, [helper.make_node("Neg", ["c"], ["y"])], [], [("y", [3])], [constant("c", [0, 1, 2], "float32")])

# a network that flattens with its own shape, before and after Unsqueeze took its axes as an input
for opset in (12, 13):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["batch"], axis=0),
        helper.make_node("Unsqueeze", ["batch"], ["batch1"], axes=[0])
        if opset < 13
        else helper.make_node("Unsqueeze", ["batch", "axes"], ["batch1"]),
        helper.make_node("Concat", ["batch1", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    constants = [constant("zero", 0), constant("rest", [-1])] + [constant("axes", [0])] * (opset == 13)
    save(f"flatten{opset}", opset, nodes, [("x", ["n", 3, 4])], [("y", ["n", 12])], constants)

# constants through operators whose form changed
numbers = [constant("c", [0, 1, 2, 3], "float32")]
for name, opset, node in (
    ("clip", 10, helper.make_node("Clip", ["c"], ["k"], min=1.0, max=2.0)),
    ("topk", 9, helper.make_node("TopK", ["c"], ["k", "i"], k=4, axis=0)),
    ("dropout", 10, helper.make_node("Dropout", ["c"], ["k"], ratio=0.5)),
):
    save(name, opset, [node, helper.make_node("Add", ["x", "k"], ["y"])], [("x", [2, 4])], [("y", [2, 4])], numbers)

# an If that is decided once the shape is known; its branches use values around it, one of them in an If of its own
rows = [
    helper.make_node("Relu", ["x"], ["r"]),
    helper.make_node("Shape", ["x"], ["s"]),
    helper.make_node("Gather", ["s", "zero"], ["rows"], axis=0),
    helper.make_node("Equal", ["rows", "one"], ["single"]),
]
negated = branch("negated", [helper.make_node("Neg", ["r"], ["a"])], "a")
same = branch("same", [helper.make_node("Identity", ["r"], ["b"])], "b")
nested = branch("nested", [helper.make_node("If", ["single"], ["c"], then_branch=negated, else_branch=same)], "c")
for name, chosen in (("if", negated), ("nested", nested)):
    node = helper.make_node("If", ["single"], ["y"], then_branch=chosen, else_branch=same)
    save(name, 16, [*rows, node], [("x", ["n", 4])], [("y", ["n", 4])], [constant("zero", 0), constant("one", 1)])

# an If that an input decides: with branches that TVM compiles, and with one whose shape depends on the input
padded = branch(
    "padded", [helper.make_node("Mul", ["rate", "behind"], ["pads"]), helper.make_node("Pad", ["r", "pads"], ["d"])], "d"
)
for name, chosen, extent in (("decides", negated, 2), ("decided", padded, "n")):
    node = helper.make_node("If", ["single"], ["y"], then_branch=chosen, else_branch=same)
    compared = helper.make_node("Equal", ["rate", "one"], ["single"])
    save(
        name, 16, [rows[0], compared, node], [("x", [2]), ("rate", [], TensorProto.INT64)], [("y", [extent])],
        [constant("one", 1), constant("behind", [0, 1])],
    )  # fmt: skip

# a Loop whose count and condition are constants, and whose body adds a value from outside
body = helper.make_graph(
    [helper.make_node("Add", ["v", "r"], ["w"]), helper.make_node("Identity", ["go"], ["on"])],
    "body",
    [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        helper.make_tensor_value_info("v", FLOAT, [4]),
    ],
    [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("w", FLOAT, [4])],
)
loop = helper.make_node("Loop", ["count", "go", "c"], ["y"], body=body)
adding = helper.make_graph([*body.node], "adding", [*body.input], [*body.output], [constant("r", [1, 2, 3, 4], "float32")])
save(
    "loop", 16, [helper.make_node("Relu", ["x"], ["r"]), loop], [("x", [4])], [("y", [4])],
    [constant("count", 2), constant("go", True, "bool"), *numbers],
)  # fmt: skip

save(
    "rounds", 16, [helper.make_node("Loop", ["rounds", "go", "x"], ["y"], body=adding)], [("x", [4]), ("rounds", [], TensorProto.INT64)],
    [("y", [4])], [constant("go", True, "bool")],
)  # fmt: skip

# what is not imported: axes that are an input, an operator and a form that TVM lacks
axes = [("x", [2, 2]), ("axes", [1], TensorProto.INT64)]
save("axes", 18, [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)], axes, [("y", [2])])
filled = helper.make_node("ConstantOfShape", ["shape"], ["y"], value=constant("value", [7], "int32"))
save("filled", 18, [filled], [("shape", [2], TensorProto.INT64)], [("y", [None, None], TensorProto.INT32)])
save("det", 18, [helper.make_node("Det", ["x"], ["y"])], [("x", [2, 2])], [("y", [])])
blocks = helper.make_node("QuantizeLinear", ["x", "scale"], ["y"], block_size=2)
save("form", 21, [blocks], [("x", [1, 4])], [("y", [1, 4], TensorProto.UINT8)], [constant("scale", [[1, 2]], "float32")])

# an input that has no elements, and numbers of float16 that are sums of many
cast = [helper.make_node("CastLike", ["x", "like"], ["i"]), helper.make_node("Cast", ["i"], ["y"], to=FLOAT)]
save("nothing", 17, cast, [("x", [2]), ("like", [0], TensorProto.INT32)], [("y", [2])])
half = [helper.make_node("MatMul", ["x", "ones"], ["y"])]
many = [constant("ones", numpy.ones((4096, 1)), "float16")]
save("half", 17, half, [("x", [1, 4096], TensorProto.FLOAT16)], [("y", [1, 1], TensorProto.FLOAT16)], many)
averaged = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[64, 64])
save("half-pool", 17, [averaged], [("x", [1, 1, 64, 64], TensorProto.FLOAT16)], [("y", [1, 1, 1, 1], TensorProto.FLOAT16)])
running = [helper.make_node("CumSum", ["x", "axis"], ["s"]), helper.make_node("Gather", ["s", "last"], ["y"])]
sides = [("x", [4096], TensorProto.FLOAT16)], [("y", [1], TensorProto.FLOAT16)]
save("half-running", 17, running, *sides, [constant("axis", 0), constant("last", [4095])])
layers = [
    helper.make_node("Conv", ["x", "twos"], ["c"]),
    helper.make_node("BatchNormalization", ["c", "ones", "ones", "ones", "ones"], ["n"], epsilon=0.0),
    helper.make_node("Add", ["n", "ones"], ["a"]),
    helper.make_node("Clip", ["a"], ["y"]),
]  # fmt: skip
sides = [("x", [1, 1, 2, 2], TensorProto.FLOAT16)], [("y", [1, 1, 2, 2], TensorProto.FLOAT16)]
save("half-layers", 17, layers, *sides, [constant("twos", [[[[2]]]], "float16"), constant("ones", [1], "float16")])

# pictures made larger as opsets before 10 do it
for opset, more in ((7, {"scales": [1.0, 1.0, 2.0, 3.0]}), (9, {})):
    larger = helper.make_node("Upsample", ["x"] if more else ["x", "scales"], ["y"], **more)
    save(f"larger{opset}", opset, [larger], [("x", [1, 1, 1, 2])], [("y", [1, 1, 2, 6])], [] if more else [constant("scales", [1, 1, 2, 3], "float32")])

# recurrent operators: of both directions and of one, with states that are given, with steps that are outputs or the last
numbers = numpy.random.default_rng(3)


def recurrent(name, kind, gates, outputs, opset, given=(), **attributes):
    """Four steps of two sequences of three numbers, to states of five."""
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    shapes = {"w": (directions, gates * 5, 3), "r": (directions, gates * 5, 5), "b": (directions, gates * 10)}
    shapes |= {"p": (directions, 15)} if "p" in given else {}
    weights = [constant(one, numbers.uniform(-1, 1, shape), "float32") for one, shape in shapes.items()]
    sides = {"y": [4, directions, 2, 5], "h": [directions, 2, 5], "c": [directions, 2, 5]}
    inputs = ["x", "w", "r", "b", "", *(f"{one}0" if one in given else "" for one in "hc"), "p" if "p" in given else ""]
    while not inputs[-1]:
        inputs.pop()
    node = helper.make_node(kind, inputs, [one if one in outputs else "" for one in list(sides)[: 3 if kind == "LSTM" else 2]], hidden_size=5, **attributes)
    states = [(f"{one}0", [directions, 2, 5]) for one in "hc" if one in given]
    save(name, opset, [node], [("x", ["n", 2, 3]), *states], [(one, sides[one]) for one in sides if one in outputs], weights)


recurrent("recurrent0", "LSTM", 4, "yhc", 14, "hcp", direction="bidirectional")
recurrent("recurrent1", "LSTM", 4, "c", 7, direction="reverse")
recurrent("recurrent2", "GRU", 3, "yh", 9, "h", direction="bidirectional", linear_before_reset=1)
recurrent("recurrent3", "GRU", 3, "y", 14, direction="reverse")
recurrent("recurrent4", "RNN", 1, "yh", 14, "h", direction="bidirectional", activations=["Relu", "Tanh"])
recurrent("refused-clip", "LSTM", 4, "y", 14, clip=1.0)
recurrent("refused-function", "RNN", 1, "y", 14, activations=["Softsign"])

# convolutions and pools of one dimension, channels that fill no vector, parts of a tensor, and one of its rows
nodes = [
    helper.make_node("Conv", ["x", "w", "b"], ["c"], kernel_shape=[3], pads=[1, 1], strides=[2]),
    helper.make_node("MaxPool", ["c"], ["m"], kernel_shape=[2], strides=[1], pads=[1, 0]),
    helper.make_node("AveragePool", ["m"], ["a"], kernel_shape=[3], strides=[1], pads=[1, 1]),
    helper.make_node("Split", ["a", "sizes"], ["s0", "s1"], axis=1), helper.make_node("Gather", ["s0", "last"], ["g"], axis=-1),
    helper.make_node("ReduceMean", ["s1"], ["r"], axes=[2], keepdims=0), helper.make_node("Concat", ["g", "r"], ["y"], axis=1),
]  # fmt: skip
weights = [constant("w", numbers.uniform(-1, 1, (17, 3, 3)), "float32"), constant("b", numbers.uniform(-1, 1, 17), "float32")]
save("one-dimension", 13, nodes, [("x", [2, 3, 9])], [("y", [2, 17])], [*weights, constant("sizes", [9, 8]), constant("last", -2)])

# products of values with each other, as in attention
nodes = [
    helper.make_node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["x", "t"], ["s"]),
    helper.make_node("Softmax", ["s"], ["p"]), helper.make_node("MatMul", ["p", "x"], ["a"]), helper.make_node("Relu", ["a"], ["y"]),
]  # fmt: skip
save("attention", 13, nodes, [("x", [1, 3, 24, 32])], [("y", [1, 3, 24, 32])])

# convolutions in groups, for which there are no tiles, with functions and a sum behind them, and what is left to TVM
nodes = [
    helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1, 1, 1, 1]), helper.make_node("HardSwish", ["c0"], ["h"]),
    helper.make_node("Mul", ["h", "scale"], ["m"]), helper.make_node("Conv", ["m", "w1"], ["c1"], group=4, pads=[1, 1, 1, 1]),
    helper.make_node("Add", ["c1", "m"], ["s"]), helper.make_node("Relu", ["s"], ["r"]), helper.make_node("Sin", ["r"], ["e"]),
    helper.make_node("Conv", ["e", "w2"], ["c2"], group=2, strides=[2, 2]), helper.make_node("GlobalAveragePool", ["c2"], ["p"]),
    helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("Gemm", ["f", "w3", "b3"], ["g"], transB=1),
    helper.make_node("Softmax", ["g"], ["y"], axis=1),
]  # fmt: skip
shapes = {"w0": (8, 3, 3, 3), "b0": (8,), "w1": (8, 2, 3, 3), "w2": (6, 4, 3, 3), "w3": (5, 6), "b3": (5,)}
weights = [constant(name, numbers.uniform(-1, 1, shape), "float32") for name, shape in shapes.items()]
sides = [("x", [1, 3, 20, 24])], [("y", [1, 5])]
save("products", 14, nodes, *sides, [*weights, constant("scale", 0.5, "float32")])

# a product whose inputs are quantized by scales that are computed, as quantize_dynamic() of ONNX Runtime writes it
nodes = [
    helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
    helper.make_node("MatMulInteger", ["q", "w", "zero", "wzero"], ["sums"]), helper.make_node("Cast", ["sums"], ["f"], to=FLOAT),
    helper.make_node("Mul", ["scale", "wscale"], ["both"]), helper.make_node("Mul", ["f", "both"], ["y"]),
]  # fmt: skip
weights = [constant("w", numbers.integers(-128, 128, (24, 18)), "int8"), constant("wzero", 3, "int8"), constant("wscale", 0.01, "float32")]
save("dynamic", 13, nodes, [("x", [2, 7, 24])], [("y", [2, 7, 18])], weights)

# numbers that become bytes and numbers again
nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]), helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"])]
save("steps", 13, nodes, [("x", [2, 64])], [("y", [2, 64])], [constant("scale", 0.01, "float32"), constant("zero", 120, "uint8")])

# forms that TVM's importer reads wrongly
ones = [constant("scale", [1, 1, 1, 1], "float32"), constant("boxes", [[[0, 0, 1, 1]]], "float32")]
norm = helper.make_node("LayerNormalization", ["x", "scale"], ["y", "mean"])
save("norm", 17, [norm], [("x", [2, 4])], [("y", [2, 4]), ("mean", [2, 1])], ones)
narrow = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT8E4M3FN), helper.make_node("Cast", ["f"], ["y"], to=FLOAT)]
graph = helper.make_graph(narrow, "float8", [helper.make_tensor_value_info("x", FLOAT, [4])], [helper.make_tensor_value_info("y", FLOAT, [4])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), folder / "wrong-float8.onnx")
mask = [helper.make_node("Dropout", ["x"], ["y", "m"]), helper.make_node("Cast", ["m"], ["z"], to=FLOAT)]
save("mask", 13, mask, [("x", [2, 4])], [("y", [2, 4]), ("z", [2, 4])])
flag = [constant("ratio", 0.5, "float32"), constant("training", True, "bool")]
save("wrong-dropout", 13, [helper.make_node("Dropout", ["x", "ratio", "training"], ["y"])], [("x", [2, 4])], [("y", [2, 4])], flag)
save(
    "wrong-statistics", 15, [helper.make_node("BatchNormalization", ["x", "s", "s", "s", "s"], ["y", "m", "v"], training_mode=1)],
    [("x", [2, 4])], [("y", [2, 4]), ("m", [4]), ("v", [4])], [constant("s", [1, 1, 1, 1], "float32")],
)  # fmt: skip
# constants of more than 32 bits
wide = [
    helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT64), helper.make_node("Mul", ["i", "large"], ["l"]),
    helper.make_node("Div", ["l", "half"], ["s"]), helper.make_node("Cast", ["s"], ["y"], to=FLOAT),
]  # fmt: skip
save("wide", 13, wide, [("x", [2])], [("y", [2])], [constant("large", [1 << 40, 1 << 40]), constant("half", [1 << 39, 1 << 39])])
# an output that is longer than strides make it, and one that is shorter; extents of 1 that leave those of the input
for number, shape in enumerate(([10, 8], [7, 5])):
    save(
        f"transposed{number}", 13, [helper.make_node("ConvTranspose", ["x", "w"], ["y"], output_shape=shape, strides=[3, 2])],
        [("x", [1, 1, 3, 3])], [("y", [1, 2, *shape])], [constant("w", [[[[1, 2, 3]] * 3] * 2], "float32")],
    )  # fmt: skip
save("expand", 13, [helper.make_node("Expand", ["x", "to"], ["y"])], [("x", [2, 1])], [("y", [3, 2, 2])], [constant("to", [3, 1, 2])])
inputs = [helper.make_tensor_value_info("x", FLOAT, [3, 1]), helper.make_tensor_value_info("to", TensorProto.INT64, [3])]
graph = helper.make_graph(
    [helper.make_node("Expand", ["x", "to"], ["y"])], "expand", inputs, [helper.make_tensor_value_info("y", FLOAT, [2, 3, 2])]
)  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), folder / "expand-to.onnx")
# statistics that are inputs; a row of minus infinity
save(
    "given-statistics", 15, [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"])],
    [("x", [2, 3, 4])] + [(name, [3]) for name in "sbmv"], [("y", [2, 3, 4])], [],
)  # fmt: skip
save(
    "infinite", 18, [helper.make_node("Add", ["x", "low"], ["z"]), helper.make_node("ReduceMax", ["z", "axes"], ["y"], keepdims=0)],
    [("x", [2, 2])], [("y", [2])], [constant("low", [[0, -numpy.inf], [-numpy.inf, -numpy.inf]], "float32"), constant("axes", [1])],
)  # fmt: skip
# distances that shift all bits out, and remainders of a division by infinity
edges = [
    helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT32), helper.make_node("Cast", ["distance"], ["by"], to=TensorProto.INT32),
    helper.make_node("BitShift", ["i", "by"], ["r"], direction="RIGHT"), helper.make_node("Cast", ["r"], ["right"], to=FLOAT),
    helper.make_node("BitShift", ["i", "by"], ["l"], direction="LEFT"), helper.make_node("Cast", ["l"], ["left"], to=FLOAT),
    helper.make_node("Mod", ["x", "divisor"], ["rest"]), helper.make_node("Concat", ["right", "left", "rest"], ["y"], axis=0),
]  # fmt: skip
divisor = [constant("divisor", [numpy.inf, numpy.inf, -numpy.inf], "float32")]
save("edges", 13, edges, [("x", [3]), ("distance", [3])], [("y", [9])], divisor)
whole = [helper.make_node("RMSNormalization", ["x", "scale"], ["y"], axis=0, epsilon=0.0)]
save("whole", 23, whole, [("x", [2, 2])], [("y", [2, 2])], [constant("scale", [[1, 2], [3, 4]], "float32")])
signs = [
    helper.make_node("IsInf", ["x"], ["a"], detect_negative=0), helper.make_node("Cast", ["a"], ["above"], to=FLOAT),
    helper.make_node("IsInf", ["x"], ["b"], detect_positive=0), helper.make_node("Cast", ["b"], ["below"], to=FLOAT),
    helper.make_node("Concat", ["above", "below"], ["y"], axis=0),
]  # fmt: skip
save("signs", 13, signs, [("x", [3])], [("y", [6])], [])
depth = [helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="CRD")]
save("depth", 28, depth, [("x", [1, 2, 2, 2])], [("y", [1, 8, 1, 1])], [])
save("unclipped", 13, [helper.make_node("Clip", ["x"], ["y"])], [("x", [3], TensorProto.INT8)], [("y", [3], TensorProto.INT8)])
# the largest of numbers of types that TVM's runtime does not sort, by opset 10, too; those of uint64 differ in all bits
for opset, kind, values in ((10, "uint64", [1 << 63, 3, (1 << 63) + 1, (1 << 63) - 1]), (24, "bfloat16", [1, -2, 4, 3]), (11, "uint16", [1, 50000, 4, 3])):
    of_type = helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
    largest = [helper.make_node("Gather", ["all", "order"], ["c"]), helper.make_node("TopK", ["c", "two"], ["v", "y"])]
    save(
        f"largest-{kind}", opset, largest, [("order", [4], TensorProto.INT64)], [("v", [2], of_type), ("y", [2], TensorProto.INT64)],
        [constant("all", values, kind), constant("two", [2])],
    )  # fmt: skip
bounds = [constant("low", 0, "bfloat16"), constant("high", 6, "bfloat16")]
between = [helper.make_node("Cast", ["x"], ["b"], to=TensorProto.BFLOAT16), helper.make_node("Clip", ["b", "low", "high"], ["y"])]
save("bounded", 13, between, [("x", [3])], [("y", [3], TensorProto.BFLOAT16)], bounds)
highest = [helper.make_node("Add", ["x", "x"], ["e"]), helper.make_node("Max", ["e", "c"], ["y"])]
sides = [("x", [3], TensorProto.FLOAT16), ("c", [3], TensorProto.FLOAT16)], [("y", [3], TensorProto.FLOAT16)]
save("half-maximum", 13, highest, *sides, [])
brain = [helper.make_node("Cast", ["x"], ["b"], to=TensorProto.BFLOAT16)]
save("brain", 13, brain, [("x", [3])], [("b", [3], TensorProto.BFLOAT16)], [])
regions = [helper.make_node("RoiAlign", ["x", "region", "first"], ["y"], mode="max")]
region = [constant("region", [[0, 0, 1, 1]], "float32"), constant("first", [0])]
save("wrong-regions", 16, regions, [("x", [1, 1, 2, 2])], [("y", [1, 1, 1, 1])], region)
boxes = [helper.make_node("NonMaxSuppression", ["boxes", "x"], ["n"]), helper.make_node("Cast", ["n"], ["y"], to=FLOAT)]
save("wrong-boxes", 13, boxes, [("x", [1, 1, 1])], [("y", [None, 3])], ones)

# a picture through each sort of convolution and product
numbers = numpy.random.default_rng(5)


def weights(name, *shape):
    return constant(name, numbers.uniform(-0.5, 0.5, shape), "float32")


picture = [
    helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1] * 4, strides=[2, 2]),
    helper.make_node("BatchNormalization", ["a", "gamma", "beta", "mean", "variance"], ["b"]),
    helper.make_node("HardSwish", ["b"], ["c"]),
    helper.make_node("Conv", ["c", "w2"], ["d"], pads=[1] * 4, group=12),
    helper.make_node("Relu", ["d"], ["e"]),
    helper.make_node("Conv", ["e", "w3"], ["f"]),
    helper.make_node("ConvTranspose", ["f", "w4"], ["g"], strides=[2, 2]),
    helper.make_node("MaxPool", ["g"], ["h"], kernel_shape=[2, 2], strides=[2, 2]),
    helper.make_node("Reshape", ["h", "rows"], ["i"]),
    helper.make_node("MatMul", ["i", "w5"], ["j"]),
    helper.make_node("LayerNormalization", ["j", "scale"], ["k"]),
    helper.make_node("Softmax", ["k"], ["l"]),
    helper.make_node("ReduceMean", ["l"], ["m"], axes=[1], keepdims=0),
    helper.make_node("Gemm", ["m", "w6", "bias"], ["y"], transB=1),
]  # fmt: skip
given = [
    weights("w1", 12, 3, 3, 3), weights("w2", 12, 1, 3, 3), weights("w3", 20, 12, 1, 1), weights("w4", 20, 6, 2, 2),
    weights("w5", 80, 24), weights("w6", 9, 24), weights("bias", 9), weights("gamma", 12), weights("beta", 12),
    weights("mean", 12), constant("variance", [1] * 12, "float32"), constant("scale", [1] * 24, "float32"),
    constant("rows", [1, 6, 80]),
]  # fmt: skip
save("picture", 17, picture, [("x", [1, 3, 16, 20])], [("y", [1, 9])], given)

# a picture in 8 bits through a convolution whose channels fill no group of bytes, and one whose channels fill no vector
scales = [constant("xs", 0.01, "float32"), constant("xz", 110, "uint8"), constant("ys", 0.02, "float32"), constant("yz", 0, "uint8")]
given, quantized, value = [*scales], [], "x"
for number, (outputs, inputs) in enumerate([(32, 3), (8, 32)]):
    given += [
        constant(f"w{number}", numbers.integers(-63, 64, (outputs, inputs, 3, 3)), "int8"),
        constant(f"s{number}", numbers.uniform(0.002, 0.004, outputs), "float32"), constant(f"z{number}", [0] * outputs, "int8"),
    ]  # fmt: skip
    how = ["xs", "xz"] if number == 0 else ["ys", "yz"]
    quantized += [
        helper.make_node("QuantizeLinear", [value, *how], [f"q{number}"]),
        helper.make_node("DequantizeLinear", [f"q{number}", *how], [f"d{number}"]),
        helper.make_node("DequantizeLinear", [f"w{number}", f"s{number}", f"z{number}"], [f"f{number}"], axis=0),
        helper.make_node("Conv", [f"d{number}", f"f{number}"], [f"y{number}"], pads=[1] * 4, strides=[2 - number] * 2),
    ]
    value = f"y{number}"
quantized.append(helper.make_node("Relu", ["y1"], ["y"]))
save("bytes", 17, quantized, [("x", [1, 3, 96, 80])], [("y", [1, 8, 48, 40])], given)
