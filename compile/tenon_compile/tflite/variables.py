# SPDX-License-Identifier: MIT
"""Variables of TensorFlow Lite, which keep values from one run to the next: inputs and outputs besides the others.

The program gives each run what the one before it gave; zeros, or the zero point of a quantized one, the first.
"""

from dataclasses import dataclass

from .conversion import converts


@dataclass
class Variable:
    """The tensor that it was read as, and the value that it has now."""

    tensor: object
    value: str


@converts("CALL_ONCE")
def call_once(net, operator):
    """What sets variables before the first run: the program does it."""


@converts("VAR_HANDLE")
def handle(net, operator):
    name = operator.options.text(1) if operator.options else ""
    net.stored[operator.outputs[0]] = name or f"variable{operator.outputs[0]}"


@converts("READ_VARIABLE")
def read(net, operator):
    name, tensor = net.value(operator.inputs[0]), net.tensor(operator.outputs[0])
    variable = net.variables.setdefault(name, Variable(tensor, name))
    if (variable.tensor.shape, variable.tensor.dtype) != (tensor.shape, tensor.dtype):
        net.refuse(operator, f"{variable.tensor.dtype} {variable.tensor.shape} is read as {tensor.dtype} {tensor.shape}")
    net.store(operator.outputs[0], variable.value)


@converts("ASSIGN_VARIABLE")
def assign(net, operator):
    name, tensor = net.value(operator.inputs[0]), net.tensor(operator.inputs[1])
    variable = net.variables.setdefault(name, Variable(tensor, name))
    variable.value = net.value(operator.inputs[1])
