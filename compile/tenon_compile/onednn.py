# SPDX-License-Identifier: MIT
"""What oneDNN computes of a graph, with --library onednn.

Rules turn nodes into nodes "onednn", each a kernel of the runtime (runtime/byoc/dnnl) and what it does behind it. They
run once, inputs before their readers, behind those of rules.py. Kernels that read each other become a region: a node
"region", which the module calls as one function. Between its kernels values have the layouts that oneDNN chooses, so
a region is as large as the graph allows. One without a product is left to TVM, which fuses what passes over memory.
"""

import math
from collections import Counter

import numpy

from .graph import Node, constant
from .rules import operands, spread

RULES = {}  # by operator: pairs of a name and a function of a graph and a node
DIMS_MOST = 5
INPUTS_MOST = 64  # of a concatenation: OPERATION_INPUTS_MOST

# functions of one operand, and the numbers that a function has: in a kernel's attributes of these names
FUNCTIONS = {
    "abs": "abs",
    "exp": "exp",
    "gelu": "gelu_erf",
    "gelu_tanh": "gelu_tanh",
    "hard_swish": "hard_swish",
    "log": "log",
    "relu": "nn.relu",
    "sigmoid": "sigmoid",
    "silu": "nn.silu",
    "sqrt": "sqrt",
    "tanh": "tanh",
}
NUMBERS = {"clip": ("a_min", "a_max"), "linear": ("alpha", "beta")}
BINARY = ("add", "divide", "maximum", "minimum", "multiply", "subtract")


def rule(name, *operators):
    def add(function):
        for operator in operators:
            RULES.setdefault(operator, []).append((name, function))
        return function

    return add


def kernel(node, name, inputs=None, post_ops=None, product=False, **attributes):
    """A kernel in place of a node. @post_ops: a list if it takes functions behind it. Attributes are lists of values."""
    how = {"kernel": name, "attributes": attributes, "post_ops": post_ops, "product": product, "original": node}
    return Node("onednn", node.inputs if inputs is None else inputs, node.shape, node.dtype, how)


def original(node):
    """The node that a kernel without functions behind it stands for."""
    return node.original.like(node.inputs)


def function_of(node):
    """The name and the numbers of a function of one operand; None if oneDNN does not have it."""
    if node.op == "unary":
        return (FUNCTIONS[node.function], 0.0, 0.0) if node.function in FUNCTIONS else None
    if node.op == "clip":
        return ("clip", node.low, node.high) if math.isfinite(node.low) and math.isfinite(node.high) else None
    return ("linear", float(node.scale), float(node.shift)) if node.axis is None else None


# ---- products


def with_bias(node, name, named_with_bias, **attributes):
    if not all(one.is_constant() for one in node.inputs[1:]):
        return None
    name = named_with_bias if len(node.inputs) > 2 else name
    return kernel(node, name, post_ops=[], product=True, **attributes)


def window(node):
    return {key: node.attrs[key] for key in ("strides", "padding", "dilation")}


@rule("convolution", "conv2d")
def convolution(graph, node):
    how = {"groups": [node.groups], "data_layout": ["NCHW"], "kernel_layout": ["OIHW"]}
    return with_bias(node, "nn.conv2d", "dnnl.conv2d_bias", **window(node), **how)


@rule("transposed-convolution", "conv2d_transpose")
def transposed_convolution(graph, node):
    if node.groups != 1 or any(node.output_padding):
        return None
    how = {"groups": [1], "data_layout": ["NCHW"], "kernel_layout": ["IOHW"]}
    return with_bias(node, "nn.conv2d_transpose", "dnnl.deconv2d_bias", **window(node), **how)


@rule("dense", "dense")
def dense(graph, node):
    return with_bias(node, "nn.dense", "dnnl.dense_bias")


def reshaped(x, shape):
    if x.is_constant():
        return constant(x.value.reshape(shape))
    return kernel(Node("reshape", [x], shape, x.dtype), "reshape")


@rule("matrix-product", "matmul")
def matrix_product(graph, node):
    """The runtime's has three dimensions."""
    a, b = node.inputs
    if min(len(a.shape), len(b.shape)) < 2 or a.shape[:-2] != b.shape[:-2]:
        return None
    batch = math.prod(a.shape[:-2])
    inputs = [reshaped(one, (batch, *one.shape[-2:])) for one in (a, b)]
    whole = Node("matmul", inputs, (batch, *node.shape[-2:]), node.dtype)
    return reshaped(kernel(whole, "nn.batch_matmul", product=True, transpose_a=[0], transpose_b=[0]), node.shape)


# ---- what follows a product


@rule("post-op", "unary", "clip", "affine")
def post_op(graph, node):
    x, function = node.input, function_of(node)
    if function is None or x.op != "onednn" or x.post_ops is None or not graph.single(x):
        return None
    return x.like(x.inputs, post_ops=[*x.post_ops, function])


@rule("sum", "binary")
def sum_behind(graph, node):
    """A product that is added to another value, before any function."""
    if node.function != "add":
        return None
    for other, x in operands(node):
        if (
            x.op == "onednn"
            and x.post_ops == []
            and x.kernel not in ("nn.conv2d_transpose", "dnnl.deconv2d_bias")
            and graph.single(x)
            and x.shape == other.shape
            and not other.is_constant()
        ):
            return x.like([*x.inputs, other], post_ops=[("sum", 0.0, 0.0)])
    return None


# ---- other kernels


@rule("function", "unary", "clip", "affine")
def function(graph, node):
    found = function_of(node)
    if found is None:
        return None
    name, *numbers = found
    return kernel(node, name, **{key: [value] for key, value in zip(NUMBERS.get(name, ()), numbers)})


def two_operands(name, a, b):
    return kernel(Node("binary", [a, b], a.shape, a.dtype, {"function": name}), name)


@rule("affine", "affine")
def affine_along_axis(graph, node):
    x, extent = node.input, node.shape[node.axis]
    along = [1] * len(node.shape)
    along[node.axis] = -1
    scale, shift = (constant(spread(value, extent).reshape(along)) for value in (node.scale, node.shift))
    if numpy.any(scale.value != 1):
        x = two_operands("multiply", x, scale)
    return two_operands("add", x, shift) if numpy.any(shift.value != 0) or x is node.input else x


@rule("two-operands", "binary")
def binary(graph, node):
    """One of them has the shape of the result; of a difference or quotient the first."""
    if node.function not in BINARY:
        return None
    ordered = node.function in ("subtract", "divide")
    if not any(one.shape == node.shape for one in node.inputs[: 1 if ordered else 2]):
        return None
    inputs = [one if one.shape else reshaped(one, [1] * len(node.shape)) for one in node.inputs]
    return kernel(node, node.function, inputs)


@rule("pool", "pool2d")
def pool(graph, node):
    if node.ceil_mode and node.kind == "avg":
        return None
    how = {"pool_size": node.size, "layout": ["NCHW"], "count_include_pad": [int(node.count_include_pad)]}
    return kernel(node, f"nn.{node.kind}_pool2d", **window(node), **how)


@rule("pool", "reduce")
def mean_of_picture(graph, node):
    if node.function != "mean" or node.axes != [2, 3] or len(node.input.shape) != 4 or not node.keep:
        return None
    return kernel(node, "nn.global_avg_pool2d", layout=["NCHW"])


@rule("softmax", "softmax")
def softmax(graph, node):
    return kernel(node, "nn.softmax", axis=[node.axis])


@rule("layer-norm", "layer_norm")
def layer_norm(graph, node):
    if len(node.shape) < 2 or any(one.shape != node.shape[-1:] for one in node.inputs[1:]):
        return None
    return kernel(node, "nn.layer_norm", epsilon=[node.epsilon], axis=[-1], scale=[1], center=[1])


@rule("concat", "concat")
def concat(graph, node):
    return kernel(node, "concatenate", axis=[node.axis]) if len(node.inputs) <= INPUTS_MOST else None


@rule("reshape", "reshape")
def reshape(graph, node):
    return kernel(node, "reshape")


# ---- regions


def takes(node):
    """Whether the types and dimensions of a node are the runtime's."""
    return all(
        one.dtype == "float32" and len(one.shape) <= DIMS_MOST and one.elements and (one.shape or one.is_constant())
        for one in (node, *node.inputs)
    )


def to_kernels(graph):
    """Apply the rules; how often each was applied."""
    applied = Counter()
    for node in graph.nodes():
        if node not in graph or not takes(node):
            continue
        for name, change in RULES.get(node.op, ()):
            new = change(graph, node)
            if new is not None:
                graph.replace(node, new)
                applied[name] += 1
                break
    return applied


def kernels_together(graph):
    """Lists of kernels that can be computed one list after the other, with nodes of TVM's between them."""
    order = graph.nodes()
    done = {node for node in order if node.op in ("input", "constant")}
    left, lists, ours = [node for node in order if node not in done], [], True
    while left:
        taken = []
        for node in left:
            if (node.op == "onednn") == ours and all(one in done for one in node.inputs):
                taken.append(node)
                done.add(node)
        if taken and ours:
            lists.append(taken)
        left, ours = [node for node in left if node not in done], not ours
    return lists


def region_of(graph, name, nodes):
    """A node that computes others. Its own nodes and results are copies, which read inputs of the region."""
    copies, inputs = {}, []
    for node in nodes:
        for one in node.inputs:
            if one not in copies and not one.is_constant():
                copies[one] = Node("input", [], one.shape, one.dtype)
                inputs.append(one)
        copies[node] = node.like([copies.get(one, one) for one in node.inputs])
    inside = set(nodes)
    results = [
        node for node in nodes if node in graph.outputs or any(reader not in inside for reader in graph.readers(node))
    ]
    how = {
        "name": name, "inside": [copies[node] for node in nodes], "reads": [copies[one] for one in inputs],
        "results": [copies[node] for node in results],
    }  # fmt: skip
    return Node("region", inputs, results[0].shape, results[0].dtype, how), results


def make_regions(graph):
    """Put a graph's kernels into regions; how often each rule was applied."""
    applied, regions = to_kernels(graph), 0
    for nodes in kernels_together(graph):
        if not any(node.product for node in nodes):
            for node in nodes:
                graph.replace(node, original(node))
            continue
        region, results = region_of(graph, f"onednn_{regions}", nodes)
        regions += 1
        for number, node in enumerate(results):
            part = Node("region_result", [region], node.shape, node.dtype, {"number": number})
            graph.replace(node, part if len(results) > 1 else region)
    return applied
