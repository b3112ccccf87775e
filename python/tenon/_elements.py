# SPDX-License-Identifier: MIT
"""Elements of tensors as numbers of Python, without numpy: for small data, and for dtypes that numpy lacks."""

import reprlib
import struct

from tenon import _core

# characters of the struct module
_FORMATS = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "bool": "?",
}

# floats of 8 and 16 bits: bits of the exponent and of the mantissa, bias, and which codes are no finite numbers:
# "ieee" has infinities, "fn" a NaN in the largest code of each sign, "fnuz" a NaN in place of -0
_SMALL_FLOATS = {
    "bfloat16": (8, 7, 127, "ieee"),
    "float8_e3m4": (3, 4, 3, "ieee"),
    "float8_e4m3": (4, 3, 7, "ieee"),
    "float8_e5m2": (5, 2, 15, "ieee"),
    "float8_e4m3fn": (4, 3, 7, "fn"),
    "float8_e4m3fnuz": (4, 3, 8, "fnuz"),
    "float8_e5m2fnuz": (5, 2, 16, "fnuz"),
    "float8_e4m3b11fnuz": (4, 3, 11, "fnuz"),
}

_NAN = float("nan")
_INFINITY = float("inf")
_LARGEST_BFLOAT16 = (2 - 2.0**-7) * 2.0**127


def _decode(code, exponent_bits, mantissa_bits, bias, special):
    """The number of a code."""
    magnitude = code & ((1 << (exponent_bits + mantissa_bits)) - 1)
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    exponent, mantissa = magnitude >> mantissa_bits, magnitude & ((1 << mantissa_bits) - 1)
    largest = (1 << exponent_bits) - 1
    if special == "ieee" and exponent == largest:
        return _NAN if mantissa else sign * _INFINITY
    if special == "fn" and magnitude == (1 << (exponent_bits + mantissa_bits)) - 1:
        return _NAN
    if special == "fnuz" and sign < 0 and not magnitude:
        return _NAN
    if not exponent:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)


def _decode_scale(code):
    """A power of two, for float8_e8m0fnu."""
    return _NAN if code == 255 else 2.0 ** (code - 127)


def _decoder(dtype):
    """A function from codes to numbers, and the size of a code in bytes."""
    if dtype in _SMALL_FLOATS:
        form = _SMALL_FLOATS[dtype]
        return lambda code: _decode(code, *form), 2 if dtype == "bfloat16" else 1
    if dtype == "float8_e8m0fnu":
        return _decode_scale, 1
    raise _core.UnsupportedError(f"elements of {dtype} cannot be listed: tensor.tobytes() has their bytes")


def _flat(tensor):
    """The elements of a tensor in row-major order."""
    data, dtype = tensor.tobytes(), str(tensor.dtype)
    if dtype in _FORMATS:
        return struct.unpack(f"={tensor.size}{_FORMATS[dtype]}", data)
    if dtype in ("complex64", "complex128"):
        parts = struct.unpack(f"={2 * tensor.size}{'f' if dtype == 'complex64' else 'd'}", data)
        return [complex(*pair) for pair in zip(parts[::2], parts[1::2])]
    decode, size = _decoder(dtype)
    return [decode(code) for code in struct.unpack(f"={tensor.size}{'H' if size == 2 else 'B'}", data)]


def _nested(items, shape):
    if len(shape) == 1:
        return items
    size = len(items) // shape[0] if shape[0] else 0
    return [_nested(items[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]


def to_list(tensor):
    """Nested lists of the elements; the number of a tensor without dimensions."""
    items = list(_flat(tensor))
    return _nested(items, tensor.shape) if tensor.ndim else items[0]


def to_number(tensor):
    """The only element."""
    if tensor.size != 1:
        raise ValueError(f"the tensor has {tensor.size} elements, not one")
    return _flat(tensor)[0]


# ---- from numbers

# a list may hold itself
_NESTED_MOST = 64


def _flatten(data, shape, out):
    """Append the numbers of nested lists, which must have equal lengths."""
    if not shape:
        out.append(data)
        return
    if not isinstance(data, (list, tuple)) or len(data) != shape[0]:
        raise ValueError("the nested lists have different lengths")
    for item in data:
        _flatten(item, shape[1:], out)


def _shape_of(data):
    shape = []
    while isinstance(data, (list, tuple)):
        if len(shape) == _NESTED_MOST:
            raise ValueError(f"more than {_NESTED_MOST} lists within each other")
        shape.append(len(data))
        data = data[0] if data else 0
    return shape


def _usual_dtype(items):
    if items and all(isinstance(item, bool) for item in items):
        return "bool"
    if items and all(isinstance(item, int) for item in items):
        return "int64"
    if any(isinstance(item, complex) for item in items):
        return "complex64"
    return "float32"


def _encode(number, codes, values):
    """The code of the nearest number, of two equally near ones the even code; those beyond the largest as the largest."""
    import bisect

    if number != number:
        return None
    at = bisect.bisect_left(values, number)
    near = [i for i in (at - 1, at) if 0 <= i < len(values)]
    return min((abs(values[i] - number) if values[i] != number else 0, codes[i] & 1, codes[i]) for i in near)[2]


def _encoder(dtype):
    """A function from numbers to codes, and the size of a code in bytes."""
    decode, size = _decoder(dtype)
    if size == 2:
        return _bfloat16, size
    # without NaN, and with one zero
    numbers = {code: decode(code) for code in range(256)}
    known = sorted((number, code) for code, number in numbers.items() if number == number and (number or code < 128))
    nan = next((code for code, number in numbers.items() if number != number), None)
    values, codes = [value for value, _ in known], [code for _, code in known]

    def encode(number):
        code = nan if number != number else _encode(number, codes, values)
        if code is None:
            raise ValueError(f"{dtype} has no NaN")
        return code

    return encode, size


def _bfloat16(number):
    """The upper half of a float32, rounded to even; numbers beyond the largest as the largest."""
    if number != number:
        return 0x7FC0
    if abs(number) != _INFINITY:
        number = max(-_LARGEST_BFLOAT16, min(number, _LARGEST_BFLOAT16))
    (bits,) = struct.unpack("=I", struct.pack("=f", number))
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def _bytes_of(items, dtype):
    if dtype in _FORMATS:
        return struct.pack(f"={len(items)}{_FORMATS[dtype]}", *items)
    if dtype in ("complex64", "complex128"):
        parts = [part for item in items for part in (complex(item).real, complex(item).imag)]
        return struct.pack(f"={len(parts)}{'f' if dtype == 'complex64' else 'd'}", *parts)
    encode, size = _encoder(dtype)
    return struct.pack(f"={len(items)}{'H' if size == 2 else 'B'}", *map(encode, items))


def _checked_bytes_of(items, dtype):
    """_bytes_of(), whose failures name the element."""
    try:
        return _bytes_of(items, dtype)
    except (struct.error, TypeError, OverflowError):
        if len(items) > 1:
            for item in items:
                _checked_bytes_of([item], dtype)
        raise _core.ArgumentValueError(f"{reprlib.repr(items[0])} is no {dtype}") from None


def _of_buffer(data):
    try:
        memoryview(data)
    except TypeError:
        raise TypeError(f"a tensor is made of a number, nested lists or an array, not of {type(data)}") from None
    return _core.from_buffer(data)


def tensor(data, dtype, device):
    """tenon.tensor()"""
    if not isinstance(data, (list, tuple, int, float, complex)):
        made = _core.from_dlpack(data) if hasattr(data, "__dlpack__") else _of_buffer(data)
        if dtype is not None and made.dtype != _core.DType(dtype):
            raise _core.ArgumentTypeError(f"the data is of {made.dtype}, not of {_core.DType(dtype)}")
        copy = made.copy()
        return copy if device is None else copy.to(device)
    shape, items = _shape_of(data), []
    _flatten(data, shape, items)
    made = _core.empty(shape, _core.DType(dtype or _usual_dtype(items)))
    made.copy_from(_core.from_buffer(_checked_bytes_of(items, str(made.dtype)), made.dtype, shape))
    return made if device is None else made.to(device)
