# SPDX-License-Identifier: MIT
"""Operators and forms of ONNX that tenon-compile replaces before TVM imports a network, one by one: the operator is gone,
and ONNX's reference computes the same of what replaces it. Prints TAP.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.errors import CompileError  # noqa: E402
from tenon_compile.fixed_inputs import fix_empty_inputs  # noqa: E402
from tenon_compile.folding import fold  # noqa: E402
from tenon_compile.onnx_file import import_read, replace_unknown_forms  # noqa: E402

rng = np.random.default_rng(1)
FLOAT = TensorProto.FLOAT


def numbers(*shape):
    return rng.uniform(-2, 2, shape).astype("float32")


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def network(node, arrays, outputs, constants=(), opset=21, functions=()):
    """A network of a node; arrays are its inputs and constants, by name."""
    inputs = [helper.make_tensor_value_info(n, type_of(a), a.shape) for n, a in arrays.items() if n not in constants]
    values = [numpy_helper.from_array(np.asarray(arrays[name]), name) for name in constants]
    made = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()]
    graph = helper.make_graph([node], "form", inputs, made, values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def same(node, arrays, constants=(), opset=21, outputs=None, stays=False, wanted=None):
    """Whether a replaced node computes what it did, or what is wanted, and no longer is there."""
    outputs = outputs or {name: FLOAT for name in node.output if name}
    model = network(node, arrays, outputs, constants, opset)
    given = {name: array for name, array in arrays.items() if name not in constants}
    wanted = wanted or ReferenceEvaluator(model).run(None, given)
    fold(model)
    replace_unknown_forms(model)
    kinds = {one.op_type for one in model.graph.node}
    if (node.op_type in kinds) != stays:
        return f"it became {', '.join(sorted(kinds))}"
    found = ReferenceEvaluator(model).run(None, given)
    for name, a, b in zip(outputs, wanted, found):
        if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, *((1e-4, 1e-5) if a.dtype.kind == "f" else (0, 0))):
            return f"{name}: {b} is not {a}"
    return None


def refused(pattern, node, arrays, constants=(), opset=21):
    try:
        replace_unknown_forms(network(node, arrays, {name: FLOAT for name in node.output}, constants, opset))
    except CompileError as error:
        return None if pattern in str(error) and node.output[0] in str(error) else str(error)
    return "it is not refused"


def attention(**attributes):
    arrays = {"q": numbers(1, 4, 3, 8), "k": numbers(1, 2, 5, 8), "v": numbers(1, 2, 5, 6)}
    return same(helper.make_node("Attention", [*arrays], ["y"], **attributes), arrays, opset=23)


def attention_with_cache():
    arrays = {"q": numbers(1, 2, 3, 4), "k": numbers(1, 2, 3, 4), "v": numbers(1, 2, 3, 4), "pk": numbers(1, 2, 5, 4), "pv": numbers(1, 2, 5, 4)}
    node = helper.make_node("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "nk", "nv"], is_causal=1)
    return same(node, arrays, opset=23)


def rotary(**attributes):
    arrays = {"x": numbers(1, 2, 3, 8), "c": numbers(6, 4), "s": numbers(6, 4), "p": np.array([[5, 0, 2]])}
    return same(helper.make_node("RotaryEmbedding", [*arrays], ["y"], **attributes), arrays, opset=23)


def statistics(axis):
    arrays = {"x": numbers(2, 3, 4), "s": numbers(*(2, 3, 4)[axis:]), "b": numbers(*(2, 3, 4)[axis:])}
    return same(helper.make_node("LayerNormalization", [*arrays], ["y", "mean", "deviation"], axis=axis), arrays)


def loss(operator, **attributes):
    arrays = {"x": numbers(3, 5, 2), "t": np.array([[0, 4], [1, 2], [3, 3]]), "w": abs(numbers(5))}
    return same(helper.make_node(operator, [*arrays], ["y"], **attributes), arrays)


def named_domain(of_node, of_file):
    """An operator of ONNX, whose domain has two names."""
    model = network(helper.make_node("Celu", ["x"], ["y"], domain=of_node), {"x": numbers(3)}, {"y": FLOAT})
    model.opset_import[0].domain = of_file
    shapes = [output["shape"] for output in import_read("file", model, {}, {}).outputs]
    return None if shapes == [[3]] else f"outputs are {shapes}"


def body(inputs, nodes, outputs, constants=()):
    sides = [[helper.make_tensor_value_info(n, k, s) for n, k, s in side] for side in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *sides, list(constants))


def scan(opset=21, **attributes):
    """A running sum of rows, and its products with a value from outside."""
    rounds = body(
        [("sum", FLOAT, [2]), ("row", FLOAT, [2])],
        [helper.make_node("Add", ["sum", "row"], ["next"]), helper.make_node("Mul", ["next", "k"], ["product"])],
        [("next", FLOAT, [2]), ("product", FLOAT, [2])],
    )
    arrays = {"begin": numbers(2), "rows": numbers(4, 2), "k": numbers(2)}
    node = helper.make_node("Scan", ["begin", "rows"], ["last", "all"], num_scan_inputs=1, body=rounds, **attributes)
    back, to_back, axis = (attributes.get(f"scan_{what}", [0])[0] for what in ("input_directions", "output_directions", "output_axes"))
    sums = arrays["begin"] + np.cumsum(arrays["rows"][::-1] if back else arrays["rows"], 0, "float32")
    products = np.stack((sums * arrays["k"])[:: -1 if to_back else 1], axis)
    return same(node, arrays, opset=opset, wanted=[sums[-1], products])


def loop(stays=False, on="going", always=True):
    """Rounds that add their number to a value, as long as a condition is true."""
    constant = helper.make_tensor("always", TensorProto.BOOL, [], [always])
    rounds = body(
        [("i", TensorProto.INT64, []), ("going", TensorProto.BOOL, []), ("v", FLOAT, [2])],
        [
            helper.make_node("Cast", ["i"], ["f"], to=FLOAT), helper.make_node("Add", ["v", "f"], ["w"]),
            helper.make_node("Mul", ["w", "k"], ["z"]), helper.make_node("Constant", [], ["always"], value=constant),
            helper.make_node("Identity", [on], ["still"]),
        ],
        [("still", TensorProto.BOOL, []), ("w", FLOAT, [2]), ("z", FLOAT, [2])],
        [numpy_helper.from_array(np.array(False), "no")],
    )  # fmt: skip
    arrays = {"count": np.array(3), "yes": np.array(True), "x": numbers(2), "k": numbers(2)}
    return same(helper.make_node("Loop", ["count", "yes", "x"], ["y", "all"], body=rounds), arrays, ("count", "yes"), stays=stays)


def shared_constants():
    """A constant of a body is one in the network, however many rounds there are."""
    rounds = body(
        [("row", FLOAT, [3])], [helper.make_node("Mul", ["row", "weights"], ["out"])], [("out", FLOAT, [3])],
        [numpy_helper.from_array(numbers(3), "weights")],
    )  # fmt: skip
    node = helper.make_node("Scan", ["rows"], ["y"], num_scan_inputs=1, body=rounds)
    model = network(node, {"rows": numbers(5, 3)}, {"y": FLOAT})
    replace_unknown_forms(model)
    count = sum(tensor.dims == [3] for tensor in model.graph.initializer)
    return None if count == 1 else f"there are {count}"


def too_many_rounds():
    rounds = body([("row", FLOAT, [])], [helper.make_node("Neg", ["row"], ["out"])], [("out", FLOAT, [])])
    node = helper.make_node("Scan", ["rows"], ["y"], num_scan_inputs=1, body=rounds)
    return refused("at most 8192", node, {"rows": numbers(9000)})


def of_constants(operator, x, *more, outputs=None, opset=21, stays=False, **attributes):
    """An operator of x and of constants."""
    arrays = {"x": x, **{f"c{number}": np.asarray(one) for number, one in enumerate(more) if one is not None}}
    inputs = ["x", *("" if one is None else f"c{number}" for number, one in enumerate(more))]
    names = outputs or {"y": type_of(x)}
    return same(helper.make_node(operator, inputs, [*names], **attributes), arrays, [*arrays][1:], opset, names, stays)


def resize(x, scales=None, sizes=None, region=None, **attributes):
    arrays = [None if one is None else np.array(one, kind) for one, kind in ((region, "float32"), (scales, "float32"), (sizes, "int64"))]
    while arrays[-1] is None:
        arrays.pop()
    return of_constants("Resize", x, *arrays, **attributes)


def bytes_between():
    arrays = {"x": np.zeros((1, 5), "uint8"), "scales": np.array([1, 1.7], "float32")}
    return helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear"), arrays, ["scales"]


def region_as_input():
    arrays = {"x": numbers(1, 4), "region": np.array([0, 0.2, 1, 0.8], "float32"), "sizes": np.array([1, 3])}
    node = helper.make_node("Resize", ["x", "region", "", "sizes"], ["y"], mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
    try:
        import_read("file", network(node, arrays, {"y": FLOAT}, ["sizes"]), {}, {})
    except CompileError as error:
        return None if "--set region=" in str(error) else str(error)
    return "it is not refused"


def beside_infinity(mode, row, wanted, **attributes):
    """ONNX's reference multiplies it by zeros."""
    arrays = {"x": np.array([row], "float32"), "region": np.array([-0.25, 1], "float32"), "sizes": np.array([len(wanted)])}
    node = helper.make_node("Resize", ["x", "region", "", "sizes"], ["y"], axes=[1], mode=mode, **attributes)
    return same(node, arrays, ["region", "sizes"], wanted=[np.array([wanted], "float32")])


def doubles():
    """Numbers that differ by less than float32 tells apart, made to whole ones."""
    x, scales = 1 + rng.uniform(0, 1e-9, (1, 5)), np.array([1, 1.7], "float32")
    model = network(helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear"), {"x": x, "scales": scales}, {"y": TensorProto.DOUBLE}, ["scales"])
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    replace_unknown_forms(model)
    found = ReferenceEvaluator(model).run(None, {"x": x})[0]
    return None if np.abs(found - wanted).max() < 1e-14 else f"{found} is not {wanted}"


def cache(mode):
    arrays = {"past": numbers(2, 5, 3), "new": numbers(2, 2, 3), "at": np.array([1, 3] if mode == "linear" else [4, 3])}
    return same(helper.make_node("TensorScatter", [*arrays], ["y"], mode=mode, axis=1), arrays, ["at"], opset=24)


def behind_the_cache():
    arrays = {"past": numbers(1, 3, 2), "new": numbers(1, 2, 2), "at": np.array([2])}
    return refused("behind the end", helper.make_node("TensorScatter", [*arrays], ["y"]), arrays, ["at"], 24)


def power(x, y):
    arrays = {"x": np.array([1, 2, 3], x), "y": np.array([2, 1, 3], y)}
    node = helper.make_node("Pow", ["x", "y"], ["z"])
    return same(node, arrays, outputs={"z": type_of(arrays["x"])}, stays=True)


def slope_of_channels():
    arrays = {"x": numbers(2, 3, 4), "s": numbers(3)}
    wanted = np.where(arrays["x"] < 0, arrays["s"][:, None] * arrays["x"], arrays["x"])
    return same(helper.make_node("PRelu", [*arrays], ["y"]), arrays, ["s"], opset=6, wanted=[wanted])


def half_of_waves():
    """What real numbers become, without the half that is the mirror of the other."""
    half = np.fft.rfft(numbers(2, 6))
    return np.stack([half.real, half.imag], -1).astype("float32")


def whole_convolution(channels):
    integers = rng.integers
    arrays = {
        "x": integers(0, 256, (1, channels, 4, 4)).astype("uint8"), "w": integers(100, 128, (2, channels, 3, 3)).astype("int8"),
        "xz": np.array(3, "uint8"),
    }  # fmt: skip
    node = helper.make_node("ConvInteger", [*arrays], ["y"], pads=[1, 1, 1, 1])
    return same(node, arrays, ["w", "xz"], outputs={"y": TensorProto.INT32})


def whole_window(extent, stays):
    """Sums of two channels, each of a window of the largest bytes."""
    arrays = {"x": np.full((1, 2, extent, extent), 255, "uint8"), "w": np.full((1, 2, extent, extent), 255, "uint8")}
    arrays["x"][0, 0, 0, 0] = 254
    return same(helper.make_node("ConvInteger", [*arrays], ["y"]), arrays, ["w"], outputs={"y": TensorProto.INT32}, stays=stays)


def nothing_in_an_input():
    """A cast to the type of an input that holds nothing."""
    node = helper.make_node("CastLike", ["x", "like"], ["y"])
    model = network(node, {"x": numbers(3), "like": np.zeros(0, "float16")}, {"y": TensorProto.FLOAT16})
    fix_empty_inputs(model, list(model.graph.input))
    inputs = [value.name for value in model.graph.input]
    if inputs != ["x", "like"] or model.graph.node[0].input[1] == "like":
        return f"inputs are {inputs}"
    return None


x = numbers(1, 2, 4, 6)
CASES = {
    "Attention of groups of heads": attention,
    "… causal, with softcap and scale": lambda: attention(is_causal=1, softcap=2.0, scale=0.3),
    "… with a cache, whose new form is an output": attention_with_cache,
    "RotaryEmbedding by position": rotary,
    "… interleaved, of some numbers": lambda: rotary(interleaved=1, rotary_embedding_dim=8),
    "LayerNormalization with mean and deviation": lambda: statistics(2),
    "… over two axes": lambda: statistics(1),
    "SoftmaxCrossEntropyLoss": lambda: loss("SoftmaxCrossEntropyLoss"),
    "NegativeLogLikelihoodLoss with a target to ignore": lambda: loss("NegativeLogLikelihoodLoss", ignore_index=3, reduction="sum"),
    "Celu": lambda: of_constants("Celu", numbers(2, 3), alpha=0.5),
    "… of the domain by its longer name": lambda: named_domain("ai.onnx", ""),
    "… in a file that has the longer name": lambda: named_domain("", "ai.onnx"),
    "CenterCropPad": lambda: of_constants("CenterCropPad", numbers(4, 7), [6, 4]),
    "Swish, whose attribute has a default": lambda: of_constants("Swish", numbers(2, 3), opset=24),
    "Scan with a value from outside": scan,
    "… from the end": lambda: scan(scan_input_directions=[1], scan_output_directions=[1]),
    "… along other axes": lambda: scan(scan_output_axes=[1]),
    "… of opset 9": lambda: scan(opset=9),
    "… whose constants are there once": shared_constants,
    "Scan of too many rounds is refused": too_many_rounds,
    "Scan without a body is refused": lambda: refused("not known", helper.make_node("Scan", ["x"], ["y"], num_scan_inputs=1), {"x": numbers(3)}),
    "DFT of too many numbers is refused": lambda: refused("too many", helper.make_node("DFT", ["x"], ["y"]), {"x": numbers(1, 4096, 1)}),
    "Loop of three rounds": loop,
    "… with a constant for its condition": lambda: loop(on="always"),
    "a Loop that ends by its condition stays": lambda: loop(stays=True, on="no"),
    "… if that is a constant node": lambda: loop(stays=True, on="always", always=False),
    "LpNormalization by squares": lambda: of_constants("LpNormalization", numbers(2, 3), axis=1, p=2),
    "… by distances, of a row of zeros": lambda: of_constants("LpNormalization", np.zeros((2, 3), "float32"), axis=0, p=1),
    "LpNormalization of opset 9": lambda: of_constants("LpNormalization", numbers(2, 3), opset=9),
    "Dropout with its mask": lambda: of_constants("Dropout", numbers(2, 3), outputs={"y": FLOAT, "m": TensorProto.BOOL}),
    "ReverseSequence": lambda: of_constants("ReverseSequence", numbers(4, 3, 2), [4, 1, 2]),
    "… of batches first": lambda: of_constants("ReverseSequence", numbers(3, 4), [4, 1, 2], time_axis=1, batch_axis=0),
    "CumProd": lambda: of_constants("CumProd", numbers(2, 4), 1, opset=26),
    "… without itself, from the end": lambda: of_constants("CumProd", numbers(4, 2), 0, opset=26, exclusive=1, reverse=1),
    "CumProd of too many rows is refused": lambda: refused(
        "too many", helper.make_node("CumProd", ["x", "axis"], ["y"]), {"x": numbers(5000, 1000), "axis": np.array(1)}, ["axis"], 26
    ),
    "TensorScatter": lambda: cache("linear"),
    "… in a circle": lambda: cache("circular"),
    "TensorScatter behind the end is refused": behind_the_cache,
    "Pow of numbers to whole ones": lambda: power("float32", "int64"),
    "… of whole ones to numbers": lambda: power("int32", "float32"),
    "… of whole ones to whole ones": lambda: power("int64", "int64"),
    "ReduceMax of truth values": lambda: of_constants("ReduceMax", np.array([[True, False], [False, False]]), [1], opset=20, stays=True),
    "DFT": lambda: of_constants("DFT", numbers(1, 6, 2), opset=20),
    "… of real numbers, the first half": lambda: of_constants("DFT", numbers(1, 6, 1), opset=20, onesided=1),
    "… back, of more numbers": lambda: of_constants("DFT", numbers(1, 3, 6, 2), 8, 1, opset=20, inverse=1),
    "Resize by scales that are no ratio of extents": lambda: resize(x, [1, 1, 0.6, 0.6], mode="linear"),
    "… of axes": lambda: resize(x, [2.0, 1.5], axes=[3, 2], mode="linear"),
    "… of bytes": lambda: resize(rng.integers(0, 256, (1, 5)).astype("uint8"), [1, 1.7], mode="nearest"),
    "… of bytes between others is refused": lambda: refused("cast them", *bytes_between()),
    "… to an axis of no elements": lambda: resize(numbers(1, 1, 4, 4), [1, 1, 0.1, 2], mode="nearest"),
    "… to sizes that keep the aspect": lambda: resize(x, sizes=[7, 8], axes=[2, 3], keep_aspect_ratio_policy="not_larger", mode="nearest"),
    "… cubic, against aliases": lambda: resize(x, [1, 1, 0.6, 0.6], mode="cubic", antialias=1),
    "… of more elements than are summed one by one": lambda: resize(numbers(2, 60), [1, 0.05], mode="linear", antialias=1),
    "… of a region": lambda: resize(
        x, sizes=[3, 3], region=[0.4, 0.6, 1.2, 0.8], axes=[2, 3], mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=10.0,
    ),
    "… to sizes whose ratio is rounded down as a scale": lambda: resize(
        numbers(7, 7), sizes=[5, 9], mode="linear", antialias=1,
    ),
    "… cubic, without what is outside": lambda: resize(numbers(7, 7), sizes=[5, 9], mode="cubic", exclude_outside=1),
    "… to sizes of a region": lambda: resize(
        numbers(7, 7), sizes=[5, 9], region=[0, 0.1, 1, 0.9], mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
    ),
    "… between others, keeping the aspect and not smaller": lambda: resize(
        numbers(2, 4), sizes=[1, 3], keep_aspect_ratio_policy="not_smaller", mode="linear",
    ),
    "… cubic, of three axes": lambda: resize(
        numbers(3, 5, 7), sizes=[4, 5, 8], keep_aspect_ratio_policy="not_smaller", mode="cubic", antialias=1,
    ),
    "… symmetrically, not larger": lambda: resize(
        numbers(5, 7), sizes=[4, 5], keep_aspect_ratio_policy="not_larger", mode="linear",
        coordinate_transformation_mode="half_pixel_symmetric",
    ),
    "… of a region that is an input asks for it": region_as_input,
    "… of large whole numbers": lambda: resize(np.array([[1 << 24, (1 << 24) + 1, -(1 << 30) - 1]], "int32"), [1, 1.7], mode="nearest"),
    "… of an infinity": lambda: beside_infinity("nearest", [1, np.inf, 2], [1, 1, np.inf, 2, 2]),
    "… between others, of which one is an infinity": lambda: beside_infinity("linear", [1, np.inf, 2], [1, np.inf, np.inf, np.inf, 2]),
    "… of an infinity, where another value is outside": lambda: beside_infinity(
        "linear", [np.inf, 3, 5], [7, np.inf, np.inf, 3, 4, 5], coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0,
    ),
    "… of whole numbers of a region, with others outside": lambda: resize(
        np.array([[1 << 24, (1 << 24) + 1, 3]], "int32"), sizes=[1, 5], region=[0, 0.3, 1, 1.7], mode="nearest",
        coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.0,
    ),
    "… of numbers in 64 bits": doubles,
    "… of the first half, back to real numbers": lambda: of_constants("DFT", half_of_waves(), opset=20, inverse=1, onesided=1),
    "STFT with a window": lambda: of_constants("STFT", numbers(2, 16, 1), 4, numbers(8), 8, opset=17),
    "… of both halves": lambda: of_constants("STFT", numbers(1, 16, 1), 3, None, 8, opset=20, onesided=0),
    "EyeLike": lambda: of_constants("EyeLike", numbers(3, 4), k=1, outputs={"y": TensorProto.INT32}, dtype=TensorProto.INT32),
    "EyeLike of too many numbers is refused": lambda: refused("too many", helper.make_node("EyeLike", ["x"], ["y"]), {"x": numbers(2049, 2048)}),
    "PRelu by channels, of opset 6": slope_of_channels,
    "OneHot": lambda: of_constants(
        "OneHot", np.array([[1, -1, 2], [0, 3, -4]], "float32"), np.float32(3), np.array([0, 5], "float32"), outputs={"y": FLOAT}, axis=1,
    ),
    "Unsqueeze by a number without a list": lambda: of_constants("Unsqueeze", numbers(3, 4), np.array(1), stays=True),
    "Dropout by nothing, in training": lambda: of_constants("Dropout", numbers(2, 3), np.float32(0), np.array(True)),
    "ConvInteger": lambda: whole_convolution(6),
    "… of so many channels that parts are summed": lambda: whole_convolution(900),
    "… of windows of so many numbers that channels are summed by themselves": lambda: whole_window(16, False),
    "… of windows of more numbers than are summed exactly stays": lambda: whole_window(17, True),
    "an input without elements is a constant": nothing_in_an_input,
}  # fmt: skip


def main():
    warnings.simplefilter("ignore")
    print(f"1..{len(CASES)}")
    failures = 0
    for number, (name, case) in enumerate(CASES.items(), 1):
        try:
            why = case()
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        failures += why is not None
        print(f"{'not ' * (why is not None)}ok {number} - {name}")
        if why is not None:
            print("# " + why.replace("\n", " ")[:600])
    sys.exit(1 if failures else 0)


main()
