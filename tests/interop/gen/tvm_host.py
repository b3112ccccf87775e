# SPDX-License-Identifier: MIT
"""Host modules: code for the CPU that TVM's LLVM code generator made."""

import ml_dtypes
import numpy as np
import tvm
from tvm import s_tir, te, tirx, topi

from .case import In, Out

LLVM = {"kind": "llvm"}


def prim(name, tensors, **attrs):
    f = te.create_prim_func(tensors).with_attr("global_symbol", name)
    return f.with_attr(attrs) if attrs else f


def export(case, functions, file="lib.so", target=LLVM, **kwargs):
    """Compile prim functions {name: function}, or an IRModule, and export them as `file`."""
    mod = functions if isinstance(functions, tvm.IRModule) else tvm.IRModule(functions)
    ex = tvm.compile(mod, target=tvm.target.Target(target))
    ex.export_library(str(case.path(file)), **kwargs)
    case.added(file, tree_of(ex.mod))
    return ex


def tree_of(module):
    return {"kind": module.kind, "imports": [tree_of(m) for m in module.imports]}


def scheduled(function, steps):
    sch = s_tir.Schedule(function)
    steps(sch)
    return sch.mod["main"]


def add_function(name, n, dtype):
    a, b = te.placeholder((n,), dtype, name="A"), te.placeholder((n,), dtype, name="B")
    return prim(name, [a, b, te.compute((n,), lambda i: a[i] + b[i], name="C")])


def floats(case, *shape):
    return case.rng.standard_normal(shape).astype("float32")


def host_vecadd(case):
    n = 128
    export(case, {"vecadd": add_function("vecadd", n, "float32")})
    a, b = floats(case, n), floats(case, n)
    case.call("lib.so", "vecadd", [In(a), In(b), Out(a + b)])
    case.call("lib.so", "main", [In(a), In(b), Out(a + b)])
    out = Out(None, (n,), "float32")
    short, square = floats(case, n // 2), floats(case, 16, 8)
    refused = [
        ([In(short), In(b), out], "wrong shape"),
        ([In(square), In(b), out], "wrong ndim"),
        ([In(a.astype("float64")), In(b), out], "wrong dtype bits"),
        ([In(a.astype("int32")), In(b), out], "wrong dtype code"),
        ([In(a), In(b)], "too few arguments"),
        ([In(a), In(b), out, 1], "too many arguments"),
        ([3, In(b), out], "int where a tensor is wanted"),
        ([2.5, In(b), out], "float where a tensor is wanted"),
        ([None, In(b), out], "None where a tensor is wanted"),
        (["text", In(b), out], "small string where a tensor is wanted"),
    ]
    for args, why in refused:
        case.call("lib.so", "vecadd", args, fails=why)


def host_vecadd_symbolic(case):
    n = te.var("n")
    export(case, {"vecadd_n": add_function("vecadd_n", n, "float32")})
    for size in (0, 1, 7, 256):
        a, b = floats(case, size), floats(case, size)
        case.call("lib.so", "vecadd_n", [In(a), In(b), Out(a + b)])
    case.call("lib.so", "vecadd_n", [In(floats(case, 7)), In(floats(case, 8)), Out(None, (7,), "float32")],
              fails="the two lengths differ")


def host_symbolic_2d(case):
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n), "float32", name="A")
    export(case, {"transpose_scale": prim("transpose_scale",
                                          [a, te.compute((n, m), lambda i, j: a[j, i] * 2.0, name="B")])})
    for shape in ((3, 5), (1, 1), (8, 2)):
        x = floats(case, *shape)
        case.call("lib.so", "transpose_scale", [In(x), Out(np.ascontiguousarray(x.T) * np.float32(2))])
    case.call("lib.so", "transpose_scale", [In(floats(case, 3, 5)), Out(None, (3, 5), "float32")],
              fails="the output has the shape of the input, not of its transpose")


def host_matmul(case):
    n = 16
    a, b = te.placeholder((n, n), "float32", name="A"), te.placeholder((n, n), "float32", name="B")
    export(case, {"matmul": prim("matmul", [a, b, topi.matmul(a, b)])})
    x, y = floats(case, n, n), floats(case, n, n)
    case.call("lib.so", "matmul", [In(x), In(y), Out(x @ y)], rtol=1e-4, atol=1e-5)


def host_conv2d(case):
    data = te.placeholder((1, 3, 8, 8), "float32", name="data")
    kernel = te.placeholder((4, 3, 3, 3), "float32", name="kernel")
    conv = topi.nn.conv2d_nchw(data, kernel, 1, 1, 1)
    export(case, {"conv2d": prim("conv2d", [data, kernel, conv])})
    x, w = floats(case, 1, 3, 8, 8), floats(case, 4, 3, 3, 3)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    want = np.einsum("nchwij,ocij->nohw", windows, w).astype("float32")
    case.call("lib.so", "conv2d", [In(x), In(w), Out(np.ascontiguousarray(want))], rtol=1e-4, atol=1e-5)


def host_softmax(case):
    a = te.placeholder((4, 10), "float32", name="A")
    export(case, {"softmax": prim("softmax", [a, topi.nn.softmax(a)])})
    x = floats(case, 4, 10)
    e = np.exp(x - x.max(1, keepdims=True))
    case.call("lib.so", "softmax", [In(x), Out(e / e.sum(1, keepdims=True))], rtol=1e-5, atol=1e-6)


def host_parallel_sum(case):
    m, n = 64, 128
    a = te.placeholder((m, n), "float32", name="A")
    k = te.reduce_axis((0, n), "k")
    f = prim("rowsum", [a, te.compute((m,), lambda i: te.sum(a[i, k], axis=k), name="B")])

    def steps(sch):
        i, _ = sch.get_loops(sch.get_sblock("B"))
        sch.parallel(i)

    export(case, {"rowsum": scheduled(f, steps)})
    x = floats(case, m, n)
    case.call("lib.so", "rowsum", [In(x), Out(x.sum(1))], rtol=1e-4, atol=1e-5)


def host_int8(case):
    n = 16
    a, b = te.placeholder((n, n), "int8", name="A"), te.placeholder((n, n), "int8", name="B")
    k = te.reduce_axis((0, n), "k")
    dot = te.compute((n, n), lambda i, j: te.sum(a[i, k].astype("int32") * b[j, k].astype("int32"), axis=k),
                     name="dot")
    x, y = (case.rng.integers(-128, 128, (n, n)).astype("int8") for _ in range(2))
    want = x.astype("int32") @ y.astype("int32").T
    export(case, {"dot_i8": prim("dot_i8", [a, b, dot])})
    case.call("lib.so", "dot_i8", [In(x), In(y), Out(want)], rtol=0, atol=0)
    case.call("lib.so", "dot_i8", [In(x.view("uint8")), In(y), Out(None, (n, n), "int32")],
              fails="uint8 where int8 is wanted")
    export(case, {"add_i8": add_function("add_i8", 64, "int8")}, "add.so")
    x, y = (case.rng.integers(-128, 128, 64).astype("int8") for _ in range(2))
    case.call("add.so", "add_i8", [In(x), In(y), Out(x + y)], rtol=0, atol=0)


def low_precision(dtype, rtol):
    def make(case):
        n = 64
        export(case, {"vecadd": add_function("vecadd", n, dtype)})
        kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
        a, b = floats(case, n).astype(kind), floats(case, n).astype(kind)
        case.call("lib.so", "vecadd", [In(a), In(b), Out((a + b).astype(kind))], rtol=rtol, atol=rtol)
        case.call("lib.so", "vecadd", [In(a.astype("float32")), In(b), Out(None, (n,), dtype)],
                  rtol=rtol, atol=rtol, fails=f"float32 where {dtype} is wanted")
    return make


def host_float8(case):
    a = te.placeholder((64,), "float8_e4m3fn", name="A")
    export(case, {"widen": prim("widen", [a, te.compute((64,), lambda i: a[i].astype("float32"), name="B")])})
    x = (np.abs(floats(case, 64)) + 0.1).astype(ml_dtypes.float8_e4m3fn)
    case.note("no subnormal numbers: TVM's own code is wrong for them")
    case.call("lib.so", "widen", [In(x), Out(x.astype("float32"))], rtol=0, atol=0)


def host_bool(case):
    a, b = te.placeholder((32,), "bool", name="A"), te.placeholder((32,), "bool", name="B")
    both = te.compute((32,), lambda i: tirx.all(a[i], b[i]), name="C")
    export(case, {"both": prim("both", [a, b, both])})
    x, y = case.rng.random(32) < 0.5, case.rng.random(32) < 0.5
    case.call("lib.so", "both", [In(x), In(y), Out(x & y)], rtol=0, atol=0)
    case.call("lib.so", "both", [In(x.view("uint8")), In(y), Out(None, (32,), "bool")],
              fails="uint8 where bool is wanted")


def host_scalar_args(case):
    n = 32
    a = te.placeholder((n,), "float32", name="A")
    i32, i64, f32 = te.var("i32", "int32"), te.var("i64", "int64"), te.var("f32", "float32")
    out = te.compute((n,), lambda i: a[i] * f32 + i32.astype("float32") + i64.astype("float32"), name="C")
    export(case, {"axpb": prim("axpb", [i32, f32, a, i64, out])})

    def want(x, k, f, big):
        return (x * np.float32(f) + np.float32(k) + np.float32(big)).astype("float32")

    x = floats(case, n)
    for k, f, big in ((3, 2.5, 10), (-2, -1000.0, -1048576), (True, 0.5, 7), (4, 2, -1), (2**31 - 1, 0.0, 2**40)):
        case.call("lib.so", "axpb", [k, f, In(x), big, Out(want(x, int(k), f, big))])
    out = Out(None, (n,), "float32")
    for args, why in (
        ([1.5, 2.5, In(x), 10, out], "float where an int is wanted"),
        ([1, 2.5, In(x), "ten", out], "string where an int is wanted"),
        ([1, None, In(x), 10, out], "None where a float is wanted"),
        ([1, 2.5, 3, 10, out], "int where a tensor is wanted"),
    ):
        case.call("lib.so", "axpb", args, fails=why)


def host_workspace(case):
    n = 4096
    a = te.placeholder((n,), "float32", name="A")
    square = te.compute((n,), lambda i: a[i] * a[i], name="square")
    mirror = te.compute((n,), lambda i: square[n - 1 - i], name="mirror")
    export(case, {"sq_mirror": prim("sq_mirror", [a, mirror])})
    x = floats(case, n)
    case.call("lib.so", "sq_mirror", [In(x), Out((x * x)[::-1].copy())])


def host_zero_dim(case):
    a = te.placeholder((), "float32", name="A")
    b = te.placeholder((), "float32", name="B")
    export(case, {"hypot2": prim("hypot2", [a, b, te.compute((), lambda: a() * a() + b() * b(), name="C")])})
    x, y = np.array(1.5, "float32"), np.array(-2.0, "float32")
    case.call("lib.so", "hypot2", [In(x), In(y), Out(np.array(6.25, "float32"))])


def host_several(case):
    """Several functions in one library, found by name; near names for the command to offer."""
    functions = {name: add_function(name, n, "float32") for name, n in (("add_4", 4), ("add_8", 8), ("add_16", 16))}
    export(case, functions)
    for n in (4, 8, 16):
        a, b = floats(case, n), floats(case, n)
        case.call("lib.so", f"add_{n}", [In(a), In(b), Out(a + b)])


def c_host(case):
    """Host code as C: plain external names instead of context variables."""
    n = 32
    export(case, {"vecadd_c": add_function("vecadd_c", n, "float32")}, target={"kind": "c"})
    a, b = floats(case, n), floats(case, n)
    case.call("lib.so", "vecadd_c", [In(a), In(b), Out(a + b)])
    case.call("lib.so", "vecadd_c", [In(a), In(floats(case, n - 1)), Out(None, (n,), "float32")],
              fails="wrong shape")
    big = 4096
    x = te.placeholder((big,), "float32", name="A")
    square = te.compute((big,), lambda i: x[i] * x[i], name="square")
    f = prim("sq_mirror_c", [x, te.compute((big,), lambda i: square[big - 1 - i], name="mirror")])
    export(case, {"sq_mirror_c": f}, "work.so", target={"kind": "c"})
    v = floats(case, big)
    case.call("work.so", "sq_mirror_c", [In(v), Out((v * v)[::-1].copy())])


CASES = [
    ("host_vecadd", "float32 add of fixed length; the weak main entry; ten calls that the checks must refuse",
     host_vecadd, False),
    ("host_vecadd_symbolic", "length read from the tensors; an empty tensor; lengths that differ",
     host_vecadd_symbolic, False),
    ("host_symbolic_2d", "two symbolic dimensions shared by two tensors", host_symbolic_2d, False),
    ("host_matmul", "float32 matrix product", host_matmul, False),
    ("host_conv2d", "3x3 convolution, NCHW, padding 1: a temporary from the workspace", host_conv2d, False),
    ("host_softmax", "softmax over the last axis: exp and temporaries", host_softmax, False),
    ("host_parallel_sum", "row sums in a parallel loop: TVMBackendParallelLaunch", host_parallel_sum, False),
    ("host_int8", "int8 dot products into int32, int8 addition that wraps", host_int8, False),
    ("host_f16", "float16 addition", low_precision("float16", 1e-3), False),
    ("host_bf16", "bfloat16 addition", low_precision("bfloat16", 8e-3), True),
    ("host_float8", "float8_e4m3fn widened to float32", host_float8, True),
    ("host_bool", "bool tensors ({6,8} since TVM 0.23)", host_bool, False),
    ("host_scalar_args", "int32, int64 and float32 arguments beside tensors; conversions and refusals",
     host_scalar_args, False),
    ("host_workspace", "a 16 KiB temporary: TVMBackendAllocWorkspace and FreeWorkspace", host_workspace, False),
    ("host_zero_dim", "0-dimensional tensors", host_zero_dim, True),
    ("host_several", "three functions in one library", host_several, False),
    ("c_host", "host code as C: TVMFFI* and TVMBackend* as plain externals", c_host, True),
]
