# SPDX-License-Identifier: MIT
"""Operators of ONNX that TVM's importer lacks or reads wrongly, as the operators that ONNX defines them by.

ONNX's schemas have functions for them, whose operators TVM imports. What depends on shapes in a function is folded.
"""

import onnx
from onnx import defs, helper, inliner

from .folding import rename
from .misread import used_outputs
from .onnx_nodes import Nodes, new_name, replace_nodes

# operators that TVM's importer takes for others of the same name
OTHERS = {"Attention"}
# operators that give another result each time
RANDOM = {"Bernoulli"}
# operators whose size has to be a constant
WINDOWS = {"BlackmanWindow", "HammingWindow", "HannWindow"}
DOMAINS = ("", "ai.onnx", "ai.onnx.preview")


def imported_operators():
    """The operators that TVM's importer knows."""
    from tvm.relax.frontend.onnx import onnx_frontend

    return set(onnx_frontend._get_convert_map())


def schema_of(node, opset):
    """What ONNX says of an operator; None if it says nothing, or has no function for it."""
    try:
        schema = defs.get_schema(node.op_type, opset, node.domain)
    except defs.SchemaError:
        return None
    return schema if schema.has_function or schema.has_context_dependent_function else None


def is_replaced(node, known):
    if node.domain not in DOMAINS or node.op_type in RANDOM | WINDOWS:
        return False
    if node.op_type == "LayerNormalization":
        return used_outputs(node) > 1  # TVM's shapes of mean and deviation are wrong
    return node.op_type not in known or node.op_type in OTHERS


def function_of(schema, node, opset, types):
    """The function that a node calls, by ONNX's schema."""
    if schema.has_context_dependent_function:
        version = max(one for one in schema.context_dependent_function_opset_versions if one <= opset)
        inputs = [types[name].SerializeToString() if name else b"" for name in node.input]
        text = schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), inputs)
    else:
        version = max(one for one in schema.function_opset_versions if one <= opset)
        text = schema.get_function_with_opset_version(version)
    return onnx.FunctionProto.FromString(text)


def with_defaults(schema, node):
    """The node with all attributes that have a default."""
    full, given = onnx.NodeProto.FromString(node.SerializeToString()), {one.name for one in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.type:
            full.attribute.append(attribute.default_value)
    return full


def definition(network, schema, node, types):
    """The nodes that a node means, with names that are new in the network."""
    names, outputs = list(dict.fromkeys(filter(None, node.input))), [name for name in node.output if name]
    opset = next(one.version for one in network.opset_import if one.domain == node.domain)
    node = with_defaults(schema, node)
    function = function_of(schema, node, opset, types)
    function.name, function.domain, node.domain = node.op_type, "definition", "definition"
    opsets = {one.domain: one for one in [*function.opset_import, *network.opset_import]}
    del function.opset_import[:]
    function.opset_import.extend(opsets.values())
    graph = helper.make_graph(
        [node], "node", [onnx.ValueInfoProto(name=name, type=types[name]) for name in names],
        [onnx.ValueInfoProto(name=name) for name in outputs],
    )  # fmt: skip
    imports = [*opsets.values(), helper.make_opsetid("definition", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10, functions=[function])
    inlined = inliner.inline_local_functions(model).graph
    inner = {name for one in inlined.node for name in one.output if name} - {*names, *outputs}
    rename(inlined, {name: new_name(outputs[0]) for name in sorted(inner)})
    return list(inlined.node)


def replace_by_definitions(network, types):
    """Replace nodes in place by their definitions; whether there was any. @types: of values, by name."""
    graph, known = network.graph, imported_operators()
    opsets = {one.domain: one.version for one in network.opset_import}

    def meant_by(node):
        schema = schema_of(node, opsets.get(node.domain, 1)) if is_replaced(node, known) else None
        if schema is None or any(name not in types for name in node.input if name):
            return None
        new = Nodes(node, {}, {}, None)
        new.nodes = definition(network, schema, node, types)
        return new

    return replace_nodes(graph, meant_by)
