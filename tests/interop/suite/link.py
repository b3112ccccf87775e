# SPDX-License-Identifier: MIT
"""The worker as an object of Python: a process that runs compiled code on Tenon (worker.c).

A message is its length, eight bytes, and then a letter with fields; numbers are little-endian.

    to the worker                                       it answers
    L path                load a module                 V value, or E kind message
    F module imports name find a function of it
    I module              its imports
    G name                find a global function
    P name number         register a function of Python
    C function count args call
    D object              forget an object              nothing
    R value changes, X kind message                     (these answer a callback: C number count args)

Behind each answer come the tensors that changed (count, then key and bytes of each) and the keys of those that the
worker still refers to after the call.

A value is a letter and its bytes: N none, i integer, b bool, f float, d dtype, D device, s string, y bytes, S shape,
A array, M map, c a function of Python, o an object that the worker keeps, p an address (its value is not sent),
t a tensor (key, dtype, shape, bytes), k a tensor of the call by its key. A tensor with a key is one object on both
sides: for the time of a call, or as long as the worker refers to it.
"""

import ctypes
import os
import struct
import subprocess

import numpy as np
import tvm_ffi

# where a tensor object of tvm-ffi has the byte offset: behind its header and the fields before it of DLTensor
BYTE_OFFSET = 24 + 40
# as in tensors.c: keys of tensors that the worker made, and how many of them both sides keep
FIRST_RESULT, RESULTS_KEPT = 1 << 31, 64


class NotExpressible(Exception):
    """A value or an operation that has no message."""


class WorkerDied(Exception):
    """The process that runs the code ended."""


class Kept:
    """An object that exists in the worker alone."""

    def __init__(self, worker, number, type_key):
        self.worker, self.number, self.type_key = worker, number, type_key

    def __del__(self):
        self.worker.forget(self.number)


class KeptFunction(Kept):
    """A function in the worker. For isinstance() it is a function of tvm_ffi."""

    __class__ = property(lambda self: tvm_ffi.Function)

    def __call__(self, *args):
        return self.worker.call(self, args)


def text(string):
    data = string if isinstance(string, bytes) else string.encode()
    return struct.pack("<q", len(data)) + data


def tensor_bytes(tensor):
    dtype = tvm_ffi.dtype(str(tensor.dtype))
    count = int(np.prod(tensor.shape, dtype=np.int64))
    return (count * dtype.bits * dtype.lanes + 7) // 8


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize(form)))[0]

    def text(self):
        return self.take(self.number("q"))


class Worker:
    """Starts the process and speaks with it. `make_tensor` makes a tensor of TVM of (shape, dtype)."""

    def __init__(self, program, make_tensor):
        self.program, self.make_tensor = program, make_tensor
        self.process, self.callbacks, self.dropped, self.generation = None, {}, [], 0
        self.registered, self.calls, self.retained, self.keys = {}, 0, {}, 0
        self.kinds = {"ffi.Function": KeptFunction}

    # ---- the process

    def start(self):
        request, self.out = os.pipe()
        self.into, answer = os.pipe()

        def descriptors():
            os.dup2(request, 100), os.dup2(answer, 101)
            os.dup2(100, 3), os.dup2(101, 4)
            os.closerange(5, 1024)

        self.process = subprocess.Popen(
            [self.program], stdin=subprocess.DEVNULL, close_fds=False, preexec_fn=descriptors
        )
        os.close(request), os.close(answer)
        self.dropped, self.retained, self.generation = [], {}, self.generation + 1
        for name, function in self.registered.items():
            self.register(name, function)

    def stop(self):
        if self.process:
            os.close(self.out), os.close(self.into)
            self.process.kill()
            self.process.wait()
            self.process = None

    def died(self):
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            code = "unknown"
        self.stop()
        raise WorkerDied(f"the worker ended with status {code}")

    def send(self, message):
        data = memoryview(struct.pack("<Q", len(message)) + message)
        try:
            while data:
                data = data[os.write(self.out, data) :]
        except BrokenPipeError:
            self.died()

    def read(self, size):
        data = bytearray()
        while len(data) < size:
            part = os.read(self.into, min(size - len(data), 1 << 20))
            if not part:
                self.died()
            data += part
        return bytes(data)

    def receive(self):
        return Reader(self.read(struct.unpack("<Q", self.read(8))[0]))

    def forget(self, number):
        self.dropped.append((self.generation, number))

    def ask(self, message, tensors=None):
        """Send a request and serve callbacks until its answer comes."""
        if not self.process:
            self.start()
        dropped, self.dropped = self.dropped, []
        for generation, number in dropped:
            if generation == self.generation:
                self.send(b"D" + struct.pack("<I", number))
        self.send(message)
        while True:
            answer = self.receive()
            kind = answer.take(1)
            if kind == b"C":
                self.answer_callback(answer)
                continue
            value = error = None
            tensors = self.retained | (tensors or {})
            if kind == b"V":
                value = self.decode(answer, tensors)
            else:
                error = answer.text().decode(), answer.text().decode(errors="replace"), answer.text().decode(errors="replace")
            self.take_changes(answer, tensors)
            for _ in range(answer.number("I")):
                key = answer.number("I")
                self.retained[key] = tensors[key]
            if error:
                raise make_error(*error)
            return value

    # ---- values

    def encode(self, value, tensors):
        if isinstance(value, Kept):
            if value.worker is not self:
                self.not_expressible("an object of another worker")
            return b"o" + struct.pack("<I", value.number)
        if value is None:
            return b"N"
        if isinstance(value, bool | np.bool_):
            return b"b" + struct.pack("<q", value)
        if isinstance(value, int | np.integer):
            return b"i" + struct.pack("<q", value)
        if isinstance(value, float | np.floating):
            return b"f" + struct.pack("<d", value)
        if isinstance(value, tvm_ffi.dtype):
            return b"d" + pack_dtype(value)
        if isinstance(value, str):
            return b"s" + text(str(value))
        if isinstance(value, bytes | bytearray):
            return b"y" + text(bytes(value))
        if isinstance(value, tvm_ffi.Device):
            return b"D" + struct.pack("<ii", value.dlpack_device_type(), value.index)
        if isinstance(value, tvm_ffi.Shape):
            return b"S" + struct.pack(f"<I{len(value)}q", len(value), *value)
        if isinstance(value, tvm_ffi.core.Tensor):
            return self.encode_tensor(value, tensors)
        if isinstance(value, dict | tvm_ffi.Map):
            items = [self.encode(v, tensors) for pair in value.items() for v in pair]
            return b"M" + struct.pack("<I", len(items) // 2) + b"".join(items)
        if isinstance(value, list | tuple | tvm_ffi.Array | tvm_ffi.List):
            items = [self.encode(item, tensors) for item in value]
            return b"A" + struct.pack("<I", len(items)) + b"".join(items)
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            return self.encode_tensor(self.from_dlpack(value), tensors)
        if callable(value) and not isinstance(value, type):
            return b"c" + struct.pack("<I", self.callback(value))
        self.not_expressible(f"a value of type {type(value).__module__}.{type(value).__qualname__}")

    def from_dlpack(self, value):
        return tvm_ffi.from_dlpack(value)

    def encode_tensor(self, tensor, tensors):
        if tensor.device.dlpack_device_type() != 1:
            self.not_expressible(f"a tensor on {tensor.device}")
        if ctypes.c_uint64.from_address(tensor.__chandle__() + BYTE_OFFSET).value:
            self.not_expressible("a tensor with a byte offset")
        if not tensor.is_contiguous():
            self.not_expressible("a tensor with strides")
        known = self.retained | tensors
        key = next((k for k, other in known.items() if other.same_as(tensor)), None)
        if key is None:
            key = self.keys = self.keys + 1
        tensors[key] = tensor
        size = tensor_bytes(tensor)
        data = ctypes.string_at(tensor.data_ptr(), size) if size else b""
        shape = struct.pack(f"<I{len(tensor.shape)}q", len(tensor.shape), *tensor.shape)
        return b"t" + struct.pack("<I", key) + pack_dtype(tensor.dtype) + shape + text(data)

    def callback(self, function):
        number = len(self.callbacks)
        self.callbacks[number] = function
        return number

    def decode(self, answer, tensors):
        form = answer.take(1)
        if form == b"N":
            return None
        if form == b"i":
            return answer.number("q")
        if form == b"b":
            return bool(answer.number("q"))
        if form == b"f":
            return answer.number("d")
        if form == b"d":
            return unpack_dtype(answer.take(4))
        if form == b"D":
            kind, index = answer.number("i"), answer.number("i")
            return tvm_ffi.device(tvm_ffi.Device._DEVICE_TYPE_TO_NAME[kind], index)
        if form == b"s":
            return answer.text().decode(errors="surrogateescape")
        if form == b"y":
            return answer.text()
        if form == b"S":
            return tvm_ffi.Shape([answer.number("q") for _ in range(answer.number("I"))])
        if form == b"A":
            items = [self.decode(answer, tensors) for _ in range(answer.number("I"))]
            return items if any(isinstance(i, Kept | list) for i in items) else tvm_ffi.Array(items)
        if form == b"M":
            count = answer.number("I")
            return {self.decode(answer, tensors): self.decode(answer, tensors) for _ in range(count)}
        if form == b"k":
            return tensors[answer.number("I")]
        if form == b"t":
            return self.decode_tensor(answer, tensors)
        if form == b"p":
            self.not_expressible("an address in the memory of the worker")
        number, type_key = answer.number("I"), answer.text().decode()
        return self.kinds.get(type_key, Kept)(self, number, type_key)

    def decode_tensor(self, answer, tensors):
        key, dtype = answer.number("I"), unpack_dtype(answer.take(4))
        shape = [answer.number("q") for _ in range(answer.number("I"))]
        tensor = self.make_tensor(shape, dtype)
        set_bytes(tensor, answer.text())
        if key:
            tensors[key] = tensor
        if key >= FIRST_RESULT:
            self.retained[key] = tensor
            self.retained.pop(key - RESULTS_KEPT, None)
        return tensor

    def take_changes(self, answer, tensors):
        for _ in range(answer.number("I")):
            tensor = tensors[answer.number("I")]
            set_bytes(tensor, answer.text())

    def answer_callback(self, request):
        function = self.callbacks[request.number("I")]
        tensors = {}
        try:
            args = [self.decode(request, tensors) for _ in range(request.number("I"))]
            before = {key: ctypes.string_at(t.data_ptr(), tensor_bytes(t)) for key, t in tensors.items()}
            reply = b"R" + self.encode(function(*args), tensors)
        except Exception as error:
            trace = tvm_ffi.error._traceback_to_backtrace_str(error.__traceback__)
            self.send(b"X" + text(type(error).__name__) + text(str(error)) + text(trace))
            return
        changes = []
        for key in before:
            tensor = tensors[key]
            now = ctypes.string_at(tensor.data_ptr(), tensor_bytes(tensor))
            if now != before[key]:
                changes.append(struct.pack("<I", key) + text(now))
        self.send(reply + struct.pack("<I", len(changes)) + b"".join(changes))

    # ---- requests

    def load(self, path):
        return self.ask(b"L" + text(path))

    def find(self, module, name, imports):
        return self.ask(b"F" + struct.pack("<IB", module.number, imports) + text(name))

    def imports(self, module):
        return list(self.ask(b"I" + struct.pack("<I", module.number)))

    def find_global(self, name):
        return self.ask(b"G" + text(name))

    def register(self, name, function):
        """Give a function of Python a global name in the worker, unless Tenon has one of that name."""
        self.registered[name] = function
        if self.process:
            self.ask(b"P" + text(name) + struct.pack("<I", self.callback(function)))

    def call(self, function, args):
        tensors = {}
        data = b"".join(self.encode(arg, tensors) for arg in args)
        self.calls += 1
        return self.ask(b"C" + struct.pack("<II", function.number, len(args)) + data, tensors)


def pack_dtype(dtype):
    dtype = tvm_ffi.dtype(str(dtype))
    return struct.pack("<BBH", dtype.type_code, dtype.bits, dtype.lanes)


def unpack_dtype(data):
    return tvm_ffi.dtype.from_dlpack_data_type(struct.unpack("<BBH", data))


def set_bytes(tensor, data):
    if data:
        ctypes.memmove(tensor.data_ptr(), data, len(data))


def make_error(kind, message, trace=""):
    """The exception that TVM raises for an error of this kind."""
    return tvm_ffi.core.Error(kind or "RuntimeError", message, trace).py_error()
