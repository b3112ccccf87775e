# SPDX-License-Identifier: MIT
"""Nodes and constants of ONNX that take the place of a node."""

import itertools

import numpy
from onnx import NodeProto, helper, numpy_helper

from .errors import CompileError, first_line

made = itertools.count()


def new_name(output):
    """A name for a value that an output is computed from. What takes a node's place may be replaced once more."""
    return f"{output}/tenon{next(made)}"


class Nodes:
    """What replaces a node."""

    def __init__(self, node, shapes, constants, opset):
        self.node, self.shapes, self.constants, self.opset = node, shapes, constants, opset
        self.nodes, self.initializers = [], []
        self.output = next(filter(None, node.output))
        self.attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}

    def add(self, operator, *inputs, output=None, **attributes):
        output = output or new_name(self.output)
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value, dtype=None):
        name = new_name(self.output)
        self.initializers.append(numpy_helper.from_array(numpy.asarray(value, dtype), name))
        return name

    def input(self, place):
        return self.node.input[place] if place < len(self.node.input) else ""

    def refuse(self, why):
        raise CompileError(f"{self.node.op_type} (output {self.output}): {why}")


def tried(replacement, node):
    """What a function gives for a node; a node that is not as ONNX says is refused by name."""
    try:
        return replacement(node)
    except CompileError:
        raise
    except Exception as error:  # attributes of wrong types, axes that are not there
        where = f"{node.op_type} (output {', '.join(node.output)})"
        raise CompileError(f"{where}: this form is not known: {first_line(error)}; export the network with another one") from error


def replace_nodes(graph, replacement):
    """Replace nodes in place by what a function gives for each: Nodes, or None; whether there was any."""
    nodes, changed = [], False
    for node in graph.node:
        new = tried(replacement, node)
        changed |= new is not None
        nodes += [node] if new is None else new.nodes
        graph.initializer.extend([] if new is None else new.initializers)
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    return changed
