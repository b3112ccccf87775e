# SPDX-License-Identifier: MIT
"""The exchanges of the protocol, by TVM's own client of either generation, values compared: prints TAP.

exchanges.py PORT KEY SERVER DATA FUNCTIONS FIRST [CASE]...: FUNCTIONS is a library to upload for servers without the functions
of stock_server.py, "-" for none; FIRST is the number of the first case. TENON_SERVER_PID is the process of our server,
TENON_HOP the port of a server of ours that a server of TVM passes a session on to.
"""

import gc
import os
import socket
import struct
import sys
import time
import traceback

import numpy as np
import tvm
from tvm import rpc

try:
    from tvm.error import RPCError
except ImportError:
    RPCError = tvm.TVMError

port, key, server, data, functions, first = sys.argv[1:7]
legacy = hasattr(tvm, "nd")
array = tvm.nd.array if legacy else tvm.runtime.tensor
empty = tvm.nd.empty if legacy else tvm.runtime.empty
ours = functions != "-"
# for recordings: cases by name, with small tensors
only = sys.argv[7:]
small = bool(only)


def connect(**options):
    # sessions of cases before end here: TVM's servers have one at a time
    gc.collect()
    return rpc.connect("127.0.0.1", int(port), key=options.pop("key", key), **options)


def function(remote, name):
    if not ours:
        return remote.get_function({"echo": "testing.echo"}.get(name, f"rpc.test.{name}"))
    remote.upload(functions)
    return remote.load_module(os.path.basename(functions))[name]


def raises(text, call, *args):
    try:
        call(*args)
    except Exception as error:
        assert text in str(error), f"{text!r} is not in {error}"
        # not the error: its frames would keep the session, and TVM's servers have one at a time
        return type(error)
    raise AssertionError(f"{text!r} was not raised")


def library(remote):
    """vecadd: the library of this generation"""
    if legacy:
        path = os.path.join(data, "../../interop/data/tvm-0.18/host_vecadd/lib.so")
    else:
        path = os.path.join(data, "../../interop/data/tvm-0.27.0.post1/host_vecadd/lib.so")
    remote.upload(path, "vecadd.so")
    return remote.load_module("vecadd.so")


def vectors(remote):
    n = 1024 if legacy else 128
    a = np.arange(n, dtype="float32")
    b = np.full(n, 0.5, "float32")
    return a + b, [array(x, remote.cpu()) for x in (a, b, np.zeros_like(a))]


def handshake():
    connect()
    raises("", lambda: connect(key="another"))
    connect(session_timeout=100)


def init_server():
    connect(session_constructor_args=["rpc.LocalSession"])
    raises("" if ours else "no.such", lambda: connect(session_constructor_args=["no.such"]))
    connect()


def echo():
    remote = connect()
    f = function(remote, "echo")
    for value in (0, -1, 2**62, 1.5, float("inf"), True, False):
        assert f(value) == value, value
    assert str(f(-0.0)) == "-0.0"
    assert f(None) is None
    for text in ("", "a", "seven77", "eight888", "x" * 300, "grüß"):
        assert f(text) == text, text
    for content in (b"", b"abc", b"abcdefgh", bytes(range(40))):
        assert bytes(f(bytearray(content))) == content, content


def calls():
    remote = connect()
    addone = function(remote, "addone")
    assert addone(41) == 42 and addone(-(2**40)) == 1 - 2**40
    raises("no.such", remote.get_function, "no.such.function")
    if not ours:
        assert function(remote, "strcat")("x", 11) == "x:11"
        assert remote.get_function("rpc.test.add_to")(10)(5) == 15
        zeros = remote.get_function("rpc.test.zeros")()
        assert (zeros.numpy() == 0).all() and zeros.shape == (10,)


def exceptions():
    remote = connect()
    # a server of TVM 0.18 sends no text for errors of Python
    silent = legacy and not ours
    assert raises("" if silent else "none.so", remote.load_module, "none.so") is RPCError
    if not ours:
        raises("" if silent else "boom", remote.get_function("rpc.test.except"), "boom")
    assert function(remote, "addone")(1) == 2


def tensors():
    remote = connect()
    device = remote.cpu()
    random = np.random.default_rng(1)
    for shape, dtype in [((), "float32"), ((0, 3), "int32"), ((5,), "bool"), ((2, 3), "float16"), ((3, 5, 7), "int64"),
                         ((3, 16 if small else 1 << 18), "float32"), ((1,), "uint8")]:
        x = np.asarray(random.integers(0, 2, shape).astype(dtype))
        tensor = array(x, device)
        assert tuple(tensor.shape) == shape and str(tensor.dtype) == dtype
        assert (tensor.numpy() == x).all()
        other = empty(shape, dtype, device)
        tensor.copyto(other)
        assert (other.numpy() == x).all()


def devices():
    remote = connect()
    assert remote.cpu().exist
    assert not remote.device("hexagon").exist
    stream = remote.cpu().create_raw_stream()
    remote.cpu().set_raw_stream(stream)
    remote.cpu().sync()
    remote.cpu().free_raw_stream(stream)


def module():
    remote = connect()
    m = library(remote)
    want, args = vectors(remote)
    m["vecadd"](*args)
    assert (args[2].numpy() == want).all()
    raises("nothing", lambda: m["nothing"])
    del m, args, remote
    # the same library in a second session
    remote = connect()
    m = library(remote)
    want, args = vectors(remote)
    m["vecadd"](*args)
    assert (args[2].numpy() == want).all()


def time_evaluator():
    remote = connect()
    m = library(remote)
    want, args = vectors(remote)
    result = m.time_evaluator("vecadd", remote.cpu(), number=7, repeat=4)(*args)
    assert len(result.results) == 4 and all(x > 0 for x in result.results)
    start = time.monotonic()
    m.time_evaluator("vecadd", remote.cpu(), number=1, repeat=2, min_repeat_ms=20)(*args)
    assert time.monotonic() - start >= 0.04
    assert (args[2].numpy() == want).all()


def files():
    remote = connect()
    for content in (b"", b"short", bytes(range(256)) * 4096):
        remote.upload(bytearray(content), "file.bin")
        assert bytes(remote.download("file.bin")) == content
    if ours:
        # a function of the servers in C++
        assert "file.bin" in str(remote.listdir("."))
    remote.remove("file.bin")
    raises("" if legacy and not ours else "file.bin", remote.download, "file.bin")


def timeout():
    remote = connect(session_timeout=2)
    # the server knows the client's encoding from its first request
    remote.get_function("tvm.rpc.server.upload")
    time.sleep(3)
    for _ in range(600):
        try:
            remote.get_function("tvm.rpc.server.upload")
        except Exception as error:
            assert "session has expired" in str(error), str(error)
            return
        time.sleep(0.1)
    raise AssertionError("the session never ended")


class Skip(Exception):
    """why a peer has not this exchange"""


# ---- exchanges that no client of TVM makes, byte by byte

MAGIC = 0xFF271
INIT, CALL, RETURN, COPY_FROM, COPY_TO, GET_FUNCTION, FREE_HANDLE, SET_DEVICE, ALLOC_TENSOR = 2, 3, 4, 6, 7, 9, 10, 11, 17
VERSION = struct.pack("<Q", 5) + b"0.8.0"
NO_ARGUMENTS = struct.pack("<i", 0)


class Raw:
    """a connection of a client that is none of TVM's"""

    def __init__(self, greeting=None):
        word = f"client:{key}".encode()
        self.socket = socket.create_connection(("127.0.0.1", int(port)), 60)
        self.socket.sendall(struct.pack("<ii", MAGIC, len(word)) + word if greeting is None else greeting)
        if greeting is None:
            assert self.read(4) == struct.pack("<i", MAGIC)
            self.read(struct.unpack("<i", self.read(4))[0])

    def read(self, size):
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            assert more, "the server closed the connection"
            got += more
        return got

    def ask(self, code, body):
        """A packet, and the code and body of its reply."""
        self.socket.sendall(packet(code, body))
        reply = self.read(struct.unpack("<Q", self.read(8))[0])
        return struct.unpack("<i", reply[:4])[0], reply[4:]

    def end(self):
        """Send no more, and read until the server closes."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while self.socket.recv(65536):
                pass
        except OSError:
            # the server has closed it already
            pass
        self.socket.close()


def packet(code, body):
    return struct.pack("<Qi", 4 + len(body), code) + body


def text(value):
    return struct.pack("<Q", len(value)) + value


def record(data, *shape):
    """a tensor of bytes on the CPU"""
    return struct.pack(f"<QiiiBBH{len(shape)}qQ", data, 1, 0, len(shape), 1, 8, 1, *shape, 0)


def find(raw, string_code, name):
    """The code and the number of the function's handle."""
    code, reply = raw.ask(GET_FUNCTION, struct.pack("<ii", 1, string_code) + text(name))
    assert code == RETURN, reply
    return struct.unpack("<iiQ", reply)[1:]


def both_generations():
    if not ours:
        raise Skip("a server of TVM speaks the encoding of its own version")
    remote = connect()
    addone = function(remote, "addone")
    peers = {}
    # the first request means the same in both encodings
    for string_code, pointer_code in ((11, 3), (8, 4), (11, 3)):
        raw = Raw()
        assert raw.ask(INIT, VERSION + NO_ARGUMENTS) == (RETURN, NO_ARGUMENTS)
        assert raw.ask(SET_DEVICE, struct.pack("<iiii", 1, 6, 1, 0))[0] == RETURN
        peers[raw] = string_code, pointer_code
    # all at once, in turns
    for _ in range(3):
        for raw, (string_code, pointer_code) in peers.items():
            code, handle = find(raw, string_code, b"tvm.rpc.server.upload")
            assert (code, handle != 0) == (pointer_code, True)
            assert find(raw, string_code, b"no.such.function") == (pointer_code, 0)
        assert addone(1) == 2
    for raw in peers:
        raw.end()


def hostile_rows():
    """The rows of the specification's section 15, but for what takes a library."""
    greeting = struct.pack("<ii", MAGIC, 12) + f"client:{key}".encode()
    init = packet(INIT, VERSION + NO_ARGUMENTS)
    call = struct.pack("<Q", 64)
    yield "a call before InitServer", packet(CALL, call + NO_ARGUMENTS)
    yield "a copy before InitServer", packet(COPY_TO, record(64, 4) + struct.pack("<Q", 4) + b"abcd")
    for code in (99, -1, RETURN):
        yield f"code {code}", init + packet(code, NO_ARGUMENTS)
    yield "a packet shorter than its content", init + packet(GET_FUNCTION, struct.pack("<iiQ", 1, 8, 100) + b"short")
    yield "type code 50", init + packet(CALL, call + struct.pack("<iiQ", 1, 50, 0))
    yield "an object of unknown type", init + packet(CALL, call + struct.pack("<iiIQ", 1, 64, 99, 0))
    yield "a packet of 2^62 bytes", init + struct.pack("<Qi", 2**62, CALL)
    for count in (2**31 - 1, -1):
        yield f"{count} arguments", init + packet(CALL, call + struct.pack("<i", count))
    yield "bytes behind the last argument", init + packet(SET_DEVICE, struct.pack("<iiii", 1, 6, 1, 0) + b"more")
    yield "a string of 2^60 bytes", init + packet(GET_FUNCTION, struct.pack("<iiQ", 1, 8, 2**60))
    yield "a syscall without arguments", init + packet(GET_FUNCTION, NO_ARGUMENTS)
    yield "a wrong kind of argument", init + packet(GET_FUNCTION, struct.pack("<iiq", 1, 1, 5))
    yield "a call of handle 0", init + packet(CALL, struct.pack("<Q", 0) + NO_ARGUMENTS)
    yield "a wild handle is freed", init + packet(FREE_HANDLE, struct.pack("<iiQ", 1, 4, 0x4141414141))
    yield "a wild address is read", init + packet(COPY_FROM, record(0x4141414141, 16) + struct.pack("<Q", 16))
    yield "a wild address is written", init + packet(COPY_TO, record(0x4141414141, 16) + struct.pack("<Q", 16) + bytes(16))
    yield "a negative shape", init + packet(ALLOC_TENSOR, struct.pack("<ii", 2, 7) + record(0, -5) + struct.pack("<i", 0))
    yield "an end inside a packet", init + packet(GET_FUNCTION, NO_ARGUMENTS)[:-2]
    yield "an end inside a large copy", init + struct.pack("<Qi", 1 << 20, COPY_TO) + record(64, 1 << 20) + bytes(20000)
    yield "packets of no bytes", init + bytes(800)
    for first in (struct.pack("<ii", MAGIC + 5, 12) + b"client:board", struct.pack("<ii", MAGIC, 0),
                  struct.pack("<ii", MAGIC, -1), struct.pack("<ii", MAGIC, 2**31 - 1),
                  struct.pack("<ii", MAGIC, 9) + b"client:\xff\xfe", greeting[:7],
                  struct.pack("<ii", MAGIC, 25) + b"client:board -timeout=abc"):
        yield "a greeting", first


def hostile():
    if not ours:
        raise Skip("most rows end a server of TVM")
    silent = [Raw(b"") for _ in range(20)]
    remote = connect()
    addone = function(remote, "addone")
    for name, content in hostile_rows():
        raw = Raw(content if name == "a greeting" else None)
        if name != "a greeting":
            raw.socket.sendall(content)
        raw.end()
        assert connect().cpu().exist and addone(1) == 2, name
    for raw in silent:
        raw.socket.close()


def hop():
    if ours:
        # it connects nowhere for a client
        raises("rpc.LocalSession only" if not legacy else "",
               lambda: connect(session_constructor_args=["rpc.Connect", "127.0.0.1", int(port), key, False]))
        assert function(connect(), "addone")(1) == 2
        return
    if "TENON_HOP" not in os.environ:
        raise Skip("no other server was started")
    remote = connect(session_constructor_args=["rpc.Connect", "127.0.0.1", int(os.environ["TENON_HOP"]), key, False])
    x = np.arange(3 << 10, dtype="float32")
    assert (array(x, remote.cpu()).numpy() == x).all()
    remote.upload(bytearray(b"content"), "file.bin")
    assert bytes(remote.download("file.bin")) == b"content"
    # an error of the last server arrives through the one between
    raises("own folder", remote.download, "../file.bin")
    want, args = vectors(remote)
    library(remote)["vecadd"](*args)
    assert (args[2].numpy() == want).all()


def left_by(pid):
    """What a server holds: descriptors, and processes."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return len(os.listdir(f"/proc/{pid}/fd")), len(file.read().split())


def soak():
    remote = connect()
    addone = function(remote, "addone")
    for i in range(10000):
        assert addone(i) == i + 1
    del addone, remote
    gc.collect()
    pid = os.environ.get("TENON_SERVER_PID")
    if not ours or not pid:
        return
    for _ in range(1000):
        raw = Raw()
        raw.ask(INIT, VERSION + NO_ARGUMENTS)
        # a file, a tensor and a function that the client does not free
        assert raw.ask(ALLOC_TENSOR, struct.pack("<ii", 2, 7) + record(0, 4096) + struct.pack("<i", 0))[0] == RETURN
        find(raw, 8, b"tvm.rpc.server.upload")
        raw.socket.close()
    # listeners and a signal descriptor, and the copy of files to the cache, stay
    for _ in range(600):
        descriptors, processes = left_by(pid)
        if descriptors < 20 and not processes:
            return
        time.sleep(0.1)
    raise AssertionError(f"{descriptors} descriptors and {processes} processes are left")


CASES = [handshake, init_server, both_generations, echo, calls, exceptions, tensors, devices, module, time_evaluator, files,
         hostile, hop, soak, timeout]


def main():
    failed = 0
    version = tvm.__version__.rsplit(".", 1)[0]
    for number, case in enumerate([c for c in CASES if not only or c.__name__ in only], int(first)):
        title = f"TVM {version}'s client, {server}: {case.__name__.replace('_', ' ')}"
        try:
            case()
            print(f"ok {number} - {title}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {title} # SKIP {reason}", flush=True)
        except Exception:
            failed = 1
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
            print(f"not ok {number} - {title}", flush=True)
    return failed


status = main()
sys.stdout.flush()
# TVM's destructors may wait for peers that are gone
os._exit(status)
