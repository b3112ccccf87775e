# SPDX-License-Identifier: MIT
"""The forms that weights take in a module: how they are stored, and the kernels that read them so.

Each form has parameters() (name, shape and type of what is stored), pack() (the arrays), product() and rows().
"""

from dataclasses import dataclass

import numpy
from tvm.relax.frontend.nn import Tensor, op

from . import products, products_avx2
from .matrix import GROUP
from .products import BLOCK


@dataclass(frozen=True)
class Processor:
    """What forms depend on: whether there are integer products of AVX2, and conversions from float16."""

    avx2: bool
    half: bool

    @property
    def scale_type(self):
        return "float16" if self.half else "float32"


def padded(outputs):
    """Outputs in whole blocks."""
    return -(-outputs // BLOCK) * BLOCK


def with_rows(array, count):
    """An array with rows of zeros behind its own."""
    missing = count - len(array)
    return array if not missing else numpy.concatenate([array, numpy.zeros((missing, *array.shape[1:]), array.dtype)])


def by_block(scales, dtype):
    """[outputs, groups] as [outputs/32, groups, 32]."""
    outputs, groups = scales.shape
    return numpy.ascontiguousarray(scales.reshape(-1, BLOCK, groups).swapaxes(1, 2)).astype(dtype)


def is_one_row(x):
    """Whether the number of rows is known, and 1."""
    return isinstance(x.shape[0], int) and x.shape[0] == 1


def rows_placeholder(x, outputs):
    return Tensor.placeholder((x.shape[0], outputs), "float32")


@dataclass(frozen=True)
class FloatForm:
    """float32 or float16."""

    inputs: int
    outputs: int
    dtype: str

    TILE = 6

    def parameters(self):
        return [("weight", (self.outputs // BLOCK, self.inputs, BLOCK), self.dtype)]

    def pack(self, matrix):
        values = with_rows(matrix.values.astype(self.dtype, copy=False), self.outputs)
        return [numpy.ascontiguousarray(values.reshape(-1, BLOCK, self.inputs).swapaxes(1, 2))]

    def product(self, x, weights):
        kernel = products.float_product(self.inputs, self.outputs, self.dtype, self.TILE, is_one_row(x))
        return op.tensor_ir_op(kernel, "product", [x, *weights], rows_placeholder(x, self.outputs))

    def rows(self, tokens, weights):
        kernel = products.rows_of_floats(self.inputs, self.outputs, self.dtype)
        return op.tensor_ir_op(kernel, "rows", [tokens, *weights], rows_placeholder(tokens, self.inputs))


@dataclass(frozen=True)
class CodeForm:
    """Codes of 4 or 8 bits, for any processor."""

    inputs: int
    outputs: int
    bits: int
    scale_type: str

    def shape(self):
        return (GROUP, BLOCK // 2) if self.bits == 4 else (GROUP, BLOCK)

    def parameters(self):
        blocks, groups = self.outputs // BLOCK, self.inputs // GROUP
        scales = [(name, (blocks, groups, BLOCK), self.scale_type) for name in ("scale", "offset")]
        return [
            ("weight", (blocks, groups, *self.shape()), "uint8" if self.bits == 4 else "int8"),
            *scales[: 2 if self.bits == 4 else 1],
        ]

    def arrange(self, codes):
        """Codes [outputs, inputs] in the order of the kernels; of 4 bits, two to a byte."""
        tiles = codes.reshape(-1, BLOCK, self.inputs // GROUP, GROUP).transpose(0, 2, 3, 1)
        half = BLOCK // 2
        return tiles[..., :half] | tiles[..., half:] << 4 if self.bits == 4 else tiles

    def pack(self, matrix):
        codes = numpy.ascontiguousarray(self.arrange(with_rows(matrix.codes, self.outputs)))
        scales = [matrix.scale] if self.bits == 8 else [matrix.scale, matrix.offset]
        return [codes, *(by_block(with_rows(scale, self.outputs), self.scale_type) for scale in scales)]

    def product(self, x, weights):
        make = products.product_of_4_bits if self.bits == 4 else products.product_of_8_bits
        kernel = make(self.inputs, self.outputs, self.scale_type, is_one_row(x))
        return op.tensor_ir_op(kernel, "product", [x, *weights], rows_placeholder(x, self.outputs))

    def places(self):
        return products.place_of_4_bits if self.bits == 4 else products.place_of_8_bits

    def rows(self, tokens, weights):
        kernel = products.rows_of_codes(
            self.inputs, self.outputs, self.bits, self.scale_type, self.shape(), self.places()
        )
        return op.tensor_ir_op(kernel, "rows", [tokens, *weights], rows_placeholder(tokens, self.inputs))


@dataclass(frozen=True)
class Avx2CodeForm(CodeForm):
    """The same in the order of AVX2's integer products."""

    TILE = 2

    def shape(self):
        return (products_avx2.STEPS, 2 if self.bits == 4 else 4, 32)

    def arrange(self, codes):
        groups, steps, lanes = self.inputs // GROUP, products_avx2.STEPS, products_avx2.OUTPUTS
        vectors = codes.reshape(-1, BLOCK // lanes, lanes, groups, steps, 4).transpose(0, 3, 4, 1, 2, 5)
        vectors = vectors.reshape(-1, groups, steps, BLOCK // lanes, 4 * lanes)
        return vectors[..., 0::2, :] | vectors[..., 1::2, :] << 4 if self.bits == 4 else vectors

    def product(self, x, weights):
        one_row, groups = is_one_row(x), self.inputs // GROUP
        rounded = op.tensor_ir_op(
            products_avx2.rounded(self.inputs, one_row),
            "rounded",
            [x],
            [
                Tensor.placeholder((x.shape[0], 2, self.inputs // 4), "int32"),
                Tensor.placeholder((x.shape[0], groups), "float32"),
                Tensor.placeholder((x.shape[0], groups), "float32"),
            ],
        )
        if self.bits == 4:
            kernel = products_avx2.product_of_4_bits(self.inputs, self.outputs, self.scale_type, self.TILE, one_row)
        else:
            kernel = products_avx2.product_of_8_bits(self.inputs, self.outputs, self.scale_type, one_row)
            rounded = rounded[:2]
        return op.tensor_ir_op(kernel, "product", [*rounded, *weights], rows_placeholder(x, self.outputs))

    def places(self):
        return products_avx2.place_of_4_bits if self.bits == 4 else products_avx2.place_of_8_bits


def form_of(kind, shape, processor):
    """The form for matrices of a kind: float32, float16, or codes of 4 or 8 bits."""
    outputs, inputs = shape
    if kind in (4, 8):
        form = Avx2CodeForm if processor.avx2 else CodeForm
        return form(inputs, padded(outputs), kind, processor.scale_type)
    return FloatForm(inputs, padded(outputs), "float16" if kind == "float16" and processor.half else "float32")
