#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random histories of a key-value cache: TVM from PyPI plays each on models made here, and so do we, call by call.

usage: histories.py CALLS FOLDER [--seed N] [--steps N] [--device opencl] [MODEL...]

CALLS is the program that plays a calls.json (calls.c). FOLDER gets a folder for each model. Without MODEL all of them.
Prints TAP. With --device some models are made for that device too, and play what TVM's runtime recorded on the host.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tvm
from tvm import relax, te
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm.kv_cache import RopeMode

from generate import DEVICES, KINDS, LINK, SIZES, TARGET, build, random_weights, write_weights
import recurrent

GROUP = 8


class GroupQuantized(nn.Module):
    """A dense layer whose weights are eight four-bit numbers a word, with a scale for each group."""

    def __init__(self, inputs, outputs, bias=False):
        self.inputs, self.outputs = inputs, outputs
        self.weight = nn.Parameter((outputs, inputs // 8), "uint32")
        self.scale = nn.Parameter((outputs, inputs // GROUP), "float32")

    def to(self, dtype=None):
        """The packed words stay what they are."""

    def forward(self, x: Tensor):
        def value(packed, scale):
            def at(i, j):
                four = (packed[i, j // 8] >> tvm.tirx.Cast("uint32", j % 8 * 4)) & tvm.tirx.const(15, "uint32")
                return (four.astype("float32") - 7) * scale[i, j // GROUP]

            return te.compute((self.outputs, self.inputs), at, name="dequantized")

        w = op.tensor_expr_op(value, "dequantize", args=[self.weight, self.scale])
        return op.matmul(x, op.permute_dims(w))


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 32, "beta_slow": 1}
MODELS = {
    "grouped": {},
    "one_head": {"heads": 4, "kv": 1, "layers": 3},
    "all_heads": {"heads": 2, "kv": 2},
    "tied_half": {"tied": True, "dtype": "float16"},
    "quantized": {"tied": True, "linear": GroupQuantized, "dim": 32},
    "window": {"window": 20},
    "layer_window": {"kinds": ["mha", "mha_sliding"], "layer_window": 8},
    "rope_none": {"rope_mode": RopeMode.NONE},
    "rope_inline": {"rope_mode": RopeMode.INLINE},
    "rope_llama3": {"rope_scaling": LLAMA3},
    "rope_gptj": {"rope_scaling": {"rope_type": "gptj"}},
    "rope_yarn": {"rope_scaling": YARN},
}
# the histories that devices play too: without half precision
ON_DEVICES = ["grouped", "quantized", "window"]


def model_of(name):
    c = argparse.Namespace(**SIZES, **KINDS, tied=False, dtype="float32", device=None)
    vars(c).update(MODELS[name])
    return c


class Record:
    """TVM's runtime, and what is written down of it."""

    def __init__(self, folder, library):
        self.folder, self.vm = folder, relax.VirtualMachine(library, tvm.cpu())
        self.kept, self.lines, self.arrays = {}, [], 0

    def value(self, a):
        """An argument as TVM takes it: a kept value, an array, a shape, a number."""
        if isinstance(a, str):
            return self.kept[a]
        if isinstance(a, np.ndarray):
            return tvm.runtime.tensor(a)
        return tvm.runtime.ShapeTuple(a) if isinstance(a, list) else a

    @staticmethod
    def text(a):
        """The same for calls.json."""
        if isinstance(a, str):
            return "$" + a
        if isinstance(a, np.ndarray):
            shape = "x".join(map(str, a.shape))
            return {"tensor": f"{shape}x{a.dtype}=" + ",".join(f"{v:.9g}" for v in a.reshape(-1).tolist())}
        return {"shape": a} if isinstance(a, list) else a

    def call(self, name, *args, to=None, check=False):
        f = tvm.get_global_func(name) if "." in name else self.vm[name]
        line = {"call": name, "args": [self.text(a) for a in args]}
        result = f(*map(self.value, args))
        if to:
            line["to"], self.kept[to] = to, result
        if check:
            line["result"] = result if isinstance(result, bool) else int(result)
        self.lines.append(line)
        return result

    def view(self, name, shape):
        self.kept[name] = tvm.runtime.tensor(self.kept[name].numpy().reshape(shape))
        self.lines.append({"view": "$" + name, "shape": shape, "to": name})

    def expect(self, name, item=None):
        file = f"y{self.arrays}.npy"
        self.arrays += 1
        array = self.kept[name] if item is None else self.kept[name][item]
        np.save(self.folder / file, array.numpy())
        self.lines.append({"expect": "@" + file, "of": "$" + name, **({} if item is None else {"item": item})})

    def load_weights(self, weights, params):
        """Parameters by name; TVM is given the arrays."""
        write_weights(self.folder, weights)
        self.kept["params"] = [tvm.runtime.tensor(weights[n]) for n, _ in params]
        names = {"strings": [n for n, _ in params]}
        self.lines += [{"call": "vm.builtin.tensor_cache.load", "args": [{"string": "FOLDER"}, "DEVICE", 0]},
                       {"call": "vm.builtin.param_array_from_cache_by_name", "args": [names], "to": "params"}]

    def write(self, device_type):
        lines = json.dumps(self.lines).replace('"DEVICE"', str(device_type))
        (self.folder / "calls.json").write_text(lines.replace('}, {"', '},\n{"') + "\n")


class History:
    """What a server may do to a cache, at random."""

    def __init__(self, record, c, seed):
        self.r, self.c, self.rng = record, c, np.random.default_rng(seed)
        self.lengths, self.next = {}, 0
        # TVM's kernels for the host are wrong where the first key of a row is hidden by the window of a layer
        self.chunks = isinstance(c.kinds, str)
        tokens = 6 * (c.window + c.chunk) if c.window else c.context
        record.call("create_tir_paged_kv_cache", [c.batch * 4], [tokens], [c.chunk], [16], [int(bool(c.window))],
                    to="cache")
        self.pages = self.ask("attention_kv_cache_get_num_available_pages")

    def state(self, name, *args):
        return self.r.call("vm.builtin." + name, "cache", *args)

    def ask(self, name):
        return self.r.call("vm.builtin." + name, "cache", check=True)

    def forward(self, ids, counts, tree=None):
        tokens = self.rng.integers(0, 256, sum(counts)).astype("int32")
        self.r.call("embed", tokens, "params", to="x")
        self.state("kv_state_begin_forward", ids, counts, *([tree] if tree else []))
        if max(counts) == 1:
            self.r.view("x", [len(ids), 1, self.c.dim])
            self.r.call("batch_decode", "x", "cache", "params", to="y")
        else:
            self.r.view("x", [1, len(tokens), self.c.dim])
            self.r.call("batch_prefill", "x", np.arange(len(tokens), dtype="int32"), "cache", "params", to="y")
        self.state("kv_state_end_forward")
        self.r.expect("y", 0)
        for i, n in zip(ids, counts):
            self.lengths[i] += n

    def some(self, most):
        ids = list(self.lengths)
        return [ids[i] for i in self.rng.permutation(len(ids))[: self.rng.integers(1, most + 1)]]

    def fits(self, ids):
        """Room for a forward of these in the worst case: a page that others share is copied."""
        return self.ask("attention_kv_cache_get_num_available_pages") >= 2 * len(ids) + 4

    def add(self):
        if len(self.lengths) >= self.c.batch * 4 or not self.fits([0]):
            return
        # ids of clients may be any
        i = self.next if self.next % 3 else (1 << 40) + self.next
        self.next += 1
        self.state("kv_state_add_sequence", i)
        if self.c.window:
            self.state("attention_kv_cache_enable_sliding_window_for_seq", i, self.c.window, 4)
        self.lengths[i] = 0
        self.forward([i], [int(self.rng.choice([1, 2, 15, 16, 17, 31]))])

    def prefill(self):
        ids = self.some(3)
        if self.chunks and self.fits(ids):
            self.forward(ids, [int(self.rng.choice([1, 2, 5, 15, 16])) for _ in ids])

    def decode(self):
        ids = self.some(self.c.batch)
        if self.fits(ids):
            for _ in range(int(self.rng.integers(1, 4))):
                self.forward(ids, [1] * len(ids))

    def fork(self):
        if self.c.window or len(self.lengths) >= self.c.batch * 4 or not self.fits([0, 0]):
            return
        parent, = self.some(1)
        at = int(self.rng.choice([-1, self.rng.integers(0, self.lengths[parent] + 1),
                                  self.lengths[parent] // 16 * 16]))
        self.state("kv_state_fork_sequence", parent, self.next, at)
        self.lengths[self.next] = self.lengths[parent] if at < 0 else at
        self.next += 1

    def pop(self):
        i, = self.some(1)
        if self.c.window or not self.fits([0, 0]):
            return
        n = int(self.rng.integers(0, min(self.lengths[i], 33) + 1))
        self.state("kv_state_popn", i, n)
        self.lengths[i] -= n

    def verify(self):
        """Drafted tokens: a chain for each sequence, of which the first ones are accepted."""
        ids = self.some(2)
        if self.c.window or not self.chunks or self.c.rope_mode == RopeMode.INLINE or not self.fits(ids):
            return
        counts = [int(self.rng.integers(2, 6)) for _ in ids]
        self.forward(ids, counts, [k - 1 for n in counts for k in range(n)])
        leaves = [int(self.rng.integers(-1, n)) for n in counts]
        self.state("attention_kv_cache_commit_accepted_token_tree_nodes", ids, leaves)
        for i, n, leaf in zip(ids, counts, leaves):
            self.lengths[i] -= n - leaf - 1

    def remove(self):
        i, = self.some(1)
        self.state("kv_state_remove_sequence", i)
        del self.lengths[i]

    def clear(self):
        self.state("kv_state_clear")
        self.lengths.clear()
        assert self.ask("attention_kv_cache_get_num_available_pages") == self.pages

    def play(self, steps):
        for _ in range(steps):
            if not self.lengths or not self.fits([0]):
                (self.remove if self.lengths else self.add)()
            else:
                self.rng.choice([self.add, self.prefill, self.decode, self.fork, self.pop, self.verify, self.remove,
                                 self.clear], p=[.15, .15, .3, .15, .1, .1, .04, .01])()
            self.ask("attention_kv_cache_get_total_sequence_length")
        for i in list(self.lengths):
            self.state("kv_state_remove_sequence", i)
        self.ask("attention_kv_cache_get_num_available_pages")


def weights_of(params):
    """Random weights; words of packed ones are any bits, and their scales are small."""
    rng = np.random.default_rng(7)
    made = random_weights([(n, p) for n, p in params if p.dtype != "uint32"])
    for name, p in params:
        shape = [int(n) for n in p.shape]
        if p.dtype == "uint32":
            made[name] = rng.integers(0, 1 << 32, shape, dtype="uint64").astype("uint32")
        elif name.endswith(".scale"):
            made[name] = rng.uniform(0.02, 0.1, shape).astype(p.dtype)
    return made


def make(name, folder, device, seed, steps):
    """One model, its history, and the number of its forwards."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "recurrent":
        return recurrent.make(Record, folder, seed, steps)
    c = model_of(name)
    if device: # whose kernels need heads of sixteen numbers
        c.dim = 64
    built, params = build(c, TARGET)
    with tempfile.TemporaryDirectory() as scratch:
        host = Path(scratch) / "host.so"
        built.export_library(str(host), options=LINK)
        record = Record(folder, tvm.runtime.load_module(str(host)))
        if device:
            c.device = device
            built = build(c, tvm.target.Target(DEVICES[device], host=TARGET))[0]
            c.device = None
    built.export_library(str(folder / "model.so"), options=LINK)
    weights = weights_of(params)
    if device:
        # heads of sixteen numbers give scores of 80, whose rounding alone moves logits by 1.5e-4, on the host too
        for weight in (weights[n] for n, p in params if ".qkv." in n and p.dtype == "float32"):
            weight *= 0.5
    record.load_weights(weights, params)
    History(record, c, seed).play(steps)
    record.write({None: 1, "opencl": 4, "cuda": 2, "vulkan": 7}[device])
    return record.arrays


def main():
    p = argparse.ArgumentParser()
    p.add_argument("calls")
    p.add_argument("folder", type=Path)
    p.add_argument("models", nargs="*", metavar="MODEL")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--device", choices=DEVICES)
    o = p.parse_args()
    models = o.models or [*MODELS, "recurrent"]
    cases = [(m, None) for m in models] + [(m, o.device) for m in models if o.device and m in ON_DEVICES]
    failed = 0
    print(f"TAP version 14\n1..{len(cases)}\n# seed {o.seed}")
    for at, (name, device) in enumerate(cases, 1):
        folder = o.folder / (device or "host") / name
        forwards = make(name, folder, device, o.seed, o.steps)
        done = subprocess.run([o.calls, str(folder), *(["--device", f"{device}:0"] if device else [])],
                              capture_output=True, text=True, timeout=1800)
        good = done.returncode == 0
        failed += not good
        for line in (done.stdout + done.stderr).splitlines()[-1 if good else -40:]:
            print("#", line)
        print(f"{'ok' if good else 'not ok'} {at} - {name} on {device or 'the host'}: {forwards} steps give TVM's logits",
              flush=True)
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
