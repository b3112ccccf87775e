# SPDX-License-Identifier: MIT
"""Files in GGUF: metadata and tensors. Every byte is taken for hostile: a count is checked before it is used."""

import mmap
import struct
from dataclasses import dataclass

import numpy

from ..errors import CompileError, of_type
from .block_types import BLOCK_TYPES, StoredTensor

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY, BOOL = 8, 9, 7
# the types of metadata that are one number: the format of struct
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", BOOL: "B", 10: "Q", 11: "q", 12: "d"}
MOST_DIMENSIONS = 4
MOST_NAME = 65535
SMALLEST_TENSOR = 8 + 4 + 8 + 4 + 8  # bytes of a description: lengths, and one extent
SMALLEST_ENTRY = 8 + 4 + 1


class Reader:
    """Numbers and strings from the start of a file on."""

    def __init__(self, path, data):
        self.path, self.data, self.at, self.where = path, data, 0, "header"

    def fail(self, text, at=None):
        raise CompileError(f"{self.path}: {self.where}, at 0x{self.at if at is None else at:x}: {text}")

    def take(self, size):
        left = len(self.data) - self.at
        if size > left:
            self.fail(f"{size} bytes wanted, {left} left")
        begin, self.at = self.at, self.at + size
        return self.data[begin : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def count(self, size, what):
        """A count of elements that take at least so many bytes each."""
        at, count = self.at, self.number("Q")
        left = len(self.data) - self.at
        if count * size > left:
            self.fail(f"{count} {what} of at least {size} bytes promised, {left} bytes left", at)
        return count

    def string(self, what):
        at = self.at
        raw = self.take(self.count(1, f"characters of {what}"))
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.fail(f"{what} is not in UTF-8", at)

    def name(self, what):
        at, text = self.at, self.string(what)
        if not text or len(text) > MOST_NAME:
            self.fail(f"{what} has {len(text)} characters, expected 1 to {MOST_NAME}", at)
        return text

    def value(self, kind):
        if kind in NUMBERS:
            number = self.number(NUMBERS[kind])
            return bool(number) if kind == BOOL else number
        if kind == STRING:
            return self.string("a string")
        if kind == ARRAY:
            return self.array()
        self.fail(f"type {kind} of a value is unknown", self.at - 4)

    def array(self):
        kind = self.number("I")
        if kind == STRING:
            return [self.string("a string") for _ in range(self.count(8, "strings"))]
        if kind not in NUMBERS:
            self.fail(f"an array of type {kind} is not supported", self.at - 4)
        form = numpy.dtype("<" + NUMBERS[kind])
        count = self.count(form.itemsize, "numbers")
        return numpy.frombuffer(self.take(count * form.itemsize), form).tolist()


@dataclass
class GgufFile:
    """What a file holds."""

    path: object
    metadata: dict
    tensors: dict

    def get(self, key, kind, default=None):
        """A value of the metadata that has to be of a type of Python's; an error if it is missing without a default."""
        if key not in self.metadata:
            if default is None:
                raise CompileError(f"{self.path}: the metadata has no {key}")
            return default
        return of_type(self.metadata[key], kind, self.path, key)


def read_metadata(reader, count):
    metadata = {}
    for index in range(count):
        reader.where = f"entry {index + 1} of {count} of the metadata"
        key = reader.name("a key")
        if key in metadata:
            reader.fail(f'"{key}" occurs twice')
        reader.where += f" ({key[:80]!r})"
        metadata[key] = reader.value(reader.number("I"))
    return metadata


def read_description(reader):
    """Name, shape, type and offset of a tensor."""
    name = reader.name("a name")
    reader.where += f" ({name[:80]!r})"
    dimensions = reader.number("I")
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        reader.fail(f"{dimensions} dimensions, expected 1 to {MOST_DIMENSIONS}", reader.at - 4)
    shape = tuple(reversed([reader.number("Q") for _ in range(dimensions)]))
    kind, offset = reader.number("I"), reader.number("Q")
    if kind not in BLOCK_TYPES:
        known = ", ".join(block.name for block in BLOCK_TYPES.values())
        reader.fail(f"type {kind} of a tensor is not supported. Supported are {known}", reader.at - 12)
    if 0 in shape:
        reader.fail(f"the shape {shape} has no elements")
    if shape[-1] % BLOCK_TYPES[kind].elements:
        reader.fail(f"rows of {shape[-1]} elements are no whole blocks of {BLOCK_TYPES[kind].name}")
    return name, shape, kind, offset


def read_tensors(reader, count, alignment):
    described = []
    for index in range(count):
        reader.where = f"tensor {index + 1} of {count}"
        described.append(read_description(reader))
    start = -(-reader.at // alignment) * alignment
    tensors = {}
    for name, shape, kind, offset in described:
        reader.where, block = f"tensor {name[:80]!r}", BLOCK_TYPES[kind]
        size = block.size
        for extent in (*shape[:-1], shape[-1] // block.elements):
            size *= extent
        if name in tensors:
            reader.fail("occurs twice")
        if offset % alignment:
            reader.fail(f"its offset 0x{offset:x} is no multiple of {alignment}")
        if start + offset + size > len(reader.data):
            reader.fail(f"{size} bytes promised, the file ends at 0x{len(reader.data):x}", start + offset)
        data = memoryview(reader.data)[start + offset : start + offset + size]
        tensors[name] = StoredTensor(name, shape, block.name, data)
    return tensors


def is_gguf(path):
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read(path):
    """Read a file; what it says of itself has been checked, the values of its tensors have not."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    reader = Reader(path, data)
    if reader.take(len(MAGIC)) != MAGIC:
        reader.fail("no file in GGUF", 0)
    version = reader.number("I")
    if version not in VERSIONS:
        hint = "; it is in big-endian order" if version in (v << 24 for v in VERSIONS) else ""
        reader.fail(f"version {version}{hint}; versions {VERSIONS[0]} and {VERSIONS[1]}, little-endian, are read", 4)
    tensor_count = reader.count(SMALLEST_TENSOR, "tensors")
    metadata = read_metadata(reader, reader.count(SMALLEST_ENTRY, "entries of metadata"))
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or not 1 <= alignment <= 1 << 20 or alignment & (alignment - 1):
        raise CompileError(f"{path}: general.alignment is {alignment!r}, expected a power of two")
    return GgufFile(path, metadata, read_tensors(reader, tensor_count, alignment))
