# SPDX-License-Identifier: MIT
"""Compile random small graphs of ONNX operators, run them, and compare with ONNX Runtime.

usage: composer.py TENON FIRST COUNT [PROCESSOR...]    graphs FIRST to FIRST + COUNT - 1; the number is the seed, so each can be repeated

Each graph is for one of the processors, in turns; without any it has code for all that tenon-compile takes by default.
It is chosen of the operators in OPERATORS and fed with random numbers. A difference and a crash are failures.
What TVM does not import or compile is printed with the reason, by operator. COMPOSER_LIBRARY is the --library that graphs
are compiled with.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile import command  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402


class Composer:
    """A graph that grows. Values are named; shapes are known by ONNX's inference."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.shapes, self.used = [], [], {}, []
        channels, side = self.pick([3, 4, 8, 10, 16, 24]), self.pick([5, 7, 8, 12, 16])
        self.inputs = {
            "x.0": (1, channels, side, self.pick([1, side, side + 3])),
            "m": (self.pick([1, 6, 9]), self.pick([8, 12, 20])),
        }
        self.shapes.update(self.inputs)

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def constant(self, array):
        name = f"c{len(self.constants)}"
        array = np.asarray(array)
        self.constants.append(
            numpy_helper.from_array(array.astype("float32") if array.dtype == "float64" else array, name)
        )
        return name

    def numbers(self, *shape, low=-1.0, high=1.0):
        return self.constant(self.rng.uniform(low, high, shape))

    def ints(self, values):
        return self.constant(np.array(values, "int64"))

    def node(self, operator, inputs, shape, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        self.shapes[name] = tuple(int(extent) for extent in shape)
        return name

    def values(self, dims=None, test=lambda shape: True):
        return [name for name, shape in self.shapes.items() if (dims is None or len(shape) == dims) and test(shape)]

    def same(self, operator, x, *more, **attributes):
        return self.node(operator, [x, *more], self.shapes[x], **attributes)


def elementwise(operator, **attributes):
    return lambda g: g.same(operator, g.pick(g.values()), **attributes)


def bounded(operator):
    """A function that grows fast, or is defined for some numbers only, of a sigmoid."""
    return lambda g: g.same(operator, g.same("Sigmoid", g.pick(g.values())))


def two(operator, low=0.5):
    """With a number, a vector along an axis, a value of the same shape, or one that is broadcast."""

    def add(g):
        x = g.pick(g.values())
        shape = g.shapes[x]
        kind = g.pick(["number", "axis", "same", "constant", "mean"])
        if kind == "same":
            others = [name for name, other in g.shapes.items() if other == shape]
            other = g.pick(others)
            if operator == "Div":
                other = g.same("Add", g.same("Abs", other), g.constant(np.float32(1)))
        elif kind == "mean":
            other = g.node("ReduceMean", [x, g.ints([len(shape) - 1])], [*shape[:-1], 1], keepdims=1)
            if operator == "Div":
                other = g.same("Exp", g.same("Tanh", other))
        else:
            sizes = [1] * len(shape)
            if kind == "axis":
                axis = int(g.rng.integers(len(shape)))
                sizes[axis] = shape[axis]
            other = g.numbers(*(shape if kind == "constant" else sizes if kind == "axis" else ()), low=low, high=2.0)
        inputs = [x, other] if operator != "Sub" or g.rng.random() < 0.5 else [other, x]
        return g.node(operator, inputs, shape)

    return add


def conv(g):
    x = g.pick(g.values(4))
    batch, channels, height, width = g.shapes[x]
    kernel = g.pick([1, 1, 3, 5]), g.pick([1, 1, 3])
    padding = [k // 2 if g.rng.random() < 0.7 else 0 for k in kernel]
    stride, dilation = g.pick([1, 1, 2]), g.pick([1, 1, 1, 2])
    sizes = [
        (e + 2 * p - d * (k - 1) - 1) // stride + 1
        for e, p, k, d in zip((height, width), padding, kernel, [dilation] * 2)
    ]
    if min(sizes) < 1:
        return None
    groups = g.pick([1, 1, channels, 2 if channels % 2 == 0 else 1])
    outputs = (
        channels * g.pick([1, 2]) if groups == channels else g.pick([4, 6, 8, 12, 24]) * (groups if groups == 2 else 1)
    )
    inputs = [x, g.numbers(outputs, channels // groups, *kernel, low=-0.5, high=0.5)]
    if g.rng.random() < 0.6:
        inputs.append(g.numbers(outputs))
    return g.node("Conv", inputs, [batch, outputs, *sizes], kernel_shape=kernel, strides=[stride] * 2, dilations=[dilation] * 2,
                  pads=padding * 2, group=groups)  # fmt: skip


def conv_transpose(g):
    names = g.values(4, lambda shape: shape[2] * shape[3] < 300)
    if not names:
        return None
    x = g.pick(names)
    batch, channels, height, width = g.shapes[x]
    kernel, stride = g.pick([(2, 2), (3, 2), (2, 1)])
    sizes = [(extent - 1) * stride + kernel for extent in (height, width)]
    outputs = g.pick([2, 8])
    weights = [g.numbers(channels, outputs, kernel, kernel, low=-0.5, high=0.5)] + [g.numbers(outputs)] * (
        g.rng.random() < 0.5
    )
    return g.node("ConvTranspose", [x, *weights], [batch, outputs, *sizes], strides=[stride] * 2, kernel_shape=[kernel] * 2)


def pool(operator):
    def add(g):
        names = g.values(4, lambda shape: min(shape[2:]) >= 3)
        if not names:
            return None
        x = g.pick(names)
        stride, pad = g.pick([1, 2]), g.pick([0, 1])
        sizes = [(extent + 2 * pad - 3) // stride + 1 for extent in g.shapes[x][2:]]
        more = {"count_include_pad": g.pick([0, 1])} if operator == "AveragePool" else {}
        return g.node(
            operator, [x], [*g.shapes[x][:2], *sizes], kernel_shape=[3, 3], strides=[stride] * 2, pads=[pad] * 4, **more
        )

    return add


def global_pool(operator):
    def add(g):
        x = g.pick(g.values(4))
        return g.node(operator, [x], [*g.shapes[x][:2], 1, 1])

    return add


def batch_norm(g):
    x = g.pick(g.values(test=lambda shape: len(shape) in (2, 4)))
    channels = g.shapes[x][1]
    weights = [g.numbers(channels) for _ in range(3)] + [g.numbers(channels, low=0.2)]
    return g.same("BatchNormalization", x, *weights, epsilon=1e-3)


def layer_norm(g):
    x = g.pick(g.values(test=lambda shape: shape[-1] > 2))
    last = g.shapes[x][-1]
    return g.same("LayerNormalization", x, g.numbers(last), g.numbers(last), axis=-1, epsilon=1e-2)


def layer_norm_in_parts(g):
    x = g.pick(g.values(test=lambda shape: shape[-1] > 2))
    one = [*g.shapes[x][:-1], 1]
    mean = g.node("ReduceMean", [x, g.ints([-1])], one, keepdims=1)
    centred = g.same("Sub", x, mean)
    variance = g.node("ReduceMean", [g.same("Pow", centred, g.constant(np.float32(2))), g.ints([-1])], one, keepdims=1)
    deviation = g.same("Sqrt", g.same("Add", variance, g.constant(np.float32(0.01))))
    return g.same("Mul", g.same("Div", centred, deviation), g.numbers(g.shapes[x][-1]))


def hard_swish_in_parts(g):
    x = g.pick(g.values())
    gate = g.same(
        "Clip", g.same("Add", x, g.constant(np.float32(3))), g.constant(np.float32(0)), g.constant(np.float32(6))
    )
    if g.rng.random() < 0.5:
        return g.same("Mul", x, g.same("Div", gate, g.constant(np.float32(6))))
    return g.same("Div", g.same("Mul", gate, x), g.constant(np.float32(6)))


def gelu_in_parts(g):
    x = g.pick(g.values())
    inner = g.same("Erf", g.same("Div", x, g.constant(np.float32(np.sqrt(2)))))
    product = g.same("Mul", x, g.same("Add", inner, g.constant(np.float32(1))))
    return g.same("Mul", product, g.constant(np.float32(0.5)))


def silu_in_parts(g):
    x = g.pick(g.values())
    return g.same("Mul", x, g.same("Sigmoid", x))


def squeeze_and_excite(g):
    x = g.pick(g.values(4))
    batch, channels = g.shapes[x][:2]
    pooled = g.node("GlobalAveragePool", [x], [batch, channels, 1, 1])
    inner = g.node("Conv", [pooled, g.numbers(channels, channels, 1, 1)], [batch, channels, 1, 1])
    return g.same("Mul", x, g.same("HardSigmoid", inner, alpha=0.2, beta=0.5))


def softmax(operator):
    return lambda g: (lambda x: g.same(operator, x, axis=int(g.rng.integers(len(g.shapes[x])))))(g.pick(g.values()))


def product(g):
    x = g.pick(g.values())
    columns = g.pick([1, 5, 8, 24, 33])
    return g.node("MatMul", [x, g.numbers(g.shapes[x][-1], columns, low=-0.5, high=0.5)], [*g.shapes[x][:-1], columns])


def product_of_values(g):
    x = g.pick(g.values(test=lambda shape: len(shape) in (2, 4) and shape[-1] * shape[-2] < 600))
    shape = g.shapes[x]
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    other = g.node("Transpose", [x], [shape[axis] for axis in order], perm=order)
    return g.node("MatMul", [g.same("Tanh", x), other], [*shape[:-1], shape[-2]])


def gemm(g):
    x = g.pick(g.values(2))
    rows, inner = g.shapes[x]
    columns, turned = g.pick([4, 7, 16]), g.pick([0, 1])
    weights = g.numbers(*((columns, inner) if turned else (inner, columns)), low=-0.5, high=0.5)
    return g.node("Gemm", [x, weights, g.numbers(columns)], [rows, columns], transB=turned, alpha=0.5, beta=2.0)


def moved(g):
    x = g.pick(g.values())
    order = [int(axis) for axis in g.rng.permutation(len(g.shapes[x]))]
    return g.node("Transpose", [x], [g.shapes[x][axis] for axis in order], perm=order)


def reshaped(g):
    x = g.pick(g.values())
    shape = g.shapes[x]
    size = int(np.prod(shape))
    new = g.pick([[size], [1, size], [shape[0], size // shape[0]], [*shape[:-1], shape[-1], 1], [1, *shape]])
    if len(new) > 5:
        return None
    return g.node("Reshape", [x, g.ints(new)], new)


def flattened(g):
    x = g.pick(g.values())
    axis = int(g.rng.integers(len(g.shapes[x])))
    shape = g.shapes[x]
    return g.node("Flatten", [x], [int(np.prod(shape[:axis])), int(np.prod(shape[axis:]))], axis=axis)


def squeezed(g):
    names = g.values(test=lambda shape: 1 in shape and len(shape) > 1)
    if not names:
        return None
    x = g.pick(names)
    axis = g.shapes[x].index(1)
    return g.node("Squeeze", [x, g.ints([axis])], [e for i, e in enumerate(g.shapes[x]) if i != axis])


def unsqueezed(g):
    x = g.pick(g.values(test=lambda shape: len(shape) < 4))
    axis = int(g.rng.integers(len(g.shapes[x]) + 1))
    shape = list(g.shapes[x])
    shape.insert(axis, 1)
    return g.node("Unsqueeze", [x, g.ints([axis])], shape)


def joined(g):
    x = g.pick(g.values())
    axis = int(g.rng.integers(len(g.shapes[x])))
    shape = list(g.shapes[x])
    shape[axis] *= 2
    return g.node("Concat", [x, g.same("Relu", x)], shape, axis=axis)


def sliced(g):
    x = g.pick(g.values())
    axis = int(g.rng.integers(len(g.shapes[x])))
    shape = list(g.shapes[x])
    if shape[axis] < 3:
        return None
    step = g.pick([1, 1, 2])
    shape[axis] = -(-(shape[axis] - 2) // step)
    return g.node("Slice", [x, *(g.ints([v]) for v in (1, g.shapes[x][axis] - 1, axis, step))], shape)


def filled(g):
    x = g.pick(g.values(4))
    pads = [0, 0, 1, 2, 0, 0, 0, 1]
    shape = [e + a + b for e, a, b in zip(g.shapes[x], pads[:4], pads[4:])]
    return g.node("Pad", [x, g.ints(pads), g.constant(np.float32(g.pick([0, -1])))], shape)


def enlarged(g):
    names = g.values(4, lambda shape: shape[2] * shape[3] < 200)
    if not names:
        return None
    x = g.pick(names)
    n, channels, height, width = g.shapes[x]
    factors = g.pick([(2, 2), (1, 3), (2, 1)])
    scales = g.constant(np.array([1, 1, *factors], "float32"))
    how = g.pick([("asymmetric", "floor"), ("half_pixel", "round_prefer_floor")])
    return g.node("Resize", [x, "", scales], [n, channels, height * factors[0], width * factors[1]], mode="nearest",
                  coordinate_transformation_mode=how[0], nearest_mode=how[1])  # fmt: skip


def reduced(operator):
    def add(g):
        x = g.pick(g.values())
        shape, keep = list(g.shapes[x]), g.pick([0, 1])
        axis = int(g.rng.integers(len(shape)))
        if len(shape) == 1:
            keep = 1
        new = (
            [1 if i == axis else e for i, e in enumerate(shape)]
            if keep
            else [e for i, e in enumerate(shape) if i != axis]
        )
        return g.node(operator, [x, g.ints([axis])], new, keepdims=keep)

    return add


def expanded(g):
    names = g.values(test=lambda shape: 1 in shape)
    if not names:
        return None
    x = g.pick(names)
    shape = [3 if e == 1 else e for e in g.shapes[x]]
    return g.node("Expand", [x, g.ints(shape)], shape) if int(np.prod(shape)) < 20000 else None


def gathered(g):
    x = g.pick(g.values())
    axis = int(g.rng.integers(len(g.shapes[x])))
    shape = list(g.shapes[x])
    index = [int(i) for i in g.rng.integers(0, shape[axis], 3)]
    shape[axis] = 3
    return g.node("Gather", [x, g.ints(index)], shape, axis=axis)


def one_of_an_axis(g):
    x = g.pick(g.values(test=lambda shape: len(shape) > 1))
    shape = list(g.shapes[x])
    axis = int(g.rng.integers(len(shape)))
    index = g.constant(np.array(g.rng.integers(-shape[axis], shape[axis]), "int64"))
    return g.node("Gather", [x, index], shape[:axis] + shape[axis + 1 :], axis=axis)


def split(g):
    """Parts of several sizes; what reads them is chosen later."""
    x = g.pick(g.values())
    shape = list(g.shapes[x])
    axis = int(g.rng.integers(len(shape)))
    if shape[axis] < 3:
        return None
    sizes = [1, shape[axis] - 2, 1]
    names = [f"v{len(g.nodes)}", f"v{len(g.nodes)}.1", f"v{len(g.nodes)}.2"]
    g.nodes.append(helper.make_node("Split", [x, g.ints(sizes)], names, axis=axis))
    for name, size in zip(names, sizes):
        g.shapes[name] = (*shape[:axis], size, *shape[axis + 1 :])
    return names[1]


def conv_of_row(g):
    names = g.values(3, lambda shape: shape[2] > 4)
    if not names:
        return None
    x = g.pick(names)
    batch, channels, width = g.shapes[x]
    kernel, stride, outputs = g.pick([1, 3, 4]), g.pick([1, 2]), g.pick([5, 8, 18])
    weights = [g.numbers(outputs, channels, kernel, low=-0.5, high=0.5), g.numbers(outputs)]
    shape = [batch, outputs, (width + 1 - kernel) // stride + 1]
    return g.node("Conv", [x, *weights], shape, kernel_shape=[kernel], strides=[stride], pads=[1, 0])


def recurrent(operator, gates):
    def add(g):
        names = g.values(3, lambda shape: shape[0] < 10 and shape[1] * shape[2] < 1000)
        if not names:
            return None
        x = g.pick(names)
        steps, batch, inputs = g.shapes[x]
        direction, hidden = g.pick(["forward", "reverse", "bidirectional"]), g.pick([3, 8, 11])
        ways = 2 if direction == "bidirectional" else 1
        weights = [g.numbers(ways, gates * hidden, inputs), g.numbers(ways, gates * hidden, hidden), g.numbers(ways, 2 * gates * hidden)]
        more = {"linear_before_reset": g.pick([0, 1])} if operator == "GRU" else {}
        shape = [steps, ways, batch, hidden]
        return g.node(operator, [x, *weights], shape, hidden_size=hidden, direction=direction, **more)

    return add


OPERATORS = {
    "relu": elementwise("Relu"), "sigmoid": elementwise("Sigmoid"), "tanh": elementwise("Tanh"), "abs": elementwise("Abs"),
    "neg": elementwise("Neg"), "erf": elementwise("Erf"), "leaky relu": elementwise("LeakyRelu", alpha=0.1),
    "elu": elementwise("Elu"), "softplus": elementwise("Softplus"), "hard sigmoid": elementwise("HardSigmoid"),
    "hard swish": elementwise("HardSwish"), "exp": bounded("Exp"), "sqrt": bounded("Sqrt"), "log": bounded("Log"),
    "reciprocal": bounded("Reciprocal"), "sin": elementwise("Sin"),
    "clip": lambda g: g.same("Clip", g.pick(g.values()), g.constant(np.float32(-0.5)), g.constant(np.float32(0.7))),
    "add": two("Add"), "sub": two("Sub"), "mul": two("Mul"), "div": two("Div"), "max": two("Max", low=-1), "min": two("Min", low=-1),
    "conv": conv, "conv again": conv, "conv transpose": conv_transpose, "max pool": pool("MaxPool"),
    "average pool": pool("AveragePool"), "global average": global_pool("GlobalAveragePool"),
    "global max": global_pool("GlobalMaxPool"), "batch norm": batch_norm, "layer norm": layer_norm,
    "layer norm in parts": layer_norm_in_parts, "hard swish in parts": hard_swish_in_parts, "gelu in parts": gelu_in_parts,
    "silu in parts": silu_in_parts, "squeeze and excite": squeeze_and_excite, "softmax": softmax("Softmax"),
    "log softmax": softmax("LogSoftmax"), "product": product, "product of values": product_of_values, "gemm": gemm,
    "transpose": moved, "reshape": reshaped, "flatten": flattened, "squeeze": squeezed, "unsqueeze": unsqueezed,
    "concat": joined, "slice": sliced, "pad": filled, "resize": enlarged, "reduce mean": reduced("ReduceMean"),
    "reduce max": reduced("ReduceMax"), "reduce sum": reduced("ReduceSum"), "expand": expanded, "gather": gathered,
    "one of an axis": one_of_an_axis, "split": split, "conv of a row": conv_of_row, "lstm": recurrent("LSTM", 4),
    "gru": recurrent("GRU", 3), "rnn": recurrent("RNN", 1),
}  # fmt: skip


def compose(seed):
    """A network of about twelve operators, or of COMPOSER_SIZE; its outputs are the values that nothing reads."""
    composer, size = Composer(seed), int(os.environ.get("COMPOSER_SIZE", "12"))
    while len(composer.nodes) < size:
        name = composer.pick(list(OPERATORS))
        added = OPERATORS[name](composer)
        if added and int(np.prod(composer.shapes[added])) > 30000:
            break
    read = {name for node in composer.nodes for name in node.input}
    outputs = [name for node in composer.nodes for name in node.output if name not in read]
    values = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, composer.shapes[name]) for name in names]
        for names in (composer.inputs, outputs)
    ]
    graph = helper.make_graph(composer.nodes, f"graph {seed}", *values, composer.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def run(seed, folder, tenon, processors):
    """None if a graph is equal; else what happened to it, and whether that is a failure."""
    path, module = folder / "network.onnx", folder / "model.so"
    onnx.save(compose(seed), path)
    said = io.StringIO()
    words = [str(path), "-o", str(module), "--case", "--explain"]
    words += ["--processor", processors[seed % len(processors)]] if processors else []
    if library := os.environ.get("COMPOSER_LIBRARY"):
        from tenon_compile import costs

        costs.CLOSE = float("inf")  # products are its, whether they are faster there or not
        words += ["--library", library]
    try:
        with contextlib.redirect_stdout(said), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            command.run(command.parse_arguments(words))
    except CompileError as error:
        return f"refused: {error}", False
    import shlex

    words = shlex.split(said.getvalue().splitlines()[-1].split(": try ", 1)[1])
    done = subprocess.run([tenon, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return f"differs: {done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.returncode}", True
    left = [line for line in said.getvalue().splitlines() if line.startswith("left")]
    return (left[0], False) if left else None


def main():
    tenon, first, count, *processors = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    failures = others = 0
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            found = run(seed, Path(folder), tenon, processors)
        if found:
            failures += found[1]
            others += not found[1]
            print(f"graph {seed}: {found[0].replace(folder, '')}", flush=True)
    print(
        f"{count} graphs of {len(OPERATORS)} operators: {count - failures - others} equal, {others} refused or left, {failures} differ"
    )
    sys.exit(1 if failures else 0)


main()
