#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a network in ONNX as a graph of operators, for "tenon partition". Needs no TVM.

    pip install onnx
    python3 examples/compile/operators.py network.onnx -o net.d --shape image=1,3,224,224
    tenon partition --for dnnl,c --params net.d/graph.params -o parts net.d/graph.json
    sh parts/link.sh -o model.so

It knows the operators of convolutional networks in float32. A batch normalisation becomes part of the convolution
before it, and the steps of a hard swish become one operator.
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import numpy
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "compile"))
from tenon_compile.command import shapes_of  # noqa: E402
from tenon_compile.errors import CompileError  # noqa: E402
from tenon_compile.folding import fold, known_shapes  # noqa: E402
from tenon_compile.onnx_file import fix_shapes, forget_output_shapes, read  # noqa: E402

PARAMS_MAGIC, TENSOR_MAGIC = 0xF7E58D4F05049CB7, 0xDD5E40F096B4A13F

# operators that have one input and no attributes, and those of two inputs
SAME = {
    "Relu": "nn.relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Exp": "exp", "Sqrt": "sqrt", "Abs": "abs", "Log": "log",
    "HardSwish": "hard_swish", "Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide", "Max": "maximum",
    "Min": "minimum", "GlobalAveragePool": "nn.global_avg_pool2d", "Flatten": "reshape", "Reshape": "reshape",
    "Squeeze": "reshape", "Unsqueeze": "reshape",
}  # fmt: skip


def fail(message):
    sys.exit(f"operators.py: {message}")


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def constant_of(network, name):
    """The value of a constant, or None."""
    return next((numpy_helper.to_array(t) for t in network.graph.initializer if t.name == name), None)


class Rewriter:
    """Simplifies a network in place."""

    def __init__(self, network):
        self.graph = network.graph
        self.constants = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        self.outputs = {value.name for value in self.graph.output}

    def readers(self, name):
        return [n for n in self.graph.node if name in n.input]

    def only_reader(self, node, kind):
        """The node of a kind that alone reads a node's output; None if there is another."""
        found = self.readers(node.output[0])
        if node.output[0] not in self.outputs and len(found) == 1 and found[0].op_type == kind:
            return found[0]
        return None

    def scalar(self, node):
        """The constant of an operator whose other input is computed, or None."""
        values = [self.constants[name] for name in node.input if name in self.constants]
        return float(values[0].reshape(-1)[0]) if len(values) == 1 and values[0].size == 1 else None

    def set_constant(self, name, value):
        self.constants[name] = numpy.asarray(value, "float32")

    def fold_normalisation(self, conv):
        norm = self.only_reader(conv, "BatchNormalization")
        if not norm or conv.input[1] not in self.constants:
            return
        scale, shift, mean, variance = (self.constants[name] for name in norm.input[1:5])
        factor = scale / numpy.sqrt(variance + attributes(norm).get("epsilon", 1e-5))
        weights = self.constants[conv.input[1]]
        bias = self.constants[conv.input[2]] if len(conv.input) > 2 else 0
        prefix = conv.output[0]
        self.set_constant(prefix + "_weights", weights * factor.reshape(-1, *[1] * (weights.ndim - 1)))
        self.set_constant(prefix + "_bias", (bias - mean) * factor + shift)
        conv.input[:] = [conv.input[0], prefix + "_weights", prefix + "_bias"]
        conv.output[0] = norm.output[0]
        self.graph.node.remove(norm)

    def fold_hard_swish(self, add):
        """x * clip(x + 3, 0, 6) / 6"""
        clip = self.only_reader(add, "Clip") if self.scalar(add) == 3 else None
        mul = (
            self.only_reader(clip, "Mul")
            if clip and [float(self.constants[n]) for n in clip.input[1:]] == [0, 6]
            else None
        )
        div = self.only_reader(mul, "Div") if mul and add.input[0] in mul.input else None
        if div and self.scalar(div) == 6:
            add.op_type = "HardSwish"
            add.input[:] = [add.input[0]]
            add.output[0] = div.output[0]
            for node in (clip, mul, div):
                self.graph.node.remove(node)

    def rewrite(self):
        for kind, fold_into in (("Conv", self.fold_normalisation), ("Add", self.fold_hard_swish)):
            for node in [n for n in self.graph.node if n.op_type == kind]:
                fold_into(node)


class Graph:
    """A graph.json and its parameters."""

    def __init__(self, shapes):
        self.shapes, self.nodes, self.rows, self.types, self.params = shapes, [], [], [], {}
        self.place = {}  # of each value: number of its node

    def add(self, name, shape, node):
        self.place[name] = len(self.nodes)
        self.nodes.append({"op": node.pop("op", "tvm_op"), "name": name, **node})
        self.rows.append(list(shape))

    def add_variable(self, name, shape, value=None):
        if name not in self.place:
            self.add(name, shape, {"op": "null", "inputs": []})
            if value is not None:
                self.params[name] = numpy.ascontiguousarray(value, "float32")

    def add_operator(self, name, function, inputs, shape, **attrs):
        attrs = {key: str(value) for key, value in attrs.items()}
        attrs.update(func_name=function, num_inputs=str(len(inputs)), num_outputs="1", flatten_data="0")
        self.add(name, shape, {"attrs": attrs, "inputs": [[self.place[i], 0, 0] for i in inputs]})

    def text(self, outputs):
        variables = [i for i, node in enumerate(self.nodes) if node["op"] == "null"]
        count = len(self.rows)
        attrs = {
            "shape": ["list_shape", self.rows],
            "dltype": ["list_str", ["float32"] * count],
            "storage_id": ["list_int", list(range(count))],  # a storage of its own for each value
        }
        return json.dumps(
            {
                "nodes": self.nodes,
                "arg_nodes": variables,
                "heads": [[self.place[name], 0, 0] for name in outputs],
                "node_row_ptr": list(range(len(self.nodes) + 1)),
                "attrs": attrs,
            },
            indent=1,
        )

    def param_bytes(self):
        out = [struct.pack("<QQQ", PARAMS_MAGIC, 0, len(self.params))]
        for name in self.params:
            out += [struct.pack("<Q", len(name.encode())), name.encode()]
        out.append(struct.pack("<Q", len(self.params)))
        for value in self.params.values():
            out.append(struct.pack("<QQiiiBBH", TENSOR_MAGIC, 0, 1, 0, value.ndim, 2, 32, 1))
            out += [struct.pack(f"<{value.ndim}qq", *value.shape, value.nbytes), value.tobytes()]
        return b"".join(out)


def window(attrs, kernel):
    """Strides, padding and dilation, from the attributes of a convolution or pooling."""
    if attrs.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        fail("auto_pad is not supported: export the network with pads")
    dims = len(kernel)
    return {
        "strides": attrs.get("strides", [1] * dims),
        "padding": attrs.get("pads", [0] * 2 * dims),
        "dilation": attrs.get("dilations", [1] * dims),
    }


def add_node(graph, constants, node):
    """Append the operators of a node of ONNX."""
    attrs, out, kind = attributes(node), node.output[0], node.op_type
    shape = graph.shapes.get(out)
    inputs = [name for name in node.input if name]
    if shape is None:
        fail(f"{kind} {out}: its shape depends on data")

    def variable(name, value=None):
        value = constants.get(name) if value is None else value
        if value is not None:
            graph.add_variable(name, value.shape or (1,), value.reshape(value.shape or (1,)))

    if kind == "Conv":
        weights = constants.get(inputs[1])
        if weights is None or weights.ndim != 4:
            fail(f"{kind} {out}: expected constant weights of 4 dimensions")
        for name in inputs[1:]:
            variable(name)
        product = out if len(inputs) < 3 else out + "_product"
        how = {"groups": attrs.get("group", 1), "data_layout": "NCHW", "kernel_layout": "OIHW"}
        graph.add_operator(product, "nn.conv2d", inputs[:2], shape, **window(attrs, weights.shape[2:]), **how)
        if product != out:
            graph.add_operator(out, "nn.bias_add", [product, inputs[2]], shape, axis=1)
    elif kind in ("Gemm", "MatMul"):
        weights = constants.get(inputs[1])
        if weights is None or weights.ndim != 2 or len(shape) != 2 or attrs.get("transA"):
            fail(f"{kind} {out}: expected a matrix, and constant weights")
        weights = weights if attrs.get("transB") else weights.T
        variable(out + "_weights", weights * numpy.float32(attrs.get("alpha", 1)))
        product = out if len(inputs) < 3 else out + "_product"
        graph.add_operator(product, "nn.dense", [inputs[0], out + "_weights"], shape)
        if product != out:
            variable(out + "_bias", constants[inputs[2]] * numpy.float32(attrs.get("beta", 1)))
            graph.add_operator(out, "add", [product, out + "_bias"], shape)
    elif kind in ("MaxPool", "AveragePool"):
        size = attrs["kernel_shape"]
        name = "nn.max_pool2d" if kind == "MaxPool" else "nn.avg_pool2d"
        how = {"pool_size": size, "layout": "NCHW", "count_include_pad": attrs.get("count_include_pad", 0)}
        graph.add_operator(out, name, inputs, shape, **window(attrs, size), **how)
    elif kind == "HardSigmoid":
        how = {"alpha": attrs.get("alpha", 0.2), "beta": attrs.get("beta", 0.5)}
        graph.add_operator(out, "hard_sigmoid", inputs, shape, **how)
    elif kind == "Clip":
        low, high = (float(constants[name]) for name in inputs[1:3])
        graph.add_operator(out, "clip", inputs[:1], shape, a_min=low, a_max=high)
    elif kind == "Softmax":
        graph.add_operator(out, "nn.softmax", inputs, shape, axis=attrs.get("axis", -1))
    elif kind == "Concat":
        graph.add_operator(out, "concatenate", inputs, shape, axis=attrs["axis"])
    elif kind == "Identity":
        graph.place[out] = graph.place[inputs[0]]
    elif kind in SAME:
        function = SAME[kind]
        inputs = inputs[:1] if function == "reshape" else inputs
        for name in inputs:
            variable(name)
        graph.add_operator(out, function, inputs, shape)
    else:
        fail(f"{out}: operator {kind} of ONNX is not supported here")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", type=Path, help="the ONNX file")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for graph.json and graph.params")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1,3,224,224", help="shape of an input")
    options = parser.parse_args()

    network = read(options.network)
    given = shapes_of(options.shape)
    inputs = fix_shapes(network, given)
    forget_output_shapes(network, given)
    fold(network)
    shapes = known_shapes(network)
    rewriter = Rewriter(network)
    rewriter.rewrite()
    graph = Graph(shapes)
    for value in inputs:
        graph.add_variable(value.name, shapes[value.name])
    for node in network.graph.node:
        add_node(graph, rewriter.constants, node)
    options.output.mkdir(parents=True, exist_ok=True)
    text = graph.text([value.name for value in network.graph.output])
    (options.output / "graph.json").write_text(text + "\n")
    (options.output / "graph.params").write_bytes(graph.param_bytes())
    print(f"{options.output}/graph.json: {len(graph.nodes) - len(graph.params) - len(inputs)} operators")


if __name__ == "__main__":
    try:
        main()
    except CompileError as error:
        fail(error)
