# SPDX-License-Identifier: MIT
"""Compute what no longer depends on inputs of a network in ONNX, now that their shapes are fixed.

Networks take their own shapes apart to reshape tensors. TVM's importer wants these shapes as constants.
"""

import numpy
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .errors import CompileError, first_line

# operators that give another result each time
RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"}


def known_types(network):
    """The types of all values, by name."""
    try:
        graph = onnx.shape_inference.infer_shapes(network, data_prop=True).graph
    except Exception as error:  # the library raises whatever its C++ does
        raise CompileError(f"shapes cannot be inferred: {first_line(error)}") from error
    return {value.name: value.type for value in [*graph.input, *graph.value_info, *graph.output]}


def shapes_of(types):
    """The shapes of tensors that have no open extent, by name."""
    shapes = {}
    for name, one in types.items():
        dimensions = one.tensor_type.shape.dim
        if one.tensor_type.HasField("shape") and all(d.HasField("dim_value") and d.dim_value >= 0 for d in dimensions):
            shapes[name] = [d.dim_value for d in dimensions]
    return shapes


def known_shapes(network):
    """The shapes of all tensors that have no open extent, by name."""
    return shapes_of(known_types(network))


def subgraphs(node):
    """The graphs that a node has as attributes: branches of If, bodies of Loop and Scan."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def defined_names(graph):
    """The names that a graph gives to values of its own."""
    names = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    return names | {name for node in graph.node for name in node.output if name}


def captured_names(node):
    """The values around a node that its subgraphs use."""
    names = set()
    for graph in subgraphs(node):
        used = {value.name for value in graph.output}
        for inner in graph.node:
            used |= {name for name in inner.input if name} | captured_names(inner)
        names |= used - defined_names(graph)
    return names


def is_random(node):
    return node.op_type in RANDOM or any(is_random(inner) for graph in subgraphs(node) for inner in graph.node)


def evaluate(network, node, constants):
    """The outputs of a node whose inputs are constants; None if they cannot be computed here.

    The node means what the file's opset says, so it is evaluated as a network of its own with the same opsets.
    """
    names = sorted({name for name in node.input if name} | captured_names(node))
    outputs = [name for name in node.output if name]
    any_type = onnx.TypeProto()
    inputs = [onnx.ValueInfoProto(name=name, type=any_type) for name in names]
    graph = helper.make_graph(
        [node], "node", inputs, [onnx.ValueInfoProto(name=name, type=any_type) for name in outputs]
    )
    model = helper.make_model(graph, opset_imports=network.opset_import, functions=list(network.functions))
    try:
        values = ReferenceEvaluator(model).run(outputs, {name: constants[name] for name in names})
    except Exception:  # the evaluator lacks some operators and forms; TVM's importer then gets the node
        return None
    arrays = [numpy.asarray(value) if isinstance(value, (numpy.ndarray, numpy.generic)) else None for value in values]
    if any(array is None or array.dtype.kind not in "biuf" for array in arrays):
        return None
    return dict(zip(outputs, arrays))


def rename(graph, names):
    """Give values of a graph other names, in its subgraphs too."""
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        for inner in subgraphs(node):
            rename(inner, {old: new for old, new in names.items() if old not in defined_names(inner)})
    for tensor in graph.initializer:
        tensor.name = names.get(tensor.name, tensor.name)
    for value in graph.output:
        value.name = names.get(value.name, value.name)


def rename_inputs(graph, names):
    """Let nodes, those of subgraphs too, read other values."""
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        for inner in subgraphs(node):
            rename_inputs(inner, {old: new for old, new in names.items() if old not in defined_names(inner)})


def inline_branch(network, node, condition):
    """The nodes of the branch that an If takes, with names that are new in the graph around it."""
    wanted = "then_branch" if condition else "else_branch"
    branch = onnx.GraphProto()
    branch.CopyFrom(next(attribute.g for attribute in node.attribute if attribute.name == wanted))
    rename(branch, {name: f"{node.output[0]}/{name}" for name in defined_names(branch)})
    network.graph.initializer.extend(branch.initializer)
    nodes = list(branch.node)
    for inner, outer in zip(branch.output, node.output):
        if outer:
            nodes.append(helper.make_node("Identity", [inner.name], [outer]))
    return nodes


def is_weights(value):
    """Whether a constant is weights in 8 bits: products with them are computed in integers."""
    return value is not None and value.dtype in ("int8", "uint8") and value.ndim > 1


def expand_to(node, shape):
    """An Expand to a shape that is computed, and known all the same."""
    constant = onnx.NodeProto.FromString(node.SerializeToString())
    constant.input[1] = f"{node.output[0]}:shape"
    return [constant], {constant.input[1]: numpy.array(shape, dtype="int64")}


def fold_node(network, node, constants, shapes):
    """What replaces a node: nothing and its values, or other nodes; None if it stays."""
    if node.op_type == "Shape" and node.input[0] in shapes:
        ends = {attribute.name: attribute.i for attribute in node.attribute}
        shape = shapes[node.input[0]][ends.get("start", 0) : ends.get("end")]
        return [], {node.output[0]: numpy.array(shape, dtype="int64")}
    if node.op_type == "If" and node.input[0] in constants:
        return inline_branch(network, node, bool(constants[node.input[0]].reshape(-1)[0])), {}
    if node.op_type == "DequantizeLinear" and is_weights(constants.get(node.input[0])):
        return None
    if node.op_type == "Expand" and node.input[1] not in constants and node.output[0] in shapes:
        return expand_to(node, shapes[node.output[0]])
    needed = {name for name in node.input if name} | captured_names(node)
    if node.op_type == "Constant" or (needed <= constants.keys() and not is_random(node)):
        values = evaluate(network, node, constants)
        # the evaluator gives scalars that a Loop collects an axis too many
        known = values is not None and all(list(value.shape) == shapes.get(name, list(value.shape)) for name, value in values.items())
        return ([], values) if known else None
    return None


def fold(network):
    """Fold a network in place."""
    graph = network.graph
    while True:
        # shapes that were exported, with open extents, are in the way of those that can be inferred now
        del graph.value_info[:]
        shapes = known_shapes(network)
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        nodes, changed = [], False
        for node in graph.node:
            known = fold_node(network, node, constants, shapes)
            if known is None:
                nodes.append(node)
                continue
            others, values = known
            changed = True
            nodes += others
            for name, value in values.items():
                constants[name] = value
                graph.initializer.append(numpy_helper.from_array(value, name))
        if not changed:
            return
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies)
