# SPDX-License-Identifier: MIT
"""Forms of ONNX's operators that TVM's importer (0.27) takes, and gives other results for: they are refused by name."""

from onnx import TensorProto, numpy_helper

from .errors import CompileError
from .folding import subgraphs
from .importers import static_shape

SMALL = {
    number: name
    for name, number in TensorProto.DataType.items()
    if name.startswith(("FLOAT8", "FLOAT4")) or name in ("INT4", "UINT4", "INT2", "UINT2")
}


def used_outputs(node):
    return sum(1 for name in node.output if name)


def integer_attribute(node, name):
    return next((one.i for one in node.attribute if one.name == name), 0)


def text_attribute(node, name):
    return next((one.s for one in node.attribute if one.name == name), b"")


def may_be(node, index, constants, condition):
    """Whether an input is given, and is so, or is no constant."""
    name = node.input[index] if len(node.input) > index else ""
    return bool(name) and (name not in constants or bool(condition(constants[name]).any()))


# which input of these is a place in a sequence
PLACES = {"SequenceErase": 1, "SequenceInsert": 2}


def reason(node, constants):
    """Why the result of a node would be wrong; None if it would not."""
    if node.op_type == "LayerNormalization" and used_outputs(node) > 1:
        return "its mean and deviation as outputs have wrong shapes"
    if node.op_type == "Dropout" and used_outputs(node) > 1:
        return "its mask is none"
    if node.op_type == "Dropout" and may_be(node, 2, constants, lambda training: training):
        return "it drops nothing, and this one is for training"
    if node.op_type == "BatchNormalization" and integer_attribute(node, "training_mode"):
        return "its statistics in training are others"
    if node.op_type in PLACES and may_be(node, PLACES[node.op_type], constants, lambda place: place < 0):
        return "it takes a place from the end for another one"
    if node.op_type == "NonMaxSuppression":
        return "how many boxes it selects depends on data"
    if node.op_type == "RoiAlign" and text_attribute(node, "mode") == b"max":
        return "its maximum is of other values"
    if node.op_type == "Cast" and integer_attribute(node, "to") in SMALL:
        return f"numbers are not rounded to {SMALL[integer_attribute(node, 'to')]} as ONNX does"
    return None


def refuse_misread(graph, constants=None):
    constants = {**(constants or {}), **{one.name: numpy_helper.to_array(one) for one in graph.initializer}}
    for value in graph.input:
        if value.type.tensor_type.elem_type in SMALL:
            name = SMALL[value.type.tensor_type.elem_type]
            raise CompileError(f"input {value.name}: TVM reads numbers of type {name} wrongly; export it with int8, float16 or float32")
        if value.type.tensor_type.elem_type == TensorProto.STRING:
            raise CompileError(f"input {value.name}: strings are not supported; let the program make numbers of them")
    for node in graph.node:
        why = reason(node, constants)
        if why:
            raise CompileError(f"{node.op_type} (output {node.output[0]}): TVM's importer reads it wrongly: {why}; export another form")
        for inner in subgraphs(node):
            refuse_misread(inner, constants)


# before opset 7 their attribute "axis" named the first extent of the first input that the second input belongs to; since opset 7
# the second input always belongs to the last extents
WITH_AXIS = {"Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"}


def refuse_old_axes(graph, shapes):
    """Refuse operators of opset 6 and older whose axis does not name the last extents: TVM would ignore it."""
    for node in graph.node:
        axis = next((one.i for one in node.attribute if one.name == "axis"), -1)
        if node.op_type not in WITH_AXIS or axis < 0:
            continue
        first, second = (shapes.get(name) for name in node.input)
        if first is None or second is None or axis + len(second) != len(first):
            raise CompileError(
                f"{node.op_type} (output {node.output[0]}): its axis is of opset 6 and older; "
                "onnx.version_converter.convert_version(network, 7) writes it anew"
            )


def refuse_other_outputs(outputs, types):
    """Refuse a network whose outputs, as model.json has them, are others as TVM imported it."""
    for output, found in zip(outputs, types):
        extents = static_shape(found)
        known = output["shape"] is not None and extents is not None
        if str(found.dtype) == output["dtype"] and (not known or extents == output["shape"]):
            continue
        raise CompileError(
            f"output {output['name']}: TVM's importer reads it wrongly: it becomes {found.dtype} of shape {extents}, "
            f"and is {output['dtype']} of shape {output['shape']}"
        )
