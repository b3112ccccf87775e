# SPDX-License-Identifier: MIT
"""Why a network in ONNX is not imported: the operator, what of it is not supported, and what the user can do."""

from .errors import first_line
from .fixed_inputs import inputs_behind, open_branches
from .misread import text_attribute
from .resize_onnx import UNKNOWN_PLACES

# inputs of operators that have to be constants, since shapes or code depend on them, and what they are
CONSTANT_INPUTS = {
    **dict.fromkeys(
        (f"Reduce{name}" for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")),
        {1: "the axes"},
    ),
    "AffineGrid": {1: "the size"},
    "BlackmanWindow": {0: "the size"},
    "CenterCropPad": {1: "the shape"},
    "ConstantOfShape": {0: "the shape"},
    "ConvInteger": {1: "the weights", 3: "a zero point"},
    "CumProd": {1: "the axis"},
    "CumSum": {1: "the axis"},
    "DFT": {1: "the length", 2: "the axis"},
    "Dropout": {1: "the ratio", 2: "whether it drops"},
    "DequantizeLinear": {1: "the scale", 2: "the zero point"},
    "Loop": {0: "the number of rounds", 1: "whether it begins"},
    "HammingWindow": {0: "the size"},
    "HannWindow": {0: "the size"},
    "MaxUnpool": {2: "the shape"},
    "OneHot": {1: "the depth", 2: "the values"},
    "Pad": {1: "the padding", 2: "what is filled in", 3: "the axes"},
    "QGemm": {1: "a scale", 4: "a scale"},
    "QLinearConv": {1: "a scale", 4: "a scale", 8: "the bias"},
    "QLinearMatMul": {1: "a scale", 4: "a scale"},
    "QuantizeLinear": {1: "the scale", 2: "the zero point"},
    "Range": {0: "the start", 1: "the limit", 2: "the step"},
    "Reshape": {1: "the shape"},
    "Resize": {1: "the region", 2: "the scales", 3: "the sizes"},
    "ReverseSequence": {1: "the lengths"},
    "STFT": {1: "the step", 3: "the length of a frame"},
    "SequenceAt": {1: "the place"},
    "SequenceErase": {1: "the place"},
    "SequenceInsert": {2: "the place"},
    "Slice": {1: "the starts", 2: "the ends", 3: "the axes", 4: "the steps"},
    "Split": {1: "the parts"},
    "SplitToSequence": {1: "the parts"},
    "Squeeze": {1: "the axes"},
    "TensorScatter": {2: "the places"},
    "Tile": {1: "the repeats"},
    "TopK": {1: "the number of values"},
    "Trilu": {1: "the diagonal"},
    "Unsqueeze": {1: "the axes"},
    "Upsample": {1: "the scales"},
}


class NotConverted(Exception):
    """What the importer raised of a node, which is named by its output."""

    def __init__(self, operator, output, error):
        super().__init__(str(error))
        self.operator, self.output, self.error = operator, output, error


def open_input(graph, node):
    """Of a node whose constants depend on inputs of the network: text with the remedy; empty of others."""
    for place, what in CONSTANT_INPUTS.get(node.op_type, {}).items():
        name = node.input[place] if place < len(node.input) else ""
        inputs = inputs_behind(graph, name) if name else []
        if inputs:
            return (
                f"{node.op_type} (output {node.output[0]}): an input decides about {what}, {' and '.join(inputs)}: "
                f"fix it with --set {inputs[0]}=NUMBER"
            )
    return ""


def first_open_input(graph):
    """The same of the first such node: TVM imports some, and may not compile what depends on them."""
    return next(filter(None, (open_input(graph, node) for node in graph.node)), "")


def node_of(graph, error):
    """The node that was not converted; None if it is in a branch."""
    return next((node for node in graph.node if error.output in node.output), None)


def reason(network, error):
    """Why an import failed, as text."""
    if not isinstance(error, NotConverted):
        return open_branches(network) or f"TVM does not import it: {first_line(error)}"
    node = node_of(network.graph, error)
    remedy = open_input(network.graph, node) if node else open_branches(network)
    where = f"{error.operator} (output {error.output})"
    return remedy or f"{where}: TVM does not import this form: {first_line(error.error)}; export the network with another form of it"


def is_lacking(node, known):
    """Whether TVM's importer lacks an operator, or takes its form for another one."""
    if node.op_type == "Resize":
        return text_attribute(node, "coordinate_transformation_mode").decode() in UNKNOWN_PLACES
    return node.op_type not in known and node.op_type not in ("If", "Constant")


def lacking(graph, known):
    """The first node that TVM's importer lacks, as text with what can be done; empty without one."""
    for node in graph.node:
        if is_lacking(node, known):
            return open_input(graph, node) or (
                f"{node.op_type} (output {node.output[0]}): this operator is not supported; export the network without it, "
                "or let the program compute it"
            )
    return ""
