# SPDX-License-Identifier: MIT
"""A network as TVM imported it."""

from dataclasses import dataclass, field


@dataclass
class Imported:
    """TVM's module, its inputs and outputs, and the network in ONNX if it was one, before it was folded, with arrays of the
    inputs that became constants; what helps if TVM does not compile it."""

    module: object
    inputs: list
    outputs: list
    onnx: object = None
    constants: dict = field(default_factory=dict)
    remedy: str = ""
