# SPDX-License-Identifier: MIT
"""Modules with an import tree: device sources, C sources, several children, a Relax executable."""

import numpy as np
import tvm
import tvm_ffi
from tvm import relax, te

from .case import In, Out
from .tvm_host import LLVM, add_function, export, floats, prim, scheduled, tree_of

N = 64
DEVICES = {
    "opencl": {"kind": "opencl"},
    "cuda": {"kind": "cuda", "arch": "sm_75"},
    "nvptx": {"kind": "nvptx", "mcpu": "sm_75"},
    "metal": {"kind": "metal"},
    "webgpu": {"kind": "webgpu"},
    "vulkan": {"kind": "vulkan"},
    "rocm": {"kind": "rocm", "mcpu": "gfx900"},
    "hexagon": {"kind": "hexagon", "mcpu": "hexagonv68"},
}


def on_threads(sch, block="C", threads=16):
    i = sch.get_loops(sch.get_sblock(block))[0]
    blocks, inner = sch.split(i, [None, threads])
    sch.bind(blocks, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")


def compiled(functions, device):
    target = tvm.target.Target(DEVICES[device], host=LLVM)
    return tvm.compile(tvm.IRModule(functions), target=target)


def device_add(name, device):
    return compiled({name: scheduled(add_function(name, N, "float32"), on_threads)}, device)


def keep(case, ex, file="lib.so"):
    ex.export_library(str(case.path(file)))
    case.added(file, tree_of(ex.mod))


def device_vecadd(device):
    def make(case):
        ex = device_add("vecadd", device)
        keep(case, ex)
        if device in ("opencl", "cuda"):
            x, y = floats(case, N), floats(case, N)
            case.call("lib.so", "vecadd", [In(x), In(y), Out(x + y)], cls="device", run=False,
                      extra={"device": f"{device}:0"})
        if device == "nvptx":
            case.note("the kernel is a .func, not an .entry: to be listed, not launched")
    return make


def opencl_multi(case):
    """Two functions with a kernel each; one with a symbolic length: scalar and grid arguments."""
    n = te.var("n")
    a = te.placeholder((n,), "float32", name="A")
    triple = scheduled(prim("triple", [a, te.compute((n,), lambda i: a[i] * 3.0, name="C")]), on_threads)
    add = scheduled(add_function("vecadd", N, "float32"), on_threads)
    keep(case, compiled({"triple": triple, "vecadd": add}, "opencl"))
    x, y = floats(case, N), floats(case, N)
    cl = {"device": "opencl:0"}
    case.call("lib.so", "vecadd", [In(x), In(y), Out(x + y)], cls="device", run=False, extra=cl)
    for size in (1, 40):
        x = floats(case, size)
        case.call("lib.so", "triple", [In(x), Out(x * np.float32(3))], cls="device", run=False, extra=cl)


def tree_children(case):
    """One host library whose root has four children."""
    kinds = ("opencl", "cuda", "metal", "webgpu")
    exs = [device_add(f"add_{d}", d) for d in kinds]
    for other in exs[1:]:
        exs[0].mod.import_module(other.mod)
    keep(case, exs[0])
    case.note("the four host modules are merged into one _lib; its children in order: " + ", ".join(kinds))


def tree_nested(case):
    """A child with a child: host -> opencl -> cuda. (TVM's exporter refuses a child of two parents.)"""
    one, two = device_add("add_opencl", "opencl"), device_add("add_cuda", "cuda")
    one.mod.imports[0].import_module(two.mod.imports[0])
    keep(case, one)


C_SOURCE = """
#include <tvm/ffi/c_api.h>
#ifdef __cplusplus
extern "C"
#endif
TVM_FFI_DLL_EXPORT int __tvm_ffi_c_twice(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args != 1 || args[0].type_index != kTVMFFIInt) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "c_twice takes one int");
    return -1;
  }
  result->type_index = kTVMFFIInt;
  result->v_int64 = 2 * args[0].v_int64;
  return 0;
}
"""


def c_import(case):
    """An LLVM module that imports C source: both are linked into the one library."""
    ex = tvm.compile(tvm.IRModule({"vecadd": add_function("vecadd", 16, "float32")}), target=tvm.target.Target(LLVM))
    create = tvm_ffi.get_global_func("runtime.CSourceModuleCreate")
    ex.mod.import_module(create(C_SOURCE, "c", ["c_twice"], []))
    keep(case, ex)
    x, y = floats(case, 16), floats(case, 16)
    case.call("lib.so", "vecadd", [In(x), In(y), Out(x + y)])
    case.call("lib.so", "c_twice", [21], returns=42)
    case.call("lib.so", "c_twice", ["text"], fails="string where an int is wanted")


def relax_mlp(case):
    """A Relax VM executable with constants: root relax.VMExecutable, child _lib."""
    weight, bias = floats(case, 8, 4), floats(case, 4)
    x = relax.Var("x", relax.TensorStructInfo((2, 8), "float32")) if hasattr(relax, "TensorStructInfo") else \
        relax.Var("x", relax.TensorType((2, 8), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.matmul(x, relax.const(weight)))
            y = bb.emit(relax.op.add(y, relax.const(bias)))
            y = bb.emit_output(relax.op.nn.relu(y))
        bb.emit_func_output(y)
    ex = tvm.compile(bb.get(), target=tvm.target.Target(LLVM))
    ex.export_library(str(case.path("vm.so")))
    case.added("vm.so", tree_of(ex.mod))
    data = floats(case, 2, 8)
    want = np.maximum(data @ weight + bias, 0)
    vm = relax.VirtualMachine(tvm.runtime.load_module(str(case.path("vm.so"))), tvm.cpu())
    np.testing.assert_allclose(vm["main"](case.suite.tensor(data)).numpy(), want, rtol=1e-4, atol=1e-5)
    np.save(case.path("in_x.npy"), data)
    np.save(case.path("out0.npy"), want)
    case.calls.append({"class": "model", "file": "vm.so", "function": "main", "args": [{"input": "x=@in_x.npy"}],
                       "expect": ["@out0.npy"], "rtol": 1e-4, "atol": 1e-5, "kind": "relax_vm"})
    case.note("run by TVM's own virtual machine: equal to numpy")


CASES = [
    *[(f"{d}_vecadd", f"one {d} payload, to be listed", device_vecadd(d), True) for d in DEVICES],
    ("opencl_multi", "two kernels in one payload, one with a symbolic length", opencl_multi, True),
    ("tree_children", "a root with four children", tree_children, True),
    ("tree_nested", "a child with a child", tree_nested, True),
    ("c_import", "an LLVM module that imports C source", c_import, False),
    ("relax_mlp", "a Relax VM executable", relax_mlp, True),
]
