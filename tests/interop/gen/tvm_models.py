# SPDX-License-Identifier: MIT
"""Whole models for the Relax virtual machine, built with Relax's own front end and run by TVM's own runtime.

Each is a Model: what builds it, and named inputs by run. What TVM gives for them is stored as the expected output,
and is to be met bit for bit: the compiled code is the same.
"""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.backend import cuda
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op
from tvm.s_tir import dlight

from .tvm_host import LLVM

SEED = 20240607
TARGET = {**LLVM, "opt-level": 1}


def wrap(expr, name):
    return op.wrap_nested(expr, name)


def random(rng, shape, dtype="float32", scale=0.2):
    if dtype.startswith("int"):
        return rng.integers(-100, 100, shape).astype(dtype)
    return (rng.standard_normal(shape) * scale).astype(dtype)


class Model:
    def __init__(self, module, spec, runs, about, function="forward", exec_mode="bytecode", fused=True):
        self.fused = fused
        self.module, self.spec, self.runs = module, spec, runs
        self.about, self.function, self.exec_mode = about, function, exec_mode
        self.device, self.devices, self.graphs = None, None, False
        self.kind = "relax_vm"

    def on(self, device):
        """The same for a device, whose kernels have the simplest of schedules."""
        self.device = device
        return self

    def with_graphs(self):
        """What has no dynamic shapes is called through vm.builtin.cuda_graph.run_or_capture."""
        self.graphs = True
        self.about += "; its launches as a CUDA graph"
        return self

    def lowered(self):
        """The module; weights of front-end modules are bound as constants."""
        if isinstance(self.module, tvm.IRModule):
            mod = self.module
        else:
            mod, params = self.module.export_tvm(spec={self.function: self.spec})
            rng = np.random.default_rng(SEED)
            bound = {name: tvm.runtime.tensor(random(rng, [int(n) for n in p.shape], p.dtype)) for name, p in params}
            mod = relax.transform.BindParams(self.function, bound)(mod)
        # operators are fused where they can be: fewer and larger functions, as in a real deployment
        return relax.get_pipeline("zero")(mod) if self.fused else mod

    def build_host(self):
        return relax.build(self.lowered(), target=tvm.target.Target(TARGET), exec_mode=self.exec_mode)

    def build(self):
        """The compiled executable."""
        if not self.device:
            return self.build_host()
        target = tvm.target.Target(self.device, host=TARGET)
        config = {"relax.backend.use_cuda_graph": self.graphs}
        with target, tvm.transform.PassContext(config=config):
            mod = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(self.lowered())
            # only the pipeline for CUDA makes graphs, and it serves other devices as well
            pipeline = cuda.get_default_pipeline(target) if self.graphs else "default"
            return relax.build(mod, target=target, exec_mode=self.exec_mode, relax_pipeline=pipeline)


# ---- a multi-layer perceptron


class MLP(nn.Module):
    def __init__(self, sizes, dtype="float32"):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b, dtype=dtype) for a, b in zip(sizes, sizes[1:])])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i + 1 < len(self.layers):
                x = op.relu(x)
        return x


def mlp():
    rng = np.random.default_rng(1)
    return Model(MLP([16, 32, 32, 10]), {"x": nn.spec.Tensor((3, 16), "float32")},
                 [{"x": random(rng, (3, 16))}, {"x": random(rng, (3, 16))}], "a multi-layer perceptron")


def mlp_compiled():
    """The instructions themselves are compiled too, to one function that works on an array of registers."""
    rng = np.random.default_rng(1)
    return Model(MLP([8, 16, 4]), {"x": nn.spec.Tensor(("n", 8), "float32")},
                 [{"x": random(rng, (n, 8))} for n in (1, 4, 3)],
                 "a multi-layer perceptron of any batch, with its instructions compiled", exec_mode="compiled")


# ---- a residual network


class Basic(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.a = nn.Conv2D(inside, outside, 3, stride, 1, bias=True)
        self.b = nn.Conv2D(outside, outside, 3, 1, 1, bias=True)
        self.skip = nn.Conv2D(inside, outside, 1, stride, bias=False) if stride != 1 or inside != outside else None

    def forward(self, x):
        y = self.b(op.relu(self.a(x)))
        return op.relu(y + (self.skip(x) if self.skip else x))


class ResNet(nn.Module):
    """ResNet-18 with its normalisations folded into the convolutions, as an inference compiler does."""

    def __init__(self, width, blocks, classes, stem=7):
        super().__init__()
        self.stem = nn.Conv2D(3, width, stem, 2, stem // 2, bias=True)
        layers, inside = [], width
        for stage, count in enumerate(blocks):
            for i in range(count):
                layers.append(Basic(inside, width << stage, 2 if stage and not i else 1))
                inside = width << stage
        self.layers = nn.ModuleList(layers)
        self.head = nn.Linear(inside, classes)

    def forward(self, data):
        x = op.relu(self.stem(data))
        x = wrap(relax.op.nn.max_pool2d(x._expr, (3, 3), (2, 2), (1, 1)), "pool")
        for layer in self.layers:
            x = layer(x)
        x = wrap(relax.op.mean(x._expr, [2, 3]), "mean")
        return self.head(x)


def resnet(width, blocks, size, classes, stem=7):
    rng = np.random.default_rng(2)
    return Model(ResNet(width, blocks, classes, stem), {"data": nn.spec.Tensor((1, 3, size, size), "float32")},
                 [{"data": random(rng, (1, 3, size, size), scale=1.0)}], "a convolutional classifier built as ResNet-18 is")


def resnet_tiny():
    return resnet(2, (1, 1), 16, 5, stem=3)


def resnet18():
    return resnet(64, (2, 2, 2, 2), 224, 1000)


# ---- a transformer encoder block


class Encoder(nn.Module):
    """Attention of several heads, each with weights of its own, and two layers; what is added is normalised first."""

    def __init__(self, width, heads):
        super().__init__()
        inner, outer = (heads, width, width // heads), (heads, width // heads, width)
        self.q, self.k, self.v = (nn.Parameter(inner, "float32") for _ in range(3))
        self.o = nn.Parameter(outer, "float32")
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width, bias=False)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (op.matmul(y, w) for w in (self.q, self.k, self.v))
        y = op.matmul(op.softmax(op.matmul(q, op.permute_dims(k, [0, 2, 1])), axis=-1), v)
        x = x + op.sum(op.matmul(y, self.o), axis=0)
        return x + self.down(op.relu(self.up(x)))


def encoder():
    rng = np.random.default_rng(3)
    return Model(Encoder(8, 2), {"x": nn.spec.Tensor(("n", 8), "float32")},
                 [{"x": random(rng, (n, 8))} for n in (1, 5, 17, 5)],
                 "a transformer encoder block with a dynamic sequence length")


# ---- smaller things, written down as Relax


def tensor_type(*args):
    return relax.TensorStructInfo(*args) if hasattr(relax, "TensorStructInfo") else relax.TensorType(*args)


def tuple_type(items):
    return relax.TupleStructInfo(items) if hasattr(relax, "TupleStructInfo") else relax.TupleType(items)


def two_outputs():
    """main(pair: (x, y), z) gives (x * y + z, (x - y, z))."""
    rng = np.random.default_rng(4)
    bb = relax.BlockBuilder()
    t = tensor_type((4, 6), "float32")
    pair, z = relax.Var("pair", tuple_type([t, t])), relax.Var("z", t)
    with bb.function("main", [pair, z]):
        with bb.dataflow():
            x, y = bb.emit(relax.TupleGetItem(pair, 0)), bb.emit(relax.TupleGetItem(pair, 1))
            a = bb.emit(relax.op.add(relax.op.multiply(x, y), z))
            b = bb.emit(relax.op.subtract(x, y))
            out = bb.emit_output(relax.Tuple([a, b]))
        bb.emit_func_output(out)
    data = {"pair": (random(rng, (4, 6)), random(rng, (4, 6))), "z": random(rng, (4, 6))}
    return Model(bb.get(), None, [data], "two outputs, and a tuple among the inputs", function="main")


def int8():
    """main(x int8) is x @ w in int32, shifted back to int8."""
    rng = np.random.default_rng(5)
    w = random(rng, (16, 8), "int8")
    x = relax.Var("x", tensor_type((4, 16), "int8"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(relax.op.matmul(x, relax.const(w), out_dtype="int32"))
            y = bb.emit(relax.op.right_shift(y, relax.const(np.int32(8))))
            y = bb.emit(relax.op.clip(y, -128, 127))
            y = bb.emit_output(relax.op.astype(y, "int8"))
        bb.emit_func_output(y)
    return Model(bb.get(), None, [{"x": random(rng, (4, 16), "int8")}], "tensors of int8", function="main")


def float16():
    rng = np.random.default_rng(6)
    return Model(MLP([8, 16, 4], "float16"), {"x": nn.spec.Tensor((2, 8), "float16")},
                 [{"x": random(rng, (2, 8), "float16")}], "tensors of float16")


def branch():
    """main(flag, x) is x + x when flag holds, else x * x; each side makes what it needs."""
    rng = np.random.default_rng(7)
    x = relax.Var("x", tensor_type((5,), "float32"))
    flag = relax.Var("flag", tensor_type((), "bool"))
    bb = relax.BlockBuilder()
    with bb.function("main", [flag, x], pure=True):
        def side(make):
            y = relax.Var("y", tensor_type((5,), "float32"))
            return relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, make(x, x))])], y)
        out = bb.emit(relax.If(flag, side(relax.op.add), side(relax.op.multiply)))
        bb.emit_func_output(out)
    data = random(rng, (5,))
    return Model(bb.get(), None, [{"flag": np.array(v), "x": data} for v in (True, False)], "a branch", function="main")


def closure():
    """main(x, k) makes a function that holds k, and calls it twice; another calls itself n times."""
    rng = np.random.default_rng(8)
    t = tensor_type((4,), "float32")
    x, k = relax.Var("x", t), relax.Var("k", t)
    inner = relax.Var("v", t)
    bb = relax.BlockBuilder()
    with bb.function("main", [x, k]):
        y = relax.Var("y", t)
        body = relax.SeqExpr([relax.BindingBlock([relax.VarBinding(y, relax.op.add(inner, k))])], y)
        fn = bb.emit(relax.Function([inner], body, ret_struct_info=t) if hasattr(relax, "TensorStructInfo") else
                     relax.Function([inner], body, t))
        once = bb.emit(relax.Call(fn, [x]))
        bb.emit_func_output(bb.emit(relax.Call(fn, [once])))
    return Model(relax.transform.LambdaLift()(bb.get()), None,
                 [{"x": random(rng, (4,)), "k": random(rng, (4,))}], "a closure", function="main")


def recurrent():
    """main(x) is two steps of a recurrent state: each reads the state, adds x, stores and returns it."""
    from tvm.script import tirx as T

    sequences, history, width = 3, 4, 8

    @T.prim_func(s_tir=True)
    def read(storage: T.handle, slots: T.handle, versions: T.handle, out: T.handle):
        T.func_attr({"global_symbol": "read", "tirx.noalias": True})
        n = T.int32()
        s = T.match_buffer(storage, (sequences, history, width), "float32")
        slot = T.match_buffer(slots, (n,), "int32")
        version = T.match_buffer(versions, (n,), "int32")
        o = T.match_buffer(out, (n, width), "float32")
        for i, j in T.grid(n, width):
            with T.sblock("read"):
                vi, vj = T.axis.remap("SS", [i, j])
                o[vi, vj] = s[slot[vi], version[vi], vj]

    @T.prim_func(s_tir=True)
    def write(storage: T.handle, slots: T.handle, versions: T.handle, data: T.handle):
        T.func_attr({"global_symbol": "write", "tirx.noalias": True})
        n = T.int32()
        s = T.match_buffer(storage, (sequences, history, width), "float32")
        slot = T.match_buffer(slots, (n,), "int32")
        version = T.match_buffer(versions, (n,), "int32")
        d = T.match_buffer(data, (n, width), "float32")
        for i, j in T.grid(n, width):
            with T.sblock("write"):
                vi, vj = T.axis.remap("SS", [i, j])
                s[slot[vi], (version[vi] + 1) % history, vj] = d[vi, vj]

    rng = np.random.default_rng(10)
    bb = relax.BlockBuilder()
    getter, setter = bb.add_func(read, "read"), bb.add_func(write, "write")
    t, thing = tensor_type((1, width), "float32"), relax.AnyType() if hasattr(relax, "AnyType") else relax.ObjectType()

    def call(name, *args):
        return bb.emit(relax.Call(relax.ExternFunc(f"vm.builtin.{name}"), list(args), None, [thing]))

    def number(value):
        return relax.prim_value(value)

    x = relax.Var("x", t)
    with bb.function("main", [x], pure=False):
        start = relax.const(np.full((width,), 0.5, "float32"))
        state = call("rnn_state_create", number(1), number(sequences), number(history), relax.Tuple([getter]),
                     relax.Tuple([setter]), relax.Tuple([start]))
        # the second of two sequences, so that neither slots nor versions are zero
        call("kv_state_add_sequence", state, number(6))
        call("kv_state_add_sequence", state, number(7))
        outs = []
        for _ in range(2):
            call("kv_state_begin_forward", state, relax.ShapeExpr([7]), relax.ShapeExpr([1]))
            old = bb.emit(relax.op.call_dps_packed("vm.builtin.rnn_state_get", (state, number(0), number(0)), t))
            new = bb.emit(relax.op.add(old, x))
            call("rnn_state_set", state, number(0), number(0), new)
            call("kv_state_end_forward", state)
            outs.append(new)
        bb.emit_func_output(relax.Tuple(outs))
    model = Model(bb.get(), None, [{"x": random(rng, (1, width))}], "a recurrent state", function="main", fused=False)
    model.kind = "relax_language"
    return model


def chain():
    """A hundred additions: what a runtime costs beside the functions that it calls."""
    rng = np.random.default_rng(9)
    x = relax.Var("x", tensor_type((4,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = x
            for _ in range(100):
                y = bb.emit(relax.op.add(y, x))
            y = bb.emit_output(y)
        bb.emit_func_output(y)
    return Model(bb.get(), None, [{"x": random(rng, (4,))}], "a hundred additions, each a call", function="main",
                 fused=False)


def vdevice(target):
    """A device of a program; the class moved with 0.26."""
    return (getattr(tvm.ir, "VDevice", None) or relax.global_info.VDevice)(target)


def there_and_back(on):
    """(2x)(2x) - x, the product on another device where @on names the two."""
    there = [relax.op.to_vdevice, relax.op.to_vdevice] if on else [lambda x, _: x] * 2
    here, away = on or (None, None)
    x = relax.Var("x", tensor_type((4, 8), "float32", *([here] if on else [])))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = there[0](bb.emit(relax.op.add(x, x)), away)
            y = bb.emit(y) if on else y
            y = there[1](bb.emit(relax.op.multiply(y, y)), here)
            y = bb.emit(y) if on else y
            y = bb.emit_output(relax.op.subtract(y, x))
        bb.emit_func_output(y)
    mod = bb.get()
    if on:
        mod.update_global_info("vdevice", list(on))
    return mod


class TwoDevices(Model):
    """Device 0 is the host, device 1 an OpenCL one: tensors are copied between by vm.builtin.to_device."""

    def __init__(self):
        rng = np.random.default_rng(11)
        super().__init__(there_and_back(None), None, [{"x": random(rng, (4, 8), scale=1.0)} for _ in range(2)],
                         "a product on a second device", function="main")
        self.device, self.devices = OPENCL, ["cpu:0", "opencl:0"]

    def build(self):
        target = tvm.target.Target(self.device, host=TARGET)
        mod = there_and_back((vdevice(tvm.target.Target(TARGET)), vdevice(target)))
        mod = relax.transform.LegalizeOps()(relax.transform.RealizeVDevice()(mod))
        with target:
            mod = dlight.ApplyDefaultSchedule(dlight.gpu.Fallback())(mod)
            return relax.build(mod, target=target)


OPENCL = {"kind": "opencl"}
CUDA = {"kind": "cuda", "arch": "sm_75"}

SMALL = {
    "model_chain": chain,
    "model_mlp": mlp,
    "model_mlp_compiled": mlp_compiled,
    "model_resnet_tiny": resnet_tiny,
    "model_encoder": encoder,
    "model_two_outputs": two_outputs,
    "model_int8": int8,
    "model_float16": float16,
    "model_branch": branch,
    "model_closure": closure,
    "model_mlp_opencl": lambda: mlp().on(OPENCL),
    "model_mlp_cuda": lambda: mlp().on(CUDA),
    "model_mlp_compiled_opencl": lambda: mlp_compiled().on(OPENCL),
    "model_branch_opencl": lambda: branch().on(OPENCL),
    "model_graph_opencl": lambda: mlp().on(OPENCL).with_graphs(),
    "model_graph_cuda": lambda: mlp().on(CUDA).with_graphs(),
    "model_two_devices": TwoDevices,
}
if hasattr(tvm, "tirx"):  # its kernels are in the syntax of 0.26
    SMALL["model_recurrent"] = recurrent
LARGE = {"model_resnet18": resnet18}
