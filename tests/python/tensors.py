# SPDX-License-Identifier: MIT
"""Tensors: memory that is shared and never used after it is freed, DLPack, buffers, elements."""

import array
import ctypes
import gc
import math
import weakref

import tenon
from cases import Skip, need_module, raises


class _Exporter:
    """An object that exports a tensor as an older, or newer, library does."""

    def __init__(self, tensor, versioned):
        self.tensor, self.versioned = tensor, versioned

    def __dlpack__(self, **named):
        if not self.versioned:
            if named:
                raise TypeError("__dlpack__() takes no keyword arguments")
            return self.tensor.__dlpack__()
        return self.tensor.__dlpack__(**named)


def a_tensor_has_shape_dtype_and_device():
    t = tenon.empty((2, 3), "float16")
    assert t.shape == (2, 3) and t.dtype == "float16" and t.ndim == 2 and t.size == 6 and t.nbytes == 12
    assert t.device == tenon.Device("cpu") and str(t.device) == "cpu:0" and len(t) == 2 and t.strides == (3, 1)
    assert t.tolist() == [[0, 0, 0], [0, 0, 0]] and not t.read_only and "float16" in repr(t)
    assert tenon.empty(()).tolist() == 0 and tenon.empty(3).shape == (3,)
    raises(tenon.Error, tenon.empty, (-1,))
    raises(TypeError, tenon.empty, "x")
    raises(TypeError, tenon.Tensor)


def lists_become_tensors_and_tensors_lists():
    for data, dtype in (
        ([[1, 2], [3, 4]], "int64"),
        ([1.5, 2.5], "float32"),
        ([True, False], "bool"),
        ([1 + 2j], "complex64"),
        (7, "int64"),
        ([], "float32"),
    ):
        t = tenon.tensor(data)
        assert t.tolist() == data and t.dtype == dtype, (data, t)
    assert tenon.tensor([1, 2], "uint8").tobytes() == b"\1\2"
    assert tenon.tensor([3.5]).item() == 3.5
    raises(ValueError, tenon.tensor, [[1], [2, 3]])
    raises(ValueError, tenon.tensor([1, 2]).item)


def what_is_no_element_is_named():
    for data, dtype in ([1, "a"], None), ([2**64], None), ([300], "uint8"), ([1.5], "int32"), ([1e300], "float32"):
        assert repr(data[-1]) in str(raises(ValueError, tenon.tensor, data, dtype))
    for data in {}, "text", None, object():
        assert "array" in str(raises(TypeError, tenon.tensor, data))


def a_list_within_itself_is_refused():
    endless = []
    endless.append(endless)
    raises(ValueError, tenon.tensor, endless)


def small_floats_need_no_numpy():
    for dtype, codes in {
        "bfloat16": {0x3F80: 1.0, 0xC020: -2.5, 0x7F80: math.inf, 0x0001: 2.0**-133},
        "float8_e4m3fn": {0x38: 1.0, 0x7E: 448.0, 0x01: 2.0**-9, 0xB8: -1.0},
        "float8_e5m2": {0x3C: 1.0, 0x7B: 57344.0, 0x7C: math.inf, 0x01: 2.0**-16},
        "float8_e4m3fnuz": {0x40: 1.0, 0x7F: 240.0},
        "float8_e5m2fnuz": {0x40: 1.0, 0x7F: 57344.0},
        "float8_e4m3b11fnuz": {0x58: 1.0, 0x7F: 30.0},
        "float8_e3m4": {0x30: 1.0, 0x6F: 15.5},
        "float8_e8m0fnu": {127: 1.0, 130: 8.0},
    }.items():
        raw = array.array("H" if dtype == "bfloat16" else "B", codes)
        assert tenon.from_buffer(raw, dtype).tolist() == list(codes.values()), dtype
        assert tenon.tensor(list(codes.values()), dtype).tobytes() == raw.tobytes(), dtype
    assert math.isnan(tenon.from_buffer(b"\x7f", "float8_e4m3fn").tolist()[0])
    assert math.isnan(tenon.from_buffer(b"\x80", "float8_e4m3fnuz").tolist()[0])
    # halfway between two: the even one
    assert tenon.tensor([1 + 2.0**-8, 1 + 3 * 2.0**-8], "bfloat16").tolist() == [1, 1 + 2.0**-6]
    # numbers beyond the largest are the largest
    for dtype, largest in ("bfloat16", (2 - 2.0**-7) * 2.0**127), ("float8_e5m2", 57344.0), ("float8_e4m3fn", 448.0):
        assert tenon.tensor([1e39, -3.4e38, 3.4e38], dtype).tolist() == [largest, -largest, largest], dtype
    # no format of buffers says bfloat16, so numpy must not read it as something else
    raises(BufferError, memoryview, tenon.empty(3, "bfloat16"))
    raises(tenon.UnsupportedError, tenon.empty(3, "int4").tolist)


def a_buffer_is_shared_and_kept_alive():
    data = array.array("i", [1, 2, 3])
    t = tenon.from_buffer(data)
    data[1] = 20
    assert t.tolist() == [1, 20, 3] and t.dtype == "int32"
    # array.array refuses to move its memory as long as the tensor has it
    raises(BufferError, data.append, 4)
    view = memoryview(t)
    view[0] = 10
    assert data[0] == 10 and not view.readonly
    del t
    raises(BufferError, data.append, 4)
    del view
    gc.collect()
    data.append(4)


def a_tensor_outlives_what_it_was_made_of():
    data = bytearray(b"\1\2\3\4")
    t = tenon.from_buffer(data)
    del data
    views = [tenon.from_dlpack(_Exporter(t, versioned)) for versioned in (True, False)]
    del t
    gc.collect()
    [bytearray(range(100)) for _ in range(100)]
    assert all(view.tolist() == [1, 2, 3, 4] for view in views)


def read_only_memory_stays_read_only():
    t = tenon.from_buffer(b"\1\2\3")
    assert t.read_only and memoryview(t).readonly
    again = tenon.from_dlpack(_Exporter(t, True))
    assert again.read_only and again.tolist() == [1, 2, 3]
    raises(BufferError, t.__dlpack__)
    raises(BufferError, tenon.from_dlpack, _Exporter(t, False))
    raises(ValueError, t.copy_from, tenon.empty(3, "uint8"))
    assert not t.copy().read_only
    assert not tenon.from_dlpack(t.__dlpack__(copy=True)).read_only


def a_capsule_is_used_once():
    t = tenon.tensor([1, 2])
    for most in (None, (1, 0), (1, 3), (2, 0), (0, 8)):
        capsule = t.__dlpack__(max_version=most)
        assert ("versioned" in repr(capsule)) == (most is not None and most[0] >= 1)
        assert tenon.from_dlpack(capsule).tolist() == [1, 2]
        raises(BufferError, tenon.from_dlpack, capsule)
    assert t.__dlpack_device__() == (1, 0)
    raises(BufferError, t.__dlpack__, dl_device=(1, 5), copy=False)
    raises(TypeError, t.__dlpack__, max_version=1)


def wrong_options_of_an_export_are_refused():
    t = tenon.empty(3)
    for options in ({"dl_device": "x"}, {"dl_device": (1,)}, {"max_version": 3}, {"max_version": ("a", 1)}):
        raises(TypeError, t.__dlpack__, **options)


def a_capsule_that_nobody_uses_frees_its_tensor():
    data = bytearray(10)
    t = tenon.from_buffer(data)
    capsules = [t.__dlpack__(max_version=(1, 0)), t.__dlpack__()]
    del t
    raises(BufferError, data.append, 0)
    del capsules
    gc.collect()
    data.append(0)


def strides_are_kept():
    data = memoryview(bytearray(range(12))).cast("B", (3, 4))
    t = tenon.from_buffer(data)
    assert t.shape == (3, 4)
    every_second = tenon.from_buffer(memoryview(bytearray(range(12)))[::2])
    assert every_second.strides == (2,) and every_second.tolist() == [0, 2, 4, 6, 8, 10]
    assert every_second.copy().strides == (1,) and every_second.tobytes() == bytes(range(0, 12, 2))
    assert memoryview(every_second).strides == (2,)
    backwards = tenon.from_buffer(memoryview(b"\1\2\3")[::-1])
    assert backwards.tolist() == [3, 2, 1] and memoryview(backwards).tolist() == [3, 2, 1]


def the_shape_of_a_buffer_is_checked():
    assert tenon.from_buffer(bytes(12), "float32", (3, 1)).shape == (3, 1)
    raises(ValueError, tenon.from_buffer, bytes(12), "float32", (4,))
    raises(ValueError, tenon.from_buffer, bytes(10), "float32")
    raises(tenon.Error, tenon.from_buffer, bytes(12), "float32", (-3,))
    raises(TypeError, tenon.from_buffer, 5)
    raises(tenon.Error, tenon.from_buffer, bytes(12), "float32x0")


def the_table_of_functions_exchanges_tensors():
    capsule = tenon.Tensor.__dlpack_c_exchange_api__
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = get(capsule, b"dlpack_exchange_api")
    major, minor = (ctypes.c_uint32 * 2).from_address(address)
    allocate, from_object, to_object, view_object, stream = (ctypes.c_void_p * 5).from_address(address + 16)
    assert (major, minor) == (1, 3) and allocate and view_object and stream
    data = bytearray(b"\1\2\3")
    t = tenon.from_buffer(data)
    managed, back = ctypes.c_void_p(), ctypes.py_object()
    call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
    assert call(from_object)(t, ctypes.addressof(managed)) == 0
    call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    assert call(to_object)(managed, ctypes.addressof(back)) == 0
    made = back.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))  # the reference that the function gave
    data[0] = 9
    assert made.tolist() == [9, 2, 3]
    raises(BufferError, data.append, 0)
    del t, back, made
    gc.collect()
    data.append(0)


def tensors_are_collected():
    class Owner(bytearray):
        pass

    owner = Owner(8)
    alive = weakref.ref(owner)
    t = tenon.from_dlpack(_Exporter(tenon.from_buffer(owner), True))
    del owner
    gc.collect()
    assert alive()
    del t
    gc.collect()
    assert alive() is None


def numpy_shares_memory_both_ways():
    numpy = need_module("numpy")
    array_ = numpy.arange(6, dtype="float32").reshape(2, 3)
    t = tenon.from_dlpack(array_)
    assert numpy.shares_memory(t.numpy(), array_) and numpy.shares_memory(numpy.from_dlpack(t), array_)
    assert t.shape == (2, 3) and t.tolist() == array_.tolist()
    if tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 1):  # older ones export no read-only arrays
        array_.flags.writeable = False
        frozen = tenon.from_dlpack(array_)
        assert frozen.read_only and not numpy.from_dlpack(frozen).flags.writeable
    turned = tenon.from_dlpack(array_.T)
    assert turned.strides == (1, 3) and turned.tolist() == array_.T.tolist()
    assert tenon.empty(3, numpy.float64).dtype == tenon.empty(3, numpy.dtype("float64")).dtype == "float64"


def numbers_of_numpy_are_numbers():
    numpy = need_module("numpy")
    take = tenon.wrap(lambda *values: [type(value).__name__ for value in values])
    got = take(numpy.int64(3), numpy.float32(2.5), numpy.bool_(True), numpy.zeros(()), numpy.zeros(3))
    assert got == ["int", "float", "bool", "Tensor", "Tensor"], got


def tvm_ffi_shares_memory_both_ways():
    tvm_ffi = need_module("tvm_ffi")
    if not hasattr(tvm_ffi, "from_dlpack"):
        raise Skip("tvm_ffi is too old")
    t = tenon.tensor([1.0, 2.0])
    theirs = tvm_ffi.from_dlpack(t)
    ours = tenon.from_dlpack(theirs)
    t.copy_from(tenon.tensor([3.0, 4.0]))
    assert ours.tolist() == [3.0, 4.0] and tuple(theirs.shape) == (2,)
    # its functions take tensors of this package by the table, and give such back
    back = tvm_ffi.convert(lambda x: x)(t)
    assert isinstance(back, tenon.Tensor) and back.tolist() == [3.0, 4.0]
