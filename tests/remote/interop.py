# SPDX-License-Identifier: MIT
"""Checks our server with TVM's own client, and prints TAP: interop.py PORT DATA MODULE"""

import os
import sys
import tempfile
import time
import traceback

import numpy as np
import tvm
from tvm import relax, rpc, te
from tvm.error import RPCError
from tvm.support import tar

port, data, hostile = sys.argv[1:4]


def connect(**options):
    return rpc.connect("127.0.0.1", int(port), key="board", **options)


def raises(kind, text, call, *args):
    try:
        call(*args)
    except kind as error:
        assert text in str(error), str(error)
        return
    raise AssertionError(f"{text!r} was not raised")


def library(folder):
    """vecadd, compiled by TVM: the library that the recorded session uploads"""
    with open(os.path.join(data, "module_call.c2s.bin"), "rb") as recording:
        recorded = recording.read()
    start = recorded.index(b"\x7fELF")
    path = os.path.join(folder, "vecadd.so")
    with open(path, "wb") as file:
        file.write(recorded[start : start + 25832])
    return path


def vecadd(remote):
    with tempfile.TemporaryDirectory() as folder:
        remote.upload(library(folder))
    return remote.load_module("vecadd.so")


def vectors(remote):
    device = remote.cpu()
    a = np.arange(1024, dtype="float32")
    b = np.full(1024, 0.5, "float32")
    tensors = [tvm.runtime.tensor(x, device) for x in (a, b, np.zeros_like(a))]
    return a + b, tensors


def upload_and_call():
    remote = connect()
    module = vecadd(remote)
    want, tensors = vectors(remote)
    for _ in range(3):
        module["vecadd"](*tensors)
    assert (tensors[2].numpy() == want).all()
    assert module.implements_function("vecadd")
    raises(AttributeError, "nothing", lambda: module["nothing"])


def tensors():
    remote = connect()
    device = remote.cpu()
    random = np.random.default_rng(1)
    for shape, dtype in [
        ((), "float32"),
        ((0, 3), "int32"),
        ((5,), "bool"),
        ((2, 3), "float16"),
        ((3, 5, 7), "int64"),
        ((1 << 20,), "float32"),
        ((1,), "uint8"),
    ]:
        x = random.integers(0, 2, shape).astype(dtype)
        tensor = tvm.runtime.tensor(np.asarray(x), device)
        assert tensor.shape == shape and str(tensor.dtype) == dtype
        assert (tensor.numpy() == x).all()
        other = tvm.runtime.empty(shape, dtype, device)
        tensor.copyto(other)
        assert (other.numpy() == x).all()


def time_evaluator():
    remote = connect()
    module = vecadd(remote)
    want, tensors = vectors(remote)
    result = module.time_evaluator("vecadd", remote.cpu(), number=7, repeat=4)(*tensors)
    assert len(result.results) == 4 and all(x > 0 for x in result.results), result.results
    # number grows until a repetition takes long enough
    start = time.monotonic()
    module.time_evaluator("vecadd", remote.cpu(), number=1, repeat=2, min_repeat_ms=50)(*tensors)
    assert time.monotonic() - start >= 0.1
    module.time_evaluator("vecadd", remote.cpu(), number=2, cache_flush_bytes=1 << 20)(*tensors)
    assert (tensors[2].numpy() == want).all()


def files():
    remote = connect()
    for content in [b"", b"short", os.urandom(3 << 20)]:
        remote.upload(bytearray(content), "file.bin")
        assert bytes(remote.download("file.bin")) == content
    assert remote.listdir(".") == "file.bin" or list(remote.listdir(".")) == ["file.bin"]
    remote.remove("file.bin")
    remote.remove("file.bin")
    raises(RPCError, "cannot find file file.bin", remote.download, "file.bin")
    raises(RPCError, "own folder", remote.download, "/etc/passwd")
    raises(RPCError, "own folder", remote.download, "../x")


def errors():
    remote = connect()
    module = vecadd(remote)
    _, tensors = vectors(remote)
    raises(RPCError, "none.so", remote.load_module, "none.so")
    raises(RPCError, "Expected 3 arguments", module["vecadd"], tensors[0])
    # the session goes on, until code ends it
    module["vecadd"](*tensors)
    remote.upload(hostile)
    remote.load_module(os.path.basename(hostile))
    crash = remote.load_module(os.path.basename(hostile))["crashes"]
    raises(RPCError, "killed by signal 11", crash, 1)
    upload_and_call()


def functions():
    remote = connect()
    remote.upload(hostile)
    module = remote.load_module(os.path.basename(hostile))
    assert module["add_one"](41) == 42
    assert "tvm.rpc.server.upload" in remote.get_function("tenon.rpc.list_functions")().split(",")
    raises(AttributeError, "no.such", remote.get_function, "no.such")


def attributes():
    remote = connect()
    assert remote.cpu().exist
    assert not remote.device("hexagon").exist
    assert not remote.cuda(100).exist
    raises(RPCError, "", lambda: remote.device("hexagon").device_name)


def devices():
    """tensors on every device that this machine has"""
    remote = connect()
    for device in (remote.cl(), remote.vulkan(), remote.cuda()):
        if not device.exist:
            continue
        assert device.device_name and device.max_threads_per_block > 0
        # the second comes in parts
        for x in (np.arange(1000, dtype="float32"), np.arange(1 << 20, dtype="float32")):
            tensor = tvm.runtime.tensor(x, device)
            device.sync()
            assert (tensor.numpy() == x).all()


def relax_program(folder):
    """a program for the Relax machine that doubles its input"""
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.add(x, x))
        builder.emit_func_output(y)
    path = os.path.join(folder, "model.so")
    relax.build(builder.get(), target="llvm").export_library(path)
    return path


def virtual_machine():
    remote = connect()
    with tempfile.TemporaryDirectory() as folder:
        remote.upload(relax_program(folder))
    machine = relax.VirtualMachine(remote.load_module("model.so"), remote.cpu())
    value = np.arange(6, dtype="float32").reshape(2, 3)
    tensor = tvm.runtime.tensor(value, remote.cpu())
    assert (machine["main"](tensor).numpy() == 2 * value).all()
    machine.set_input("main", x=tensor)
    machine.invoke_stateful("main")
    assert (machine.get_outputs("main").numpy() == 2 * value).all()
    machine.save_function("main", "saved", tensor, include_return=False)
    assert machine.time_evaluator("saved", remote.cpu(), number=3)().mean > 0
    assert machine.time_evaluator("invoke_stateful", remote.cpu(), number=3)("main").mean > 0
    raises(RPCError, "nope", machine.invoke_stateful, "nope")


def functions_before_a_module():
    """functions of plug-ins, in a session that loaded nothing"""
    remote = connect()
    for name in ("random_fill", "random_fill_for_measure"):
        for dtype in ("float32", "float16", "int8", "float64"):
            tensor = tvm.runtime.tensor(np.zeros((7, 9), dtype), remote.cpu())
            remote.get_function(f"tvm.contrib.random.{name}")(tensor)
            found = tensor.numpy().astype("float64")
            assert found.min() >= 1 and found.max() <= 10 and found.min() < found.max(), found
    tensor = tvm.runtime.tensor(np.zeros(100, "int32"), remote.cpu())
    remote.get_function("tvm.contrib.random.randint")(-5, 5, tensor)
    assert tensor.numpy().min() < 0 < tensor.numpy().max() < 5


def objects():
    """objects instead of a module, as clients that tune upload them"""
    a = te.placeholder((8,), name="a")
    b = te.compute((8,), lambda i: a[i] + 1, name="b")
    function = te.create_prim_func([a, b]).with_attr("global_symbol", "main")
    built = tvm.compile(tvm.IRModule({"main": function}), target="llvm")
    remote = connect()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "candidate.tar")
        built.export_library(path, fcompile=tar.tar)
        remote.upload(path)
    for _ in range(2):
        module = remote.load_module("candidate.tar")
        tensors = [tvm.runtime.tensor(np.full(8, v, "float32"), remote.cpu()) for v in (1, 0)]
        module["main"](*tensors)
        assert (tensors[1].numpy() == 2).all()
    assert remote.download_linked_module("candidate.tar")[:4] == b"\x7fELF"
    remote.upload(bytearray(b"no object"), "bad.o")
    raises(RPCError, "bad.o", remote.load_module, "bad.o")
    remote.upload(bytearray(b"no archive"), "bad.tar")
    raises(RPCError, "bad.tar", remote.load_module, "bad.tar")
    raises(RPCError, "cannot find file none.tar", remote.load_module, "none.tar")
    remote.remove("candidate.tar")
    # what the runner of MetaSchedule ends with
    remote.remove("")


def two_sessions():
    one, two = connect(), connect()
    one.upload(bytearray(b"one"), "file")
    two.upload(bytearray(b"two"), "file")
    assert bytes(one.download("file")) == b"one"
    assert bytes(two.download("file")) == b"two"
    # the same library in both, and after the first has gone
    first, second = vecadd(one), vecadd(two)
    want, tensors = vectors(one)
    first["vecadd"](*tensors)
    del first, tensors, one
    want, tensors = vectors(two)
    second["vecadd"](*tensors)
    assert (tensors[2].numpy() == want).all()


def timeout():
    remote = connect(session_timeout=1)
    time.sleep(2)
    for _ in range(600):
        try:
            remote.listdir(".")
        except Exception as error:
            assert "session has expired" in str(error), str(error)
            return
        time.sleep(0.1)
    raise AssertionError("the session never ended")


CHECKS = [
    upload_and_call,
    tensors,
    time_evaluator,
    files,
    errors,
    functions,
    attributes,
    devices,
    virtual_machine,
    functions_before_a_module,
    objects,
    two_sessions,
    timeout,
]


def main():
    failed = 0
    for number, check in enumerate(CHECKS, 1):
        try:
            check()
            print(f"ok {number} - a stock client: {check.__name__}", flush=True)
        except Exception:
            failed = 1
            print(f"not ok {number} - a stock client: {check.__name__}", flush=True)
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
    print(f"1..{len(CHECKS)}", flush=True)
    return failed


sys.exit(main())
