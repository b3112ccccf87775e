# SPDX-License-Identifier: MIT
"""A recurrent model on rnn_state_*, and random histories of it (histories.py)."""

import numpy as np
import tvm
from tvm import relax
from tvm.script import tirx as T

from generate import LINK, TARGET

LAYERS, SIZE, SLOTS, ROWS = 2, 8, 5, 4


def state_functions():
    """The getter and the setter of the state: rows of sequences to or from the storage."""

    @T.prim_func(s_tir=True)
    def get(storage: T.handle, slots: T.handle, rows: T.handle, out: T.handle):
        b, s, h = T.int64(), T.int64(), T.int64()
        offset, offset2 = T.int64(), T.int64()
        a = T.match_buffer(storage, (s, h, SIZE), "float32")
        q = T.match_buffer(slots, (b,), "int32", elem_offset=offset)
        r = T.match_buffer(rows, (b,), "int32", elem_offset=offset2)
        o = T.match_buffer(out, (b, SIZE), "float32")
        for i, j in T.grid(b, SIZE):
            with T.sblock("get"):
                vi, vj = T.axis.remap("SS", [i, j])
                o[vi, vj] = a[q[vi], r[vi], vj]

    @T.prim_func(s_tir=True)
    def put(storage: T.handle, slots: T.handle, rows: T.handle, data: T.handle):
        b, s, h = T.int64(), T.int64(), T.int64()
        offset, offset2 = T.int64(), T.int64()
        a = T.match_buffer(storage, (s, h, SIZE), "float32")
        q = T.match_buffer(slots, (b,), "int32", elem_offset=offset)
        r = T.match_buffer(rows, (b,), "int32", elem_offset=offset2)
        o = T.match_buffer(data, (b, SIZE), "float32")
        for i, j in T.grid(b, SIZE):
            with T.sblock("put"):
                vi, vj = T.axis.remap("SS", [i, j])
                a[q[vi], (r[vi] + 1) % T.Cast("int32", h), vj] = o[vi, vj]

    return get.with_attr("global_symbol", "get"), put.with_attr("global_symbol", "put")


@T.prim_func(s_tir=True)
def recur(first: T.handle, inputs: T.handle, weights: T.handle, outputs: T.handle, last: T.handle):
    b, n = T.int64(), T.int64()
    f = T.match_buffer(first, (b, SIZE), "float32")
    x = T.match_buffer(inputs, (b, n, SIZE), "float32")
    w = T.match_buffer(weights, (SIZE, SIZE), "float32")
    y = T.match_buffer(outputs, (b, n, SIZE), "float32")
    h = T.match_buffer(last, (b, SIZE), "float32")
    with T.sblock("root"):
        for i, k in T.grid(b, SIZE):
            h[i, k] = f[i, k]
        for i, t, k in T.grid(b, n, SIZE):
            y[i, t, k] = x[i, t, k]
            for m in range(SIZE):
                y[i, t, k] = y[i, t, k] + w[k, m] * h[i, m]
            y[i, t, k] = T.tanh(y[i, t, k])
            if k == SIZE - 1:
                for m in range(SIZE):
                    h[i, m] = y[i, t, m]


def build():
    bb = relax.BlockBuilder()
    getter, setter = (bb.add_func(f, f.attrs["global_symbol"]) for f in state_functions())
    recur_at = bb.add_func(recur, "recur")
    with bb.function("create", params=[]):
        state = bb.emit(relax.call_pure_packed(
            "vm.builtin.rnn_state_create", relax.prim_value(LAYERS), relax.prim_value(SLOTS), relax.prim_value(ROWS),
            relax.Tuple([getter]), relax.Tuple([setter]),
            relax.Tuple([relax.const(np.linspace(-1, 1, SIZE, dtype="float32"))]), ty_args=relax.AnyType()))
        bb.emit_func_output(state)
    b, n = tvm.tirx.Var("b", "int64"), tvm.tirx.Var("n", "int64")
    x = relax.Var("x", relax.TensorType((b, n, SIZE), "float32"))
    w = relax.Var("w", relax.TensorType((SIZE, SIZE), "float32"))
    state = relax.Var("state", relax.AnyType())
    with bb.function("step", params=[x, state, w]):
        y, s = x, state
        for layer in range(LAYERS):
            first = bb.emit(relax.call_dps_packed(
                "vm.builtin.rnn_state_get", [s, relax.prim_value(layer), relax.prim_value(0)],
                out_ty=relax.TensorType((b, SIZE), "float32")))
            both = bb.emit(relax.call_tir(recur_at, [first, y, w], out_ty=[
                relax.TensorType((b, n, SIZE), "float32"), relax.TensorType((b, SIZE), "float32")]))
            y, last = bb.emit(relax.TupleGetItem(both, 0)), bb.emit(relax.TupleGetItem(both, 1))
            s = bb.emit(relax.call_pure_packed(
                "vm.builtin.rnn_state_set", s, relax.prim_value(layer), relax.prim_value(0), last,
                ty_args=relax.AnyType()))
        bb.emit_func_output(relax.Tuple([y, s]))
    with TARGET:
        return relax.build(relax.get_pipeline("zero")(bb.get()), target=TARGET)


class History:
    """What a server may do to the states, at random."""

    def __init__(self, record, seed):
        self.r, self.rng, self.next = record, np.random.default_rng(seed), 0
        self.available = {}
        record.call("create", to="state")

    def state(self, name, *args):
        return self.r.call("vm.builtin.kv_state_" + name, "state", *args)

    def some(self):
        ids = list(self.available)
        return [ids[i] for i in self.rng.permutation(len(ids))[: self.rng.integers(1, len(ids) + 1)]]

    def step(self):
        ids, n = self.some(), int(self.rng.choice([1, 1, 1, 3]))
        self.state("begin_forward", ids, [n] * len(ids))
        x = self.rng.uniform(-1, 1, (len(ids), n, SIZE)).astype("float32")
        w = np.random.default_rng(5).uniform(-1, 1, (SIZE, SIZE)).astype("float32")
        self.r.call("step", x, "state", w, to="y")
        self.state("end_forward")
        self.r.expect("y", 0)
        for i in ids:
            self.available[i] = 0 if n > 1 else min(self.available[i] + 1, ROWS - 1)

    def add(self):
        if len(self.available) < SLOTS:
            self.state("add_sequence", self.next)
            self.available[self.next] = 0
            self.next += 1

    def fork(self):
        if len(self.available) < SLOTS:
            parent = self.some()[0]
            self.state("fork_sequence", parent, self.next, -1)
            self.available[self.next] = self.available[parent]
            self.next += 1

    def pop(self):
        i = self.some()[0]
        n = int(self.rng.integers(0, self.available[i] + 1))
        self.state("popn", i, n)
        self.available[i] -= n

    def remove(self):
        i = self.some()[0]
        self.state("remove_sequence", i)
        del self.available[i]

    def play(self, steps):
        for _ in range(steps):
            if not self.available:
                self.add()
            self.rng.choice([self.step, self.add, self.fork, self.pop, self.remove], p=[.5, .15, .15, .15, .05])()


def make(record_of, folder, seed, steps):
    """The model and its history in a folder; returns the number of its steps."""
    built = build()
    built.export_library(str(folder / "model.so"), options=LINK)
    record = record_of(folder, tvm.runtime.load_module(str(folder / "model.so")))
    History(record, seed).play(steps)
    record.write(1)
    return record.arrays
