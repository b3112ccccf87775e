# SPDX-License-Identifier: MIT
"""Host code that calls packed functions of the embedding program, and objects for static linking.

fixture.scale(in, out, k: int, b: float, name: str) -> int: out = in * k + b; name must be "hello"; returns k + 1
fixture.observe(int, float, bool, str) -> int: returns 7
fixture.give(k: int) -> int: returns 2 * k, nested in the arguments of fixture.scale
"""

import ctypes
import subprocess

import numpy as np
import tvm
import tvm_ffi
from tvm import te, tirx

from .case import In, Out
from .tvm_host import LLVM, add_function, export, floats, prim, tree_of

N = 16


def register():
    def scale(source, out, k, b, name):
        assert name == "hello"
        tvm.runtime.Tensor.copyfrom(out, (source.numpy() * np.float32(k) + np.float32(b)).astype("float32"))
        return k + 1

    tvm_ffi.register_global_func("fixture.scale", scale, override=True)
    tvm_ffi.register_global_func("fixture.give", lambda k: 2 * k, override=True)
    tvm_ffi.register_global_func("fixture.observe", lambda i, f, b, s: 7, override=True)


def calls(name, body):
    a = te.placeholder((N,), "float32", name="A")
    out = te.extern([(N,)], [a], lambda ins, outs: body(ins[0], outs[0]), name="B", dtype="float32")
    return prim(name, [a, out])


def host_call_packed(case):
    register()
    export(case, {"call_scale": calls("call_scale", lambda i, o: tirx.call_packed(
        "fixture.scale", i, o, 3, 2.5, "hello"))}, "scale.so")
    export(case, {"call_nested": calls("call_nested", lambda i, o: tirx.call_packed(
        "fixture.scale", i, o, tirx.call_packed("fixture.give", 10), 0.5, "hello"))}, "nested.so")
    export(case, {"call_missing": calls("call_missing", lambda i, o: tirx.call_packed(
        "fixture.does_not_exist", i, o))}, "missing.so")
    a = te.placeholder((N,), "float32", name="A")
    seen = te.compute((4,), lambda i: a[i] + tirx.call_packed(
        "fixture.observe", i, 1.5, tirx.const(True, "bool"), "seen").astype("float32"), name="B")
    export(case, {"call_observe": prim("call_observe", [a, seen])}, "observe.so")
    x = floats(case, N)
    case.call("scale.so", "call_scale", [In(x), Out(x * np.float32(3) + np.float32(2.5))], cls="other")
    # The store "result := None" of a nested call goes to the wrong slot in these versions; TVM's own C++ functions
    # may refuse it, so only a runtime that treats the result as write-only need agree with numpy here.
    want = x * np.float32(20) + np.float32(0.5)
    try:
        case.call("nested.so", "call_nested", [In(x), Out(want)], cls="other")
    except Exception as why:
        case.calls.pop()
        case.note("TVM's own runtime on call_nested: " + " ".join(str(why).split())[:200])
        case.call("nested.so", "call_nested", [In(x), Out(want)], cls="other", run=False)
    case.call("observe.so", "call_observe", [In(x), Out(x[:4] + np.float32(7))], cls="other")
    case.call("missing.so", "call_missing", [In(x), Out(None, (N,), "float32")],
              fails="a function in no import and not global")


def syslib(case):
    """Objects that register their symbols from constructors, with and without a prefix."""
    ran = []
    for prefix, file in (("one_", "one.o"), ("two_", "two.o")):
        f = add_function(prefix + "add", 32, "float32")
        mod = tvm.IRModule({prefix + "add": f}).with_attr("system_lib_prefix", prefix)
        ex = tvm.compile(mod, target=tvm.target.Target(LLVM))
        ex.mod.write_to_file(str(case.path(file)))
        case.added(file, tree_of(ex.mod))
        ran.append((prefix, file))
    x, y = floats(case, 32), floats(case, 32)
    np.save(case.path("a.npy"), x)
    np.save(case.path("b.npy"), y)
    np.save(case.path("sum.npy"), x + y)
    lib = case.path("linked.so")
    ffi = tvm_ffi.libinfo.find_libtvm_ffi()
    subprocess.run(["c++", "-shared", "-o", str(lib), *[str(case.path(f)) for _, f in ran], str(ffi)], check=True)
    ctypes.CDLL(str(lib))
    for prefix, _ in ran:
        out = case.suite.empty((32,), "float32")
        tvm.runtime.system_lib(prefix)["add"](case.suite.tensor(x), case.suite.tensor(y), out)
        np.testing.assert_array_equal(out.numpy(), x + y)
    lib.unlink()
    case.note("functions one_add and two_add (prefixes one_, two_): sum.npy = a.npy + b.npy, run by TVM's system_lib")


CASES = [
    ("host_call_packed", "host code that calls packed functions of the embedding program, nested, and one missing",
     host_call_packed, False),
    ("syslib", "objects for static linking, registered by constructors, two prefixes", syslib, True),
]
