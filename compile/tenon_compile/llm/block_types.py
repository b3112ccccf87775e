# SPDX-License-Identifier: MIT
"""Types of tensors in GGUF and safetensors: rows of blocks, each of so many elements in so many bytes."""

from dataclasses import dataclass

import numpy

from .matrix import Codes, Floats


@dataclass(frozen=True)
class BlockType:
    """
    @kind: a type of numbers, or how many bits codes have. @matrix makes a Floats or Codes of blocks, an array of bytes
    [rows, blocks of a row, size].
    """

    name: str
    elements: int
    size: int
    kind: object
    matrix: object


def halves(blocks, at):
    """The float16 at a byte of each block."""
    return numpy.ascontiguousarray(blocks[:, :, at : at + 2]).view("<f2")[..., 0]


def nibbles(codes):
    """The low halves of all bytes, then the high ones."""
    return numpy.concatenate([codes & 15, codes >> 4], -1)


def rows_of(codes):
    return codes.reshape(codes.shape[0], -1)


def floats(form):
    def matrix(blocks):
        return Floats(rows_of(numpy.ascontiguousarray(blocks)).view(form))

    return matrix


def bfloat16(blocks):
    raw = rows_of(numpy.ascontiguousarray(blocks)).view("<u2")
    return Floats((raw.astype(numpy.uint32) << 16).view(numpy.float32))


def q4_0(blocks):
    scale = halves(blocks, 0)
    return Codes(4, rows_of(nibbles(blocks[:, :, 2:])), scale, scale * numpy.float16(-8))


def q4_1(blocks):
    return Codes(4, rows_of(nibbles(blocks[:, :, 4:])), halves(blocks, 0), halves(blocks, 2))


def q8_0(blocks):
    return Codes(8, rows_of(numpy.ascontiguousarray(blocks[:, :, 2:]).view(numpy.int8)), halves(blocks, 0), None)


# by the number in a file
BLOCK_TYPES = {
    0: BlockType("F32", 1, 4, "float32", floats("<f4")),
    1: BlockType("F16", 1, 2, "float16", floats("<f2")),
    2: BlockType("Q4_0", 32, 18, 4, q4_0),
    3: BlockType("Q4_1", 32, 20, 4, q4_1),
    8: BlockType("Q8_0", 32, 34, 8, q8_0),
    30: BlockType("BF16", 1, 2, "float32", bfloat16),
}
BY_NAME = {block.name: block for block in BLOCK_TYPES.values()}


@dataclass
class StoredTensor:
    """A tensor of a file: its extents, the outermost first, the name of its type, and its bytes."""

    name: str
    shape: tuple
    type: str
    data: memoryview

    @property
    def kind(self):
        return BY_NAME[self.type].kind

    def matrix(self):
        """Floats or Codes of one or two dimensions."""
        block = BY_NAME[self.type]
        rows = self.shape[0] if len(self.shape) == 2 else 1
        return block.matrix(numpy.frombuffer(self.data, numpy.uint8).reshape(rows, -1, block.size))
