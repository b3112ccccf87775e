# SPDX-License-Identifier: MIT
"""What oneDNN computes of a graph, with --library onednn: products that are expected to be faster there (costs.py).

Rules turn nodes into nodes "onednn", each a kernel of the runtime (runtime/byoc/dnnl) and what it does behind it. They
run once, inputs before their readers, behind those of rules.py. Kernels that read each other become a region: a node
"region", which the module calls as one function. Pictures come to it and leave it with channels last, as the schedules
have them. All other operators are TVM's, which fuses those that pass over memory.
"""

import math
from collections import Counter

import numpy

from .graph import Node, constant
from .integer_rules import SMALL
from .rules import operands

RULES = {}  # by operator: pairs of a name and a function of a graph and a node
DIMS_MOST = 5
PRODUCTS = ("conv2d", "conv2d_transpose", "dense", "matmul")
INTEGER_PRODUCTS = ("integer_conv2d", "integer_dense")

# functions of one operand
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


def rule(name, *operators):
    def add(function):
        for operator in operators:
            RULES.setdefault(operator, []).append((name, function))
        return function

    return add


def kernel(node, name, post_ops=None, last=False, **attributes):
    """A kernel in place of a node. @post_ops: a list if it takes functions behind it. @last: it has channels last.

    Attributes are lists of values.
    """
    how = {"kernel": name, "attributes": attributes, "post_ops": post_ops, "last": last, "original": node}
    return Node("onednn", node.inputs, node.shape, node.dtype, how)


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
    return kernel(node, name, post_ops=[], **attributes)


def window(node):
    return {key: node.attrs[key] for key in ("strides", "padding", "dilation")}


@rule("convolution", "conv2d")
def convolution(graph, node):
    how = {"groups": [node.groups], "data_layout": ["NHWC"], "kernel_layout": ["OIHW"], "last": True}
    return with_bias(node, "nn.conv2d", "dnnl.conv2d_bias", **window(node), **how)


@rule("transposed-convolution", "conv2d_transpose")
def transposed_convolution(graph, node):
    if node.groups != 1 or any(node.output_padding):
        return None
    how = {"groups": [1], "data_layout": ["NHWC"], "kernel_layout": ["IOHW"], "last": True}
    return with_bias(node, "nn.conv2d_transpose", "dnnl.deconv2d_bias", **window(node), **how)


@rule("dense", "dense")
def dense(graph, node):
    return with_bias(node, "nn.dense", "dnnl.dense_bias")


def reshaped(x, shape):
    return constant(x.value.reshape(shape)) if x.is_constant() else Node("reshape", [x], shape, x.dtype)


@rule("matrix-product", "matmul")
def matrix_product(graph, node):
    """The runtime's has three dimensions."""
    a, b = node.inputs
    if min(len(a.shape), len(b.shape)) < 2 or a.shape[:-2] != b.shape[:-2]:
        return None
    batch = math.prod(a.shape[:-2])
    inputs = [reshaped(one, (batch, *one.shape[-2:])) for one in (a, b)]
    whole = Node("matmul", inputs, (batch, *node.shape[-2:]), node.dtype)
    return reshaped(kernel(whole, "nn.batch_matmul", transpose_a=[0], transpose_b=[0]), node.shape)


# ---- products of 8-bit integers


def fitting(weights):
    """Weights as bytes with a sign, if they are within them."""
    limits = numpy.iinfo("int8")
    fits = limits.min <= weights.min() and weights.max() <= limits.max
    return weights.astype("int8") if fits else None


def are_scales(scales):
    """Whether the runtime takes them: numbers of float32 that are not 0."""
    limits = numpy.finfo("float32")
    return ((limits.tiny <= numpy.abs(scales)) & (numpy.abs(scales) <= limits.max)).all()


@rule("integer-product", "dequantize")
def integer_product(graph, node):
    """A product of bytes, and what makes float32 of its sums: a scale by channel, and a bias."""
    sums = node.input
    if sums.op not in INTEGER_PRODUCTS or not graph.single(sums) or numpy.any(numpy.asarray(node.zero) != 0):
        return None
    channels = sums.shape[1]
    scales, shift = (numpy.broadcast_to(numpy.asarray(one, "float64"), (channels,)) for one in (node.scale, node.shift))
    weights = fitting(sums.inputs[1].value)
    if weights is None or node.axis not in (None, 1) or not are_scales(scales):
        return None
    padded = sums.op == "integer_conv2d" and any(sums.padding)
    if not padded:  # each sum has the same products of the zero point
        shift = shift - scales * sums.zero * weights.astype("int64").reshape(channels, -1).sum(1)
    how = {"zero_point": [sums.zero if padded else 0]}
    if sums.op == "integer_conv2d":
        how |= {**window(sums), "groups": [sums.groups], "data_layout": ["NHWC"], "kernel_layout": ["OIHW"]}
    attrs = {
        "kernel": "dnnl.conv2d_bias" if sums.op == "integer_conv2d" else "dnnl.dense_bias", "attributes": how, "post_ops": [],
        "last": sums.op == "integer_conv2d", "original": sums,
    }  # fmt: skip
    return with_scales(Node("onednn", [sums.input, constant(weights)], node.shape, "float32", attrs), scales, shift)


def with_scales(node, scales, shift):
    """A product of integers with other numbers, and what they were."""
    how = node.attributes | {"scales": scales.astype("float32").tolist()}
    inputs = [*node.inputs[:2], constant(shift.astype("float32"))]
    return Node("onednn", inputs, node.shape, node.dtype, {**node.attrs, "attributes": how, "numbers": (scales, shift)})


@rule("result-in-bytes", "quantize")
def result_in_bytes(graph, node):
    x = node.input
    if x.op != "onednn" or x.input.dtype not in SMALL or x.dtype != "float32" or not graph.single(x):
        return None
    if ("sum", 0.0, 0.0) in x.post_ops:
        return None  # oneDNN adds to its result, which would be bytes
    if x.post_ops:
        x = x.like(x.inputs, post_ops=[*x.post_ops, ("linear", 1 / node.scale, float(node.zero))])
    else:
        scales, shift = x.numbers
        if not are_scales(scales / node.scale):
            return None
        x = with_scales(x, scales / node.scale, shift / node.scale + node.zero)
    x.dtype = node.dtype
    return x


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


# ---- regions


def takes(node):
    """Whether the types and dimensions of a node are the runtime's. Rules for integers look at their types."""
    integers = node.op in ("dequantize", "quantize")
    return all(
        (integers or one.dtype == "float32") and len(one.shape) <= DIMS_MOST and one.elements and (one.shape or one.is_constant())
        for one in (node, *node.inputs)
    )


def product_of(node):
    """The product that a rule makes a kernel of; None if it is another rule."""
    if node.op == "dequantize":
        return node.input
    return node if node.op in PRODUCTS else None


def ends_in_bytes(graph, node):
    """Whether functions behind a node end in its quantized form."""
    while graph.single(node):
        [node] = graph.readers(node)
        if node.op == "quantize":
            return True
        if node.op not in ("unary", "clip", "affine") or function_of(node) is None:
            break
    return False


def passes(graph, node):
    """What a product passes memory for besides: the sum with another value, or a result that is not made bytes."""
    return not ends_in_bytes(graph, node) if node.op == "dequantize" else is_summed(graph, node)


def is_summed(graph, node):
    """Whether what reads a product is its sum with another value, which becomes part of it (sum_behind)."""
    if node.op not in ("conv2d", "dense") or not graph.single(node):
        return False
    [reader] = graph.readers(node)
    return reader.op == "binary" and reader.function == "add" and all(
        one.shape == node.shape and not one.is_constant() for one in reader.inputs
    )  # fmt: skip


def to_kernels(graph, faster):
    """Apply the rules; how often each was applied."""
    applied = Counter()
    for node in graph.nodes():
        if node not in graph or not takes(node):
            continue
        for name, change in RULES.get(node.op, ()):
            new = change(graph, node)
            if new is not None and (product_of(node) is None or faster(product_of(node), passes(graph, node))):
                graph.replace(node, new)
                applied[name] += 1
                break
    return applied


def connected(nodes):
    """Lists of nodes that read each other, in their order."""
    lists = {}  # of each node: the list that it is in
    for node in nodes:
        whole = [node]
        for one in node.inputs:
            if one in lists and lists[one] is not whole:
                whole = lists[one] + [other for other in whole if other not in lists[one]]
        for one in whole:
            lists[one] = whole
    return list({id(one): one for one in lists.values()}.values())


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
        if ours:
            lists += connected(taken)
        left, ours = [node for node in left if node not in done], not ours
    return lists


def region_of(graph, name, nodes):
    """A node that computes others. Its own nodes and results are copies, which read inputs of the region."""
    copies, inputs = {}, []  # of nodes, and whether they have channels last
    for node in nodes:
        for one in node.inputs:
            key = one, node.last
            if key not in copies and not one.is_constant():
                copies[key] = Node("input", [], one.shape, one.dtype, {"last": node.last})
                inputs.append(one)
        copies[node, node.last] = node.like([copies.get((one, node.last), one) for one in node.inputs])
    inside = set(nodes)
    results = [
        node for node in nodes if node in graph.outputs or any(reader not in inside for reader in graph.readers(node))
    ]
    how = {
        "name": name, "inside": [copies[node, node.last] for node in nodes],
        "reads": [copy for copy in copies.values() if copy.op == "input"],
        "results": [copies[node, node.last] for node in results],
    }  # fmt: skip
    return Node("region", inputs, results[0].shape, results[0].dtype, how), results


def make_regions(graph, faster=lambda node, summed: True):
    """Put products that are faster in oneDNN into regions; how often each rule was applied."""
    applied = to_kernels(graph, faster)
    for number, nodes in enumerate(kernels_together(graph)):
        region, results = region_of(graph, f"onednn_{number}", nodes)
        for i, node in enumerate(results):
            part = Node("region_result", [region], node.shape, node.dtype, {"number": i})
            graph.replace(node, part if len(results) > 1 else region)
    return applied
