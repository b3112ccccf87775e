# SPDX-License-Identifier: MIT
"""A network as TVM imported it."""

from dataclasses import dataclass


@dataclass
class Imported:
    """TVM's module, the inputs and outputs of the file, and the network in ONNX if it was one, before it was folded."""

    module: object
    inputs: list
    outputs: list
    onnx: object = None
