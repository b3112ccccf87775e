# SPDX-License-Identifier: MIT
"""Networks of TensorFlow Lite: read, converted to ONNX, and imported as such."""

from .. import onnx_file
from ..errors import CompileError
from . import elementwise, moves, variables, windows  # noqa: F401, their converters
from .conversion import Conversion
from .model import read_model

MARK = b"TFL3"


def is_tflite(path):
    with open(path, "rb") as file:
        return file.read(8)[4:] == MARK


def read(path):
    """The network in a file, in ONNX."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return Conversion(read_model(content)).network(path.name)
    except CompileError as error:
        raise CompileError(f"{path}: {error}") from error


def import_file(path, shapes, given):
    network = read(path)
    for value in network.graph.input:
        own = [extent.dim_value for extent in value.type.tensor_type.shape.dim]
        if shapes.get(value.name, own) != own:
            raise CompileError(f"--shape {value.name}: shapes are fixed in a .tflite file; this one is {own}")
    return onnx_file.import_read(path, network, shapes, given)
