# SPDX-License-Identifier: MIT
"""The forms of weights on a device with threads of its own: the rows of the matrix, as files have them.

A product is an expression, and dlight's rules make its kernels: one for a single row, whose threads read each weight once,
and one for several rows, in tiles. Neither wants the weights in another order. What is stored in fewer bits becomes float32
in the kernel that multiplies it.
"""

from dataclasses import dataclass

import numpy
from tvm import te, tirx
from tvm.relax.frontend.nn import op

from .matrix import GROUP

CODES = 8  # of 4 bits, in a number of 32


def float_of_half(bits):
    """float32 of a float16 as it lies in memory, where a device need not know that type."""
    bits = bits.astype("uint32")
    exponent, mantissa = (bits >> 10) & 31, bits & 1023
    small = mantissa.astype("float32") * tirx.const(2.0**-24, "float32")  # what has no exponent
    usual = tirx.reinterpret("float32", ((bits & 32767) << 13) + (112 << 23))
    size = tirx.Select(exponent == 0, small, usual)
    return tirx.Select(bits > 32767, -size, size)


def as_float(value):
    return float_of_half(value) if value.dtype == "uint16" else value.astype("float32")


def stored_halves(values, dtype):
    """An array of float16, or its bits."""
    values = numpy.ascontiguousarray(values.astype(numpy.float16, copy=False))
    return values.view(numpy.uint16) if dtype == "uint16" else values


class DeviceForm:
    """What forms have in common. element() is the weight of an output and an input, of what is stored."""

    def product(self, x, weights):
        def computed(x, *stored):
            weight = te.compute((self.outputs, self.inputs), lambda o, k: self.element(stored, o, k), name="weight")
            k = te.reduce_axis((0, self.inputs), name="k")
            shape = (x.shape[0], self.outputs)
            return te.compute(shape, lambda r, o: te.sum(x[r, k] * weight[o, k], axis=k), name="product")

        return op.tensor_expr_op(computed, "product", args=[x, *weights])

    def rows(self, tokens, weights):
        def computed(tokens, *stored):
            shape = (tokens.shape[0], self.inputs)
            return te.compute(shape, lambda r, k: self.element(stored, tokens[r], k), name="rows")

        return op.tensor_expr_op(computed, "rows", args=[tokens, *weights])


@dataclass(frozen=True)
class DeviceFloatForm(DeviceForm):
    """float32, float16, or uint16 for the bits of float16."""

    inputs: int
    outputs: int
    dtype: str

    def parameters(self):
        return [("weight", (self.outputs, self.inputs), self.dtype)]

    def pack(self, matrix):
        if self.dtype == "float32":
            return [numpy.ascontiguousarray(matrix.floats())]
        return [stored_halves(matrix.values, self.dtype)]

    def element(self, stored, o, k):
        return as_float(stored[0][o, k])


@dataclass(frozen=True)
class DeviceCodeForm(DeviceForm):
    """Codes of 4 bits, eight to a number, the first in the lowest bits; or of 8 bits. @half: the type of scales."""

    inputs: int
    outputs: int
    bits: int
    half: str

    def parameters(self):
        scales = (self.outputs, self.inputs // GROUP)
        if self.bits == 8:
            return [("weight", (self.outputs, self.inputs), "int8"), ("scale", scales, self.half)]
        codes = (self.outputs, self.inputs // CODES)
        return [("weight", codes, "uint32"), ("scale", scales, self.half), ("offset", scales, self.half)]

    def pack(self, matrix):
        scale = stored_halves(matrix.scale, self.half)
        if self.bits == 8:
            return [numpy.ascontiguousarray(matrix.codes), scale]
        codes = matrix.codes.reshape(self.outputs, -1, CODES).astype(numpy.uint32)
        shifts = numpy.arange(0, 4 * CODES, 4, dtype=numpy.uint32)
        return [numpy.bitwise_or.reduce(codes << shifts, axis=2), scale, stored_halves(matrix.offset, self.half)]

    def element(self, stored, o, k):
        scale = as_float(stored[1][o, k // GROUP])
        if self.bits == 8:
            return stored[0][o, k].astype("float32") * scale
        shift = (k % CODES * 4).astype("uint32")
        code = (stored[0][o, k // CODES] >> shift) & tirx.const(15, "uint32")
        return code.astype("float32") * scale + as_float(stored[2][o, k // GROUP])


def form_of(kind, shape, half):
    """The form for matrices of a kind: float32, float16, or codes of 4 or 8 bits. @half: how float16 is stored."""
    outputs, inputs = shape
    if kind in (4, 8):
        return DeviceCodeForm(inputs, outputs, kind, half)
    return DeviceFloatForm(inputs, outputs, half if kind == "float16" else "float32")
