# SPDX-License-Identifier: MIT
"""Forms of ONNX's operators that TVM's importer (0.27) takes, and gives other results for: they are refused by name."""

from onnx import TensorProto, numpy_helper

from .errors import CompileError
from .folding import subgraphs

SMALL = {
    number: name
    for name, number in TensorProto.DataType.items()
    if name.startswith(("FLOAT8", "FLOAT4")) or name in ("INT4", "UINT4", "INT2", "UINT2")
}


def used_outputs(node):
    return sum(1 for name in node.output if name)


def attribute(node, name):
    return next((one.i for one in node.attribute if one.name == name), 0)


def counts_from_end(node, constants):
    """Whether a place in a sequence is, or may be, one from its end."""
    place = node.input[{"SequenceErase": 1, "SequenceInsert": 2}[node.op_type] :][:1]
    return bool(place) and bool(place[0]) and (place[0] not in constants or bool((constants[place[0]] < 0).any()))


def may_train(node, constants):
    """Whether a Dropout may drop: a constant can say that it is not for training."""
    third = node.input[2] if len(node.input) > 2 else ""
    return bool(third) and (third not in constants or bool(constants[third].any()))


def reason(node, constants):
    """Why the result of a node would be wrong; None if it would not."""
    if node.op_type == "LayerNormalization" and used_outputs(node) > 1:
        return "its mean and deviation as outputs have wrong shapes"
    if node.op_type == "Dropout" and used_outputs(node) > 1:
        return "its mask is none"
    if node.op_type == "Dropout" and may_train(node, constants):
        return "it drops nothing, and this one is for training"
    if node.op_type == "BatchNormalization" and attribute(node, "training_mode"):
        return "its statistics in training are others"
    if node.op_type in ("SequenceErase", "SequenceInsert") and counts_from_end(node, constants):
        return "it takes a place from the end for another one"
    if node.op_type == "NonMaxSuppression":
        return "how many boxes it selects depends on data"
    if node.op_type == "Cast" and attribute(node, "to") in SMALL:
        return f"numbers are not rounded to {SMALL[attribute(node, 'to')]} as ONNX does"
    return None


def refuse_misread(graph, constants=None):
    constants = {**(constants or {}), **{one.name: numpy_helper.to_array(one) for one in graph.initializer}}
    for value in graph.input:
        if value.type.tensor_type.elem_type in SMALL:
            name = SMALL[value.type.tensor_type.elem_type]
            raise CompileError(f"input {value.name}: TVM reads numbers of type {name} wrongly")
    for node in graph.node:
        why = reason(node, constants)
        if why:
            raise CompileError(f"{node.op_type} (output {node.output[0]}): TVM's importer reads it wrongly: {why}")
        for inner in subgraphs(node):
            refuse_misread(inner, constants)


def refuse_other_outputs(outputs, types):
    """Refuse a network whose outputs, as model.json has them, are others as TVM imported it."""
    for output, found in zip(outputs, types):
        extents = [getattr(extent, "value", None) for extent in found.shape or [None]]
        known = output["shape"] is not None and None not in extents
        if str(found.dtype) == output["dtype"] and (not known or extents == output["shape"]):
            continue
        raise CompileError(
            f"output {output['name']}: TVM's importer reads it wrongly: it becomes {found.dtype} of shape {extents}, "
            f"and is {output['dtype']} of shape {output['shape']}"
        )
