# SPDX-License-Identifier: MIT
"""The exchanges of the protocol, by TVM's own client of either generation, values compared: prints TAP.

exchanges.py PORT KEY SERVER DATA FUNCTIONS FIRST [CASE]...: FUNCTIONS is a library to upload for servers without the functions
of stock_server.py, "-" for none; FIRST is the number of the first case.
"""

import gc
import os
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


CASES = [handshake, init_server, echo, calls, exceptions, tensors, devices, module, time_evaluator, files, timeout]


def main():
    failed = 0
    version = tvm.__version__.rsplit(".", 1)[0]
    for number, case in enumerate([c for c in CASES if not only or c.__name__ in only], int(first)):
        title = f"TVM {version}'s client, {server}: {case.__name__.replace('_', ' ')}"
        try:
            case()
            print(f"ok {number} - {title}", flush=True)
        except Exception:
            failed = 1
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
            print(f"not ok {number} - {title}", flush=True)
    return failed


status = main()
sys.stdout.flush()
# TVM's destructors may wait for peers that are gone
os._exit(status)
