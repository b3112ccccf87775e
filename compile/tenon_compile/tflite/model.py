# SPDX-License-Identifier: MIT
"""What is in a .tflite file: tensors and operators of its first graph. Numbers of fields are those of its schema, 3."""

import math
from dataclasses import dataclass

import numpy

from ..errors import CompileError
from .flatbuffer import Bytes, Table
from .operator_names import NAMES

TYPES = {
    0: "float32", 1: "float16", 2: "int32", 3: "uint8", 4: "int64", 6: "bool", 7: "int16", 9: "int8", 10: "float64",
    12: "uint64", 15: "uint32", 16: "uint16",
}  # fmt: skip
RESOURCE = 13  # a variable
MOST_BYTES = 1 << 34  # of a tensor
PLACEHOLDER = 127  # in the field of one byte: the operator is in the other


@dataclass
class Quantization:
    """scale * (q - zero), with one of each, or as many as an axis is long."""

    scales: numpy.ndarray
    zeros: numpy.ndarray
    axis: int

    def same(self, other):
        return other is not None and all(
            numpy.array_equal(a, b) for a, b in ((self.scales, other.scales), (self.zeros, other.zeros))
        )


@dataclass
class Tensor:
    number: int
    name: str
    shape: list
    dtype: str | None  # None: a variable
    quantization: Quantization | None = None
    data: numpy.ndarray | None = None  # of a constant


@dataclass
class Operator:
    name: str
    inputs: list  # numbers of tensors, -1 for one that is not given
    outputs: list
    options: Table | None

    def option(self, number, form="<i", default=0):
        return self.options.number(number, form, default) if self.options else default


@dataclass
class Model:
    tensors: list
    operators: list
    inputs: list
    outputs: list


def quantization_of(table, shape, where):
    if table is None:
        return None
    scales, zeros = table.numbers(2, "<f"), table.numbers(3, "<q")
    if not scales:
        return None
    axis = table.number(6)
    if len(scales) > 1 and not (0 <= axis < len(shape) and shape[axis] == len(scales)):
        raise CompileError(f"{where}: {len(scales)} scales, and axis {axis} of {shape} has another length")
    if len(zeros) not in (0, len(scales)) or not all(0 < scale < math.inf for scale in scales):
        raise CompileError(f"{where}: {len(scales)} scales, of which one is not above 0, or {len(zeros)} zero points")
    zeros = zeros or [0] * len(scales)
    if not all(-(2**15) <= zero < 2**16 for zero in zeros):
        raise CompileError(f"{where}: a zero point outside of its type")
    return Quantization(numpy.array(scales, "float32"), numpy.array(zeros, "int32"), axis if len(scales) > 1 else 0)


def constant_of(buffers, number, shape, dtype, where):
    """The array of a tensor that has data."""
    if not 0 <= number < len(buffers):
        raise CompileError(f"{where}: buffer {number} of {len(buffers)}")
    buffer = buffers[number]
    if buffer.number(1, "<Q") > 1:
        raise CompileError(f"{where}: its numbers lie behind the tables, which is not read")
    content = buffer.bytes(0) if number else b""
    if not content:
        return None
    wanted = math.prod(shape) * numpy.dtype(dtype).itemsize
    if len(content) != wanted:
        raise CompileError(f"{where}: {len(content)} bytes of numbers, and {dtype} {shape} has {wanted}")
    if dtype == "bool":
        return (numpy.frombuffer(content, "uint8") != 0).reshape(shape)
    return numpy.frombuffer(content, numpy.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def read_tensor(table, number, buffers):
    name, shape, kind = table.text(3), table.numbers(0, "<i"), table.number(1, "<b")
    where = f"tensor {number} ({name})"
    if kind == RESOURCE:
        return Tensor(number, name, [], None)
    if kind not in TYPES:
        raise CompileError(f"{where}: numbers of type {kind} are not read")
    dtype = TYPES[kind]
    if any(extent < 1 for extent in shape) or math.prod(shape) * numpy.dtype(dtype).itemsize > MOST_BYTES:
        raise CompileError(f"{where}: has the shape {shape}; expected known extents of a tensor that fits into memory")
    if table.table(6) is not None:
        raise CompileError(f"{where}: is sparse, which is not read")
    quantization = quantization_of(table.table(4), shape, where)
    data = constant_of(buffers, table.number(2, "<I"), shape, dtype, where)
    return Tensor(number, name, shape, dtype, quantization, data)


def operator_name(code):
    builtin = max(code.number(3), code.number(0, "<b"))
    if builtin == 32:
        return f"CUSTOM {code.text(1)}"
    return NAMES.get(builtin, f"operator {builtin}")


def checked(numbers, tensors, where, optional=False):
    for number in numbers:
        if not (0 <= number < len(tensors) or optional and number == -1):
            raise CompileError(f"{where}: tensor {number} of {len(tensors)}")
    return numbers


def read_operator(table, number, names, tensors):
    code = table.number(0, "<I")
    where = f"operator {number}"
    if code >= len(names):
        raise CompileError(f"{where}: has kind {code} of {len(names)}")
    inputs = checked(table.numbers(1, "<i"), tensors, where, optional=True)
    return Operator(names[code], inputs, checked(table.numbers(2, "<i"), tensors, where), table.table(4))


def read_model(content):
    root = Bytes(content).root()
    if root.number(0, "<I") != 3:
        raise CompileError(f"version {root.number(0, '<I')} of TensorFlow Lite's format; 3 is read")
    graphs = root.tables(2)
    if not graphs:
        raise CompileError("has no graph")
    graph, buffers = graphs[0], root.tables(4)
    tensors = [read_tensor(table, number, buffers) for number, table in enumerate(graph.tables(0))]
    names = [operator_name(code) for code in root.tables(1)]
    operators = [read_operator(table, number, names, tensors) for number, table in enumerate(graph.tables(3))]
    inputs, outputs = (checked(graph.numbers(i, "<i"), tensors, what) for i, what in ((1, "inputs"), (2, "outputs")))
    if not outputs:
        raise CompileError("has no outputs")
    return Model(tensors, operators, inputs, outputs)
