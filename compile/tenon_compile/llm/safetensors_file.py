# SPDX-License-Identifier: MIT
"""Files in safetensors: tensors by name. Every byte is taken for hostile."""

import json
import mmap
import struct

from ..errors import CompileError
from .block_types import BY_NAME, StoredTensor

MOST_HEADER = 100 << 20  # bytes, the format's own limit
MOST_DIMENSIONS = 4
TYPES = ("F32", "F16", "BF16")


def unique(pairs):
    """An object of JSON, refused if a name occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def read_json(path, raw):
    """A value of JSON; an error of a line if it is none."""
    try:
        return json.loads(raw, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:  # of JSON, and of UTF-8
        raise CompileError(f"{path}: no JSON: {error}") from error


def is_extents(value, most):
    return type(value) is list and len(value) <= most and all(type(v) is int and 0 <= v < 1 << 62 for v in value)


def tensor_of(path, name, entry, data):
    """A tensor that an entry of the header describes."""

    def refuse(text):
        raise CompileError(f"{path}: tensor {name[:80]!r}: {text}")

    if type(entry) is not dict or entry.get("dtype") not in BY_NAME or entry["dtype"] not in TYPES:
        given = entry.get("dtype") if type(entry) is dict else entry
        refuse(f"its type is {str(given)[:40]!r}. Supported are {', '.join(TYPES)}")
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    if not is_extents(shape, MOST_DIMENSIONS) or not shape or 0 in shape:
        refuse(f"its shape is {str(shape)[:80]}, expected 1 to {MOST_DIMENSIONS} extents")
    if not is_extents(offsets, 2) or len(offsets) != 2:
        refuse(f"its offsets are {str(offsets)[:80]}")
    begin, end = offsets
    size = BY_NAME[entry["dtype"]].size
    for extent in shape:
        size *= extent
    if not begin <= end <= len(data) or end - begin != size:
        refuse(f"offsets {begin} to {end} for {size} bytes, where the file has {len(data)}")
    return StoredTensor(name, tuple(shape), entry["dtype"], data[begin:end])


def read(path):
    """The tensors of a file, by name."""
    with path.open("rb") as file:
        if path.stat().st_size < 8:
            raise CompileError(f"{path}: {path.stat().st_size} bytes are no file in safetensors")
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    (size,) = struct.unpack("<Q", data[:8])
    if size > min(MOST_HEADER, len(data) - 8):
        raise CompileError(f"{path}: a header of {size} bytes is promised, {len(data) - 8} bytes are left")
    header = read_json(path, bytes(data[8 : 8 + size]))
    if type(header) is not dict:
        raise CompileError(f"{path}: its header is no object")
    header.pop("__metadata__", None)
    return {name: tensor_of(path, name, entry, data[8 + size :]) for name, entry in header.items()}
