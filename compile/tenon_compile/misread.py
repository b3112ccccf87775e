# SPDX-License-Identifier: MIT
"""Forms of ONNX's operators that TVM's importer (0.27) takes, and gives other results for: they are refused by name."""

from onnx import TensorProto

from .errors import CompileError
from .folding import subgraphs

FLOAT8 = {number for name, number in TensorProto.DataType.items() if name.startswith("FLOAT8")}


def used_outputs(node):
    return sum(1 for name in node.output if name)


def reason(node):
    """Why the result of a node would be wrong; None if it would not."""
    if node.op_type == "LayerNormalization" and used_outputs(node) > 1:
        return "its mean and deviation as outputs have wrong shapes"
    if node.op_type == "Dropout" and used_outputs(node) > 1:
        return "its mask is none"
    if node.op_type == "NonMaxSuppression":
        return "how many boxes it selects depends on data"
    if node.op_type == "Cast" and any(one.name == "to" and one.i in FLOAT8 for one in node.attribute):
        return "numbers are not rounded to 8 bits as ONNX does"
    return None


def refuse_misread(graph):
    for node in graph.node:
        why = reason(node)
        if why:
            raise CompileError(f"{node.op_type} (output {node.output[0]}): TVM's importer reads it wrongly: {why}")
        for inner in subgraphs(node):
            refuse_misread(inner)
