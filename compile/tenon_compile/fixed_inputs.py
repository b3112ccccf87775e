# SPDX-License-Identifier: MIT
"""Inputs of a network in ONNX that become constants (--set), and branches of If that depend on inputs."""

import math

import numpy
from onnx import helper, numpy_helper

from .errors import CompileError
from .folding import captured_names, rename_inputs


def numbers_of(arguments):
    """NAME=1,2.5 of each --set, as a dictionary."""
    given = {}
    for argument in arguments:
        name, equals, text = argument.rpartition("=")
        try:
            given[name] = [float(word) if set(word) & set(".eEnN") else int(word) for word in text.split(",")]
        except ValueError:
            name = ""
        if not name:
            raise CompileError(f"--set {argument}: expected NAME=NUMBER, or NAME=NUMBER,NUMBER,…")
    return given


def array_of(value, numbers):
    """Numbers as an array of an input's type and shape; one number is for all elements."""
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    shape = [extent.dim_value for extent in tensor.shape.dim]
    if len(numbers) not in (1, math.prod(shape)):
        raise CompileError(f"--set {value.name}: {len(numbers)} numbers, and the input has the shape {shape}")
    if dtype.kind not in "biuf":
        raise CompileError(f"--set {value.name}: the input is {dtype}, no numbers")
    try:
        array = numpy.array(numbers, dtype)
    except OverflowError:
        array = None
    if array is None or (dtype.kind != "f" and array.tolist() != numbers):
        raise CompileError(f"--set {value.name}: {', '.join(map(str, numbers))} is not {dtype}")
    return numpy.full(shape, array[0], dtype) if len(numbers) == 1 else array.reshape(shape)


def set_inputs(network, inputs, given):
    """Make constants of the inputs that are given: their arrays."""
    names = [value.name for value in inputs]
    for name in given:
        if name not in names:
            raise CompileError(f"--set {name}: no such input. Inputs: {', '.join(names)}")
    arrays = {value.name: array_of(value, given[value.name]) for value in inputs if value.name in given}
    for name, array in arrays.items():
        network.graph.initializer.append(numpy_helper.from_array(array, name))
        network.graph.input.remove(next(value for value in network.graph.input if value.name == name))
    return arrays


def fix_empty_inputs(network, inputs):
    """Let nodes read constants in place of inputs without elements. The inputs stay, with nothing that reads them."""
    graph, names = network.graph, {}
    for value in inputs:
        tensor = value.type.tensor_type
        shape = [extent.dim_value for extent in tensor.shape.dim]
        if value.type.HasField("tensor_type") and not math.prod(shape):
            names[value.name] = f"{value.name}/empty"
            graph.initializer.append(helper.make_tensor(names[value.name], tensor.elem_type, shape, []))
    if names:
        rename_inputs(graph, names)


def inputs_behind(graph, name):
    """The inputs of a graph that a value is computed from."""
    producers = {output: node for node in graph.node for output in node.output}
    inputs, seen, left = {value.name for value in graph.input}, set(), [name]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            node = producers.get(name)
            left += [*node.input, *captured_names(node)] if node else []
    return sorted(seen & inputs)


def open_branches(network):
    """The first If whose branch depends on inputs, as text with the remedy; empty without one."""
    for node in network.graph.node:
        names = inputs_behind(network.graph, node.input[0]) if node.op_type == "If" else []
        if names:
            return (
                f"If (output {node.output[0]}): an input decides about the branch, {' and '.join(names)}: "
                f"fix it with --set {names[0]}=NUMBER"
            )
    return ""
