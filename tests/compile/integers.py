# SPDX-License-Identifier: MIT
"""Networks in 8-bit integers of a few nodes, compiled, and compared with ONNX Runtime.

usage: integers.py TENON [OPTION...]

TENON is the command, which may be several words; options are those of tenon-compile. Outputs are quantized, and may be
one step away from ONNX Runtime's. Each network says which rules it needs. Prints TAP.
"""

import contextlib
import io
import os
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile import command  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402

TYPES = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT}
# the best code, that for a level, and that for all, which a key gives that the module lacks
KEYS = (None, "x86_64_v3", "x86_64_v2")


class Network:
    """Nodes that grow; values are quantized, with a scale and a zero point each."""

    def __init__(self, dtype="uint8", seed=1):
        self.rng, self.dtype = np.random.default_rng(seed), dtype
        self.nodes, self.constants = [], []

    def constant(self, value, dtype):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def node(self, operator, inputs, domain="", **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def how(self, scale, zero=None):
        """Names of a scale and a zero point."""
        zero = (120 if self.dtype == "uint8" else -5) if zero is None else zero
        return [self.constant(scale, "float32"), self.constant(zero, self.dtype)]

    def quantized(self, value, scale=0.05):
        return self.node("QuantizeLinear", [value, *self.how(scale)])

    def number(self, value, scale=0.05):
        return self.node("DequantizeLinear", [value, *self.how(scale)])

    def both(self, value, scale=0.05):
        return self.number(self.quantized(value, scale), scale)

    def integers(self, *shape):
        return self.constant(self.rng.integers(-63, 64, shape), "int8")

    def scales(self, outputs):
        return [self.constant(self.rng.uniform(0.002, 0.004, outputs), "float32"), self.constant([0] * outputs, "int8")]

    def scale(self):
        """Names of one scale of weights, and its zero point."""
        return [self.constant(0.003, "float32"), self.constant(0, "int8")]

    def weights(self, *shape, axis=0):
        return self.node("DequantizeLinear", [self.integers(*shape), *self.scales(shape[axis])], axis=axis)

    def model(self, shape, output, of_type):
        inputs = [helper.make_tensor_value_info("x", TYPES[of_type], shape)]
        outputs = [helper.make_tensor_value_info(output, TYPES[self.dtype], None)]
        graph = helper.make_graph(self.nodes, "network", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def convolutions(g):
    """A block of a mobile network, with a residual connection, in QDQ form."""
    a = g.both("x", 0.02)
    b = g.both(g.node("Relu", [g.node("Conv", [a, g.weights(24, 11, 1, 1), g.constant(g.rng.uniform(-1, 1, 24), "float32")])]))
    c = g.both(g.node("Relu", [g.node("Conv", [b, g.weights(24, 1, 3, 3)], group=24, pads=[1] * 4)]))
    d = g.both(g.node("Conv", [c, g.weights(11, 24, 3, 3)], pads=[1] * 4))
    return (1, 11, 10, 12), g.quantized(g.node("Add", [a, d]), 0.06), {"convolution-in-integers": 3}


def pools(g):
    """Pools and averages, joined and moved."""
    a = g.both("x", 0.02)
    largest = g.both(g.node("MaxPool", [a], kernel_shape=[3, 3], strides=[2, 2]), 0.02)
    average = g.both(g.node("AveragePool", [a], kernel_shape=[3, 3], strides=[2, 2]), 0.02)
    joined = g.both(g.node("Concat", [largest, average], axis=1), 0.02)
    mean = g.both(g.node("GlobalAveragePool", [joined]), 0.01)
    found = {"average-in-integers": 1, "sum-in-integers": 1}
    return (1, 8, 9, 11), g.quantized(g.node("Flatten", [mean]), 0.01), found


def products(g):
    a = g.both("x", 0.02)
    b = g.both(g.node("Gemm", [a, g.weights(19, 30), g.constant(g.rng.uniform(-1, 1, 19), "float32")], transB=1))
    c = g.node("MatMul", [b, g.weights(19, 33, axis=1)])
    return (5, 30), g.quantized(c), {"product-in-integers": 2}


def wide_weights(g):
    """A convolution and a product whose weights, less their zero points, do not fit into 8 bits."""

    def weights(*shape):
        value = g.rng.integers(0, 256, shape)
        return g.node("DequantizeLinear", [g.constant(value, "uint8"), g.constant(0.002, "float32"), g.constant(90, "uint8")])

    a = g.both("x", 0.02)
    b = g.both(g.node("Conv", [a, weights(24, 11, 3, 3)], pads=[1] * 4))
    c = g.node("MatMul", [b, weights(12, 20)])
    return (1, 11, 10, 12), g.quantized(c, 0.1), {"convolution-in-integers": 1, "product-in-integers": 1}


def functions(g):
    a = g.both("x", 0.05)
    gate = g.both(g.node("HardSigmoid", [a], alpha=1 / 6), 1 / 100)
    b = g.both(g.node("Mul", [a, gate]), 0.045)
    return (3, 40), g.quantized(g.node("Sigmoid", [b]), 1 / 100), {"function-of-bytes-to-table": 1}


def quantized_operators(g):
    """Operators of quantized tensors: those of ONNX, and those that ONNX Runtime adds."""
    more = "com.microsoft"
    inner = g.how(0.05)
    x = ["x", *g.how(0.02)]
    bias = g.constant(g.rng.integers(-2000, 2000, 16), "int32")
    conv = g.node("QLinearConv", [*x, g.integers(16, 8, 3, 3), *g.scales(16), *inner, bias], pads=[1] * 4)
    total = g.node("QLinearAdd", [conv, *inner, conv, *inner, *g.how(0.1)], more)
    pooled = g.node("QLinearGlobalAveragePool", [total, *g.how(0.1), *g.how(0.01)], more)
    flat = g.node("Flatten", [pooled])
    product = g.node("QLinearMatMul", [flat, *g.how(0.01), g.integers(16, 10), *g.scale(), *g.how(0.01)])
    return (1, 8, 7, 9), product, {"convolution-in-integers": 1, "product-in-integers": 1, "sum-in-integers": 1}


def explained(path, module, words):
    """Compile; how often each rule was applied, and kernels that have TVM's default schedule."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        command.run(command.parse_arguments([str(path), "-o", str(module), "--explain", *words]))
    lines = [line.split() for line in said.getvalue().splitlines()]
    applied = {line[2]: int(line[0]) for line in lines if len(line) == 3 and line[1] == "×"}
    return applied, [line for line in said.getvalue().splitlines() if ": default: " in line or line.startswith("left")]


def run(build, dtype, of_type, folder, tenon, words):
    """Why a network is not what ONNX Runtime gives, or None."""
    network = Network(dtype)
    shape, output, rules = build(network)
    model = network.model(shape, output, of_type)
    path, module = folder / "network.onnx", folder / "model.so"
    onnx.save(model, path)
    rng = np.random.default_rng(2)
    x = rng.uniform(-2, 2, shape).astype("float32") if of_type == "float32" else rng.integers(0, 120, shape).astype(of_type)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": x})[0]
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", expected)
    applied, slow = explained(path, module, words)
    if slow or any(applied.get(rule, 0) < count for rule, count in rules.items()):
        return f"rules that were applied: {applied}, expected {rules}; " + "; ".join(slow)
    arguments = [*shlex.split(tenon), "run", str(module), "--input", f"x=@{folder / 'x.npy'}", "--expect", f"@{folder / 'y.npy'}", "--rtol", "0", "--atol", "1"]
    if expected.std() == 0:
        return "the outputs are all the same"
    # of a module with code for several processors all that this machine runs
    for key in KEYS if any("," in word for word in words) else KEYS[:1]:
        environment = {**os.environ, "TENON_PROCESSOR": key} if key else None
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        if done.returncode:
            return f"{key or 'the best code'}: {done.stdout}"
    return None


def main():
    tenon, *words = sys.argv[1:]
    cases = [(build, dtype, "float32") for build in (convolutions, pools, products, wide_weights, functions) for dtype in ("uint8", "int8")]
    cases += [(quantized_operators, dtype, dtype) for dtype in ("uint8", "int8")]
    failures = 0
    for number, (build, dtype, of_type) in enumerate(cases, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = run(build, dtype, of_type, Path(folder), tenon, words)
            except CompileError as error:
                found = str(error)
        failures += found is not None
        print(f"{'not ok' if found else 'ok'} {number} - {build.__name__.replace('_', ' ')} of {dtype} are one step from ONNX Runtime's at most")
        if found:
            print("# " + found.strip().replace("\n", "\n# "))
    print(f"1..{len(cases)}")
    sys.exit(1 if failures else 0)


main()
