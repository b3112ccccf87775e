# SPDX-License-Identifier: MIT
"""What the package tvm does on our libraries; the first argument names a section."""

import gc
import json
import os
import sys

import numpy as np
import tvm
from tvm import rpc, runtime

DTYPES = ["float32", "float16", "int8", "uint64", "bool", "bfloat16", "float8_e4m3fn", "int4"]


def local_devices():
    """Those that this machine has; the processor is always there."""
    return [tvm.cpu()] + [d for d in (tvm.opencl(), tvm.vulkan(), tvm.cuda()) if d.exist]


def fails(kind, *words):
    """Decorator: run a function at once, which must raise the error with the words in its text."""

    def run(function):
        try:
            function()
        except kind as error:
            assert all(word in str(error) for word in words), error
        else:
            raise AssertionError(f"{function.__name__} raised no error")

    return run


def library(folder):
    files = {line.split()[-1] for line in open("/proc/self/maps")}
    for name in ("libtvm_ffi.so", "libtvm_runtime.so"):
        loaded = [file for file in files if file.endswith("/" + name)]
        assert [os.path.samefile(file, os.path.join(folder, name)) for file in loaded] == [True], loaded
    # the C names that programs link with
    handle = tvm.base._LOADED_LIBS["tvm_runtime"]
    for name in ("AllocWorkspace", "FreeWorkspace", "ParallelLaunch", "ParallelBarrier"):
        assert getattr(handle, "TVMBackend" + name)


def check_tensors(device):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    a = runtime.tensor(x, device)
    assert a.device == device and a.shape == (2, 3) and (a.numpy() == x).all()
    b = runtime.empty((2, 3), "float32", device)
    a.copyto(b)
    assert (b.numpy() == x).all() and (a.copyto(tvm.cpu()).numpy() == x).all()
    assert (a._create_view((3, 2)).numpy() == x.reshape(3, 2)).all()
    assert (a._create_view((3,), relative_byte_offset=12).numpy() == x[1]).all()
    assert runtime.empty((0, 4), "float32", device).numpy().shape == (0, 4)
    assert runtime.tensor(np.float32(3), device).numpy() == 3
    for dtype in DTYPES:
        assert runtime.empty((4,), dtype, device).numpy().shape == (4,)


def tensors():
    for device in local_devices():
        check_tensors(device)
    a = runtime.tensor(np.zeros(4, dtype="float32"))
    shared = runtime._ffi_api.TVMTensorIsStorageShared
    assert shared(a, a._create_view((2, 2))) and not shared(a, runtime.empty((4,)))


def devices():
    assert runtime.enabled("cpu") and not runtime.enabled("llvm") and runtime.num_threads() >= 1
    for device in local_devices()[1:]:
        assert device.device_name and device.max_threads_per_block > 0
        stream = device.create_raw_stream()
        device.set_raw_stream(stream)
        check_tensors(device)
        device.sync(stream)
        device.set_raw_stream(None)
        runtime._ffi_api.Device_StreamSyncFromTo(device, stream, None)
        device.free_raw_stream(stream)
        device.sync()
        fails(ValueError, "no stream")(lambda: device.free_raw_stream(stream))
    cpu = tvm.cpu()
    cpu.set_raw_stream(cpu.create_raw_stream())
    cpu.sync()


def example_params():
    values = {f"p{i}": np.full((i, 2), i, dtype=["float32", "int8"][i % 2]) for i in range(20)}
    return values, {name: runtime.tensor(value, local_devices()[-1]) for name, value in values.items()}


def check_params(loaded):
    values, _ = example_params()
    assert len(loaded) == len(values)
    for name, value in values.items():
        assert loaded[name].numpy().dtype == value.dtype and (loaded[name].numpy() == value).all()


def params(path):
    _, tensors = example_params()
    data = runtime.save_param_dict(tensors)
    runtime.save_param_dict_to_file(tensors, path)
    assert open(path, "rb").read() == data
    loaded = runtime.load_param_dict(data)
    check_params(loaded)
    check_params(runtime.load_param_dict_from_file(path))
    # they are not the file's memory
    loaded["p3"].copyfrom(np.zeros((3, 2), dtype="int8"))
    assert loaded["p3"].numpy().sum() == 0
    assert len(runtime.load_param_dict(runtime.save_param_dict({}))) == 0


def read_params(path):
    """This section runs on TVM's own library."""
    check_params(runtime.load_param_dict_from_file(path))
    _, tensors = example_params()
    assert runtime.save_param_dict(tensors) == open(path, "rb").read()


def static_library(folder):
    """This section runs on TVM's own library, too."""
    path = os.path.join(folder, "some.o")
    with open(path, "wb") as file:
        file.write(b"the bytes of an object file")
    load = runtime.module.load_static_library
    module = load(path, ["f", "g"])
    assert module.kind == "static_library"
    assert module.implements_function("g") and not module.implements_function("h")
    assert module.is_compilation_exportable() and not module.is_runnable()
    module.write_to_file(path + ".copy")
    assert open(path + ".copy", "rb").read() == open(path, "rb").read()
    fails(Exception)(lambda: module["f"]())
    fails(Exception, "missing.o")(lambda: load(os.path.join(folder, "missing.o"), ["f"]))
    fails(TypeError)(lambda: load(path, ["f", 1]))
    fails(TypeError)(lambda: load(path, "f"))


def errors():
    api = runtime._ffi_api
    fails(Exception, "time_evaluator")(lambda: tvm.get_global_func("runtime.timer.cpu")(tvm.cpu()))
    fails(Exception, "compiler")(lambda: api.LoadMetaDataFromJSON("{}"))
    a = runtime.empty((4,), "float32")
    fails(Exception, "texture")(lambda: runtime.empty((4,), "float32", None, "texture"))
    fails(Exception, "hexagon")(lambda: runtime.empty((4,), "float32", tvm.device("hexagon")))
    fails(Exception, "session")(lambda: runtime.empty((4,), "float32", tvm.runtime.device(129 + 1280, 0)))
    fails(ValueError, "8 bytes")(lambda: api.TVMTensorCopyToBytes(a, None, 8))
    fails(ValueError, "NULL")(lambda: api.TVMTensorCopyFromBytes(a, None, 16))
    fails(ValueError)(lambda: a.copyto(runtime.empty((5,), "float32")))
    fails(ValueError, "parameters")(lambda: runtime.load_param_dict(b"neither parameters nor a tensor"))
    fails(Exception, "No such file")(lambda: runtime.load_param_dict_from_file("missing.params"))
    fails(TypeError, "arguments")(lambda: api.TVMTensorCopyFromTo(a))
    fails(TypeError)(lambda: api.SaveParams({"a": 1}))
    fails(TypeError)(lambda: api.Device_StreamSync(a, None))
    fails(RuntimeError, "refused")(lambda: rpc.connect("127.0.0.1", 1))
    fails(TypeError, "Module")(lambda: rpc._ffi_api.SessTableIndex(a))


def modules(data):
    folder = os.path.join(data, "host_vecadd")
    x, y, expected = (np.load(f"{folder}/c0_{name}.npy") for name in ("in0", "in1", "out2"))
    m = runtime.load_module(f"{folder}/lib.so")
    a, b, c = (runtime.tensor(array) for array in (x, y, np.zeros_like(expected)))
    m["vecadd"](a, b, c)
    assert (c.numpy() == expected).all()
    timing = m.time_evaluator("vecadd", tvm.cpu(), number=3, repeat=4, f_preproc="")(a, b, c)
    assert len(timing.results) == 4 and min(timing.results) > 0
    fails(Exception, "missing")(lambda: m.time_evaluator("missing", tvm.cpu())(a))
    fails(Exception)(lambda: m["vecadd"](a, b))
    if tvm.opencl().exist:
        folder = os.path.join(data, "opencl_vecadd")
        m = runtime.load_module(f"{folder}/lib.so")
        arrays = [np.load(f"{folder}/c0_{name}.npy") for name in ("in0", "in1", "out2")]
        name = json.load(open(f"{folder}/cases.json"))[0]["function"]
        a, b, c = (runtime.tensor(array, tvm.opencl()) for array in arrays[:2] + [np.zeros_like(arrays[2])])
        m[name](a, b, c)
        assert (c.numpy() == arrays[2]).all()
        assert m.time_evaluator(name, tvm.opencl(), number=2)(a, b, c).mean > 0


def check_machine(load, folder, device):
    # not before: it registers functions
    from tvm.runtime.vm import VirtualMachine

    case = json.load(open(f"{folder}/cases.json"))[0]
    name, parameter = case["function"], case["args"][0]["input"].split("=@")
    x = np.load(f"{folder}/{parameter[1]}")
    expected = np.load(f"{folder}/{case['expect'][0][1:]}")
    a = runtime.tensor(x, device)
    machine = VirtualMachine(load(f"{folder}/model.so"), device)

    def check(result):
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-5)

    check(machine[name](a))
    machine.set_input(name, **{parameter[0]: a})
    machine.invoke_stateful(name)
    check(machine.get_outputs(name))
    assert machine.time_evaluator("invoke_stateful", device, number=2, repeat=2)(name).mean > 0
    machine.save_function(name, "saved", a, include_return=False)
    assert machine.time_evaluator("saved", device)().mean > 0
    return machine, name, a


def machine(data):
    vm, name, a = check_machine(runtime.load_module, os.path.join(data, "model_mlp"), tvm.cpu())
    seen = []
    vm.set_instrument(lambda function, symbol, before, *rest: seen.append(symbol) or 0)
    vm[name](a)
    assert "vm.builtin.alloc_tensor" in seen
    if tvm.opencl().exist:
        check_machine(runtime.load_module, os.path.join(data, "model_mlp_opencl"), tvm.opencl())


def client(port, data):
    session = rpc.connect("127.0.0.1", int(port), key="board")
    cpu, cl = session.cpu(), session.cl()
    there = [cpu] + ([cl] if cl.exist else [])
    for device in there:
        check_tensors(device)
        device.sync()
        assert device.exist and runtime.tensor(np.zeros(2), device).device == device

    def load(path):
        # another name for each: the dynamic linker opens a name once
        name = path.replace("/", "_")
        session.upload(path, name)
        return session.load_module(name)

    folder = os.path.join(data, "host_vecadd")
    x, y, expected = (np.load(f"{folder}/c0_{name}.npy") for name in ("in0", "in1", "out2"))
    m = load(f"{folder}/lib.so")
    a, b, c = (runtime.tensor(array, cpu) for array in (x, y, np.zeros_like(expected)))
    m["vecadd"](a, b, c)
    assert (c.numpy() == expected).all()
    assert len(m.time_evaluator("vecadd", cpu, number=3, repeat=4)(a, b, c).results) == 4
    session.upload(bytearray(b"some bytes"), "bytes")
    assert bytes(session.download("bytes")) == b"some bytes"
    session.remove("bytes")
    fails(Exception, "copy it to a device of the session")(lambda: m["vecadd"](x, y, expected))
    fails(Exception, "missing.so")(lambda: session.load_module("missing.so"))
    fails(Exception, "missing")(lambda: session.get_function("missing"))
    fails(Exception, "key")(lambda: rpc.connect("127.0.0.1", int(port), key="another"))
    check_machine(load, os.path.join(data, "model_mlp"), cpu)
    if cl in there:
        check_machine(load, os.path.join(data, "model_mlp_opencl"), cl)
    other = rpc.connect("127.0.0.1", int(port), key="board")
    assert other.cpu() != cpu and (runtime.tensor(x, other.cpu()).numpy() == x).all()
    fails(Exception, "session")(lambda: m["vecadd"](a, b, runtime.tensor(x, other.cpu())))
    # a module finds functions of those that it imports on the server
    importing = load(f"{data}/host_scalar_args/lib.so")
    fails(Exception, "vecadd")(lambda: importing["vecadd"](a, b, c))
    import_module = rpc._ffi_api.ImportRemoteModule
    import_module(importing, m)
    c.copyfrom(np.zeros_like(expected))
    importing["vecadd"](a, b, c)
    assert (c.numpy() == expected).all()
    other.upload(f"{folder}/lib.so", "other.so")
    fails(TypeError, "one session")(lambda: import_module(importing, other.load_module("other.so")))
    fails(TypeError, "one session")(lambda: import_module(importing, runtime.load_module(f"{folder}/lib.so")))
    fails(TypeError)(lambda: import_module(importing, a))


def served():
    """A server in Python, and a session within this process."""
    server = rpc.Server("127.0.0.1", key="python")
    for session in (rpc.connect("127.0.0.1", server.port, key="python"), rpc.LocalSession()):
        assert session.get_function("rpc.test.add_to_lhs")(10)(12) == 22
        fails(RuntimeError, "the reason")(lambda: session.get_function("rpc.test.except")("the reason"))
        check_tensors(session.cpu())
        session.upload(bytearray(b"some bytes"), "name")
        assert bytes(session.download("name")) == b"some bytes"
        nothing = session.get_function("rpc.test.remote_return_nd")
        array = nothing("get_arr")()
        assert array.device == session.cpu() and array.numpy().shape == (10,)
    server.terminate()


SERVER_BEHIND_PIPES = """#!{python}
import os, sys
import tvm, tvm_ffi
inward, outward = (int(word) for word in sys.argv[1:])
create = tvm_ffi.get_global_func("rpc.CreateEventDrivenServer")
handler = create(lambda data: os.write(outward, data), "test", "%toinit")
going = 1
while going:
    # the connection ends without a word where the client is killed
    data = os.read(inward, 100) if going == 1 else b""
    going = handler(data, 3) if data or going == 2 else 0
"""


def piped(folder):
    """A server that gets its packets from its caller, in a child process."""
    path = os.path.join(folder, "server.py")
    with open(path, "w") as file:
        file.write(SERVER_BEHIND_PIPES.format(python=sys.executable))
    os.chmod(path, 0o755)
    before = open_sockets()
    session = rpc.PopenSession(path)
    assert session.get_function("runtime.NumThreads")() >= 1
    check_tensors(session.cpu())
    big = np.random.default_rng(1).random(300000, dtype="float32")
    assert (runtime.tensor(big, session.cpu()).numpy() == big).all()
    fails(Exception, "no.such.function")(lambda: session.get_function("no.such.function"))
    assert session.get_function("runtime.NumThreads")() >= 1
    del session
    gc.collect()
    assert open_sockets() == before
    # a child that ends at once is an error
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 3\n")
    fails(Exception)(lambda: rpc.PopenSession(path))


def open_sockets():
    fds = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sum(os.readlink(fd).startswith("socket:") for fd in fds if os.path.lexists(fd))


def sessions(port):
    def connect():
        return rpc.connect("127.0.0.1", int(port), key="board -timeout=60")

    before = open_sockets()
    # a function keeps its session, and so does a tensor
    attribute = connect().get_function("runtime.GetDeviceAttr")
    gc.collect()
    assert attribute(1, 0, 0) == 1 and open_sockets() == before + 1
    tensor = runtime.tensor(np.arange(3), connect().cpu())
    gc.collect()
    assert tensor.numpy()[2] == 2 and open_sockets() == before + 2
    del attribute, tensor
    gc.collect()
    assert open_sockets() == before
    # a process that was forked has sessions of its own
    child = os.fork()
    if not child:
        os._exit(0 if runtime.tensor(np.full(3, 7), connect().cpu()).numpy()[1] == 7 else 1)
    assert os.waitpid(child, 0)[1] == 0
    # more than the table of open devices has room for
    for i in range(70):
        session = connect()
        assert runtime.tensor(np.full(3, i), session.cpu()).numpy()[1] == i
        del session
        gc.collect()
    assert open_sockets() == before


globals()[sys.argv[1]](*sys.argv[2:])
