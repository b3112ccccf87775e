# SPDX-License-Identifier: MIT
"""Operators of TensorFlow Lite of single elements, and those that reduce axes."""

import math

import numpy
from onnx import TensorProto, helper

from .conversion import converts
from .model import TYPES

# where the options of an operator have its activation
ACTIVATION_AT = {"ADD": 0, "SUB": 0, "MUL": 0, "DIV": 0}
BINARY = {
    "ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div", "MAXIMUM": "Max", "MINIMUM": "Min", "POW": "Pow",
    "PRELU": "PRelu",
}  # fmt: skip
UNARY = {
    "LOGISTIC": "Sigmoid", "EXP": "Exp", "LOG": "Log", "SQRT": "Sqrt", "SIN": "Sin", "COS": "Cos", "NEG": "Neg",
    "ABS": "Abs", "FLOOR": "Floor", "CEIL": "Ceil", "ROUND": "Round", "ELU": "Elu", "SIGN": "Sign",
}  # fmt: skip
COMPARED = {
    "EQUAL": "Equal", "GREATER": "Greater", "GREATER_EQUAL": "GreaterOrEqual", "LESS": "Less", "LESS_EQUAL": "LessOrEqual",
}  # fmt: skip
LOGICAL = {"LOGICAL_AND": "And", "LOGICAL_OR": "Or", "LOGICAL_NOT": "Not"}
REDUCED = {
    "MEAN": "ReduceMean", "SUM": "ReduceSum", "REDUCE_MAX": "ReduceMax", "REDUCE_MIN": "ReduceMin", "REDUCE_PROD": "ReduceProd",
}  # fmt: skip


def is_quantized(net, number):
    return net.tensor(number).quantization is not None


@converts(*BINARY)
def binary(net, operator):
    if len(operator.inputs) != 2:
        net.refuse(operator, f"{len(operator.inputs)} inputs")
    a, b = (net.number(number) for number in operator.inputs)
    value = net.add(BINARY[operator.name], a, b)
    function = operator.option(ACTIVATION_AT[operator.name], "<b") if operator.name in ACTIVATION_AT else 0
    net.give(operator.outputs[0], net.activated(operator, value, function))


@converts("ADD_N")
def sum_of_many(net, operator):
    net.give(operator.outputs[0], net.add("Sum", *(net.number(number) for number in operator.inputs)))


@converts("SQUARED_DIFFERENCE", "SQUARE")
def square(net, operator):
    values = [net.number(number) for number in operator.inputs]
    value = net.add("Sub", *values) if len(values) > 1 else values[0]
    net.give(operator.outputs[0], net.add("Mul", value, value))


@converts("FLOOR_DIV")
def floor_of_quotient(net, operator):
    value = net.add("Div", *(net.number(number) for number in operator.inputs))
    if net.tensor(operator.outputs[0]).dtype != "float32":
        net.refuse(operator, "of integers it is not taken")
    net.give(operator.outputs[0], net.add("Floor", value))


@converts(*UNARY)
def unary(net, operator):
    net.give(operator.outputs[0], net.add(UNARY[operator.name], net.number(operator.inputs[0])))


@converts("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "TANH")
def function(net, operator):
    net.give(operator.outputs[0], net.function(operator.name, net.number(operator.inputs[0])))


@converts("LEAKY_RELU")
def leaky_relu(net, operator):
    alpha = operator.option(0, "<f")
    net.give(operator.outputs[0], net.add("LeakyRelu", net.number(operator.inputs[0]), alpha=alpha))


@converts("HARD_SWISH")
def hard_swish(net, operator):
    x = net.number(operator.inputs[0])
    gate = net.clip(net.add("Add", x, net.constant(3, "float32")), 0, 6)
    net.give(operator.outputs[0], net.add("Mul", x, net.add("Mul", gate, net.constant(1 / 6, "float32"))))


@converts("GELU")
def gelu(net, operator):
    x, one = net.number(operator.inputs[0]), net.constant(1, "float32")
    if operator.option(0, "<B"):
        cube = net.add("Mul", net.add("Mul", x, x), x)
        inner = net.add("Add", x, net.add("Mul", cube, net.constant(0.044715, "float32")))
        gate = net.add("Tanh", net.add("Mul", inner, net.constant(math.sqrt(2 / math.pi), "float32")))
    else:
        gate = net.add("Erf", net.add("Mul", x, net.constant(math.sqrt(0.5), "float32")))
    half = net.add("Mul", x, net.constant(0.5, "float32"))
    net.give(operator.outputs[0], net.add("Mul", half, net.add("Add", gate, one)))


@converts("RSQRT")
def reciprocal_of_root(net, operator):
    net.give(operator.outputs[0], net.add("Reciprocal", net.add("Sqrt", net.number(operator.inputs[0]))))


@converts("SOFTMAX", "LOG_SOFTMAX")
def softmax(net, operator):
    x, beta = net.number(operator.inputs[0]), operator.option(0, "<f", 1.0)
    if operator.name == "SOFTMAX" and beta != 1:
        x = net.add("Mul", x, net.constant(beta, "float32"))
    net.give(operator.outputs[0], net.add("Softmax" if operator.name == "SOFTMAX" else "LogSoftmax", x, axis=-1))


@converts("L2_NORMALIZATION")
def length_of_one(net, operator):
    x = net.number(operator.inputs[0])
    total = net.add("ReduceSum", net.add("Mul", x, x), net.integers([-1]))
    length = net.add("Sqrt", net.add("Max", total, net.constant(1e-12, "float32")))
    net.give(operator.outputs[0], net.activated(operator, net.add("Div", x, length), operator.option(0, "<b")))


@converts(*COMPARED, "NOT_EQUAL")
def comparison(net, operator):
    value = net.add(COMPARED.get(operator.name, "Equal"), *(net.number(number) for number in operator.inputs))
    net.store(operator.outputs[0], net.add("Not", value) if operator.name == "NOT_EQUAL" else value)


@converts(*LOGICAL)
def logical(net, operator):
    net.store(operator.outputs[0], net.add(LOGICAL[operator.name], *(net.value(number) for number in operator.inputs)))


@converts("SELECT", "SELECT_V2")
def select(net, operator):
    condition, a, b = operator.inputs
    flag, shape = net.value(condition), net.tensor(condition).shape
    if operator.name == "SELECT" and len(shape) == 1 and len(net.tensor(a).shape) > 1:
        flag = net.reshape(flag, [*shape, *[1] * (len(net.tensor(a).shape) - 1)])
    net.give(operator.outputs[0], net.add("Where", flag, net.number(a), net.number(b)))


@converts(*REDUCED)
def reduction(net, operator):
    axes = net.array(operator, 1, "its axes").reshape(-1)
    keep = int(operator.option(0, "<B"))
    x = net.number(operator.inputs[0])
    value = net.add(REDUCED[operator.name], x, net.integers(axes), keepdims=keep) if len(axes) else x
    net.give(operator.outputs[0], value)


@converts("ARG_MAX", "ARG_MIN")
def place(net, operator):
    axis = int(net.array(operator, 1, "its axis").reshape(-1)[0])
    kind = "ArgMax" if operator.name == "ARG_MAX" else "ArgMin"
    value = net.add(kind, net.value(operator.inputs[0]), axis=axis, keepdims=0)
    wanted = net.tensor(operator.outputs[0]).dtype
    net.store(operator.outputs[0], value if wanted == "int64" else net.add("Cast", value, to=type_of(wanted)))


@converts("CUMSUM")
def cumulative_sum(net, operator):
    axis = net.constant(net.array(operator, 1, "its axis").reshape(-1)[0], "int64")
    how = {"exclusive": int(operator.option(0, "<B")), "reverse": int(operator.option(1, "<B"))}
    net.give(operator.outputs[0], net.add("CumSum", net.number(operator.inputs[0]), axis, **how))


def type_of(dtype):
    return helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype))


@converts("CAST")
def cast(net, operator):
    wanted = net.tensor(operator.outputs[0]).dtype
    if wanted not in TYPES.values():
        net.refuse(operator, "to a type that is not read")
    net.store(operator.outputs[0], net.add("Cast", net.value(operator.inputs[0]), to=type_of(wanted)))


@converts("QUANTIZE")
def quantize(net, operator):
    """Numbers, or integers of another scale."""
    net.give(operator.outputs[0], net.number(operator.inputs[0]))


@converts("DEQUANTIZE")
def dequantize(net, operator):
    """Integers, or numbers of 16 bits."""
    number = operator.inputs[0]
    if is_quantized(net, number):
        net.store(operator.outputs[0], net.number(number))
    else:
        net.store(operator.outputs[0], net.add("Cast", net.value(number), to=TensorProto.FLOAT))
