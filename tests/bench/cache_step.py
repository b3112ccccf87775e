# SPDX-License-Identifier: MIT
"""cache_step.py LLM_BENCH: what a decode step of the paged key-value cache costs for each layer, beside TVM's runtime.

The kernels are empty, so what remains is the work of the cache and of the virtual machine. A step with many layers is
compared with one of few: what is the same in both, Python's calls too, falls out. To run it, with TVM's environment of
scripts/interop-generate --venv-only 0.27: build/interop-venvs/0.27/bin/python tests/bench/cache_step.py build/tests/bench/llm_bench
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.relax.frontend.nn import Tensor, op
from tvm.relax.frontend.nn.llm.kv_cache import PagedKVCache

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "llm"))
import generate  # noqa: E402

FEW, MANY, ROUNDS = 2, 66, 7


class Attentions(generate.Decoder):
    """Nothing but attention: each layer asks with the same queries, keys and values."""

    def __init__(self, c):
        super().__init__(argparse.Namespace(**{**vars(c), "layers": 0}))
        self.c = c
        self.qkv = c.linear(c.dim, 3 * c.dim, bias=False)

    def hidden(self, x: Tensor, cache: PagedKVCache):
        b, n, d = x.shape
        size = self.c.dim // self.c.heads
        qkv = op.reshape(self.qkv(x), (b, n, 3 * self.c.heads, size))
        layers = [cache.attention_with_fused_qkv(layer, qkv, self.c.heads, sm_scale=size**-0.5)
                  for layer in range(self.c.layers)]
        # or those that nobody reads would be left out; one kernel adds all of them
        return op.reshape(sum(layers[1:], layers[0]), (b, n, d))


def build(c):
    model = Attentions(c)
    model.to(c.dtype)
    mod, params = model.export_tvm(spec=model.spec())
    mod = generate.add_metadata(mod, generate.json.dumps(generate.metadata(c, params)))
    with c.target:
        mod = relax.get_pipeline("zero")(mod)
        for name, f in mod.functions_items():
            if isinstance(f, tirx.PrimFunc):
                mod[name] = f.with_body(tirx.Evaluate(0))
        return relax.build(mod, target=c.target), params


def make(folder, layers):
    """The folder of a model, and the model on TVM's runtime."""
    sizes = {**generate.SIZES, "kv": 4, "layers": layers}
    c = argparse.Namespace(**sizes, **generate.KINDS, tied=False, dtype="float32", device=None, target=generate.TARGET)
    built, params = build(c)
    folder.mkdir()
    built.export_library(str(folder / "model.so"), options=generate.LINK)
    weights = generate.random_weights(params)
    generate.write_weights(folder, weights)
    generate.write_config(folder)
    return generate.Reference(tvm.runtime.load_module(str(folder / "model.so")), c, weights, params)


def peer_step(reference):
    """Nanoseconds of a step of one token on TVM's runtime."""
    reference.clear(reference.cache)
    reference.add(reference.cache, 0)
    shape, one = tvm.runtime.ShapeTuple, tvm.runtime.tensor(np.zeros((1, 1, reference.c.dim), "float32"))
    times = []
    for _ in range(200):
        start = time.perf_counter_ns()
        reference.begin(reference.cache, shape([0]), shape([1]))
        reference.vm["decode"](one, reference.cache, reference.weights)
        reference.end(reference.cache)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


def own_step(bench, folder):
    out = subprocess.run([bench, str(folder)], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"one token +([0-9.]+) us", out)[1]) * 1000


def main():
    bench = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        folders = {n: Path(scratch) / str(n) for n in (FEW, MANY)}
        peers = {n: make(folders[n], n) for n in folders}
        steps = {"TVM": {n: min(peer_step(peers[n]) for _ in range(ROUNDS)) for n in peers},
                 "Tenon": {n: min(own_step(bench, folders[n]) for _ in range(ROUNDS)) for n in folders}}
    layer = {who: (t[MANY] - t[FEW]) / (MANY - FEW) for who, t in steps.items()}
    for who, t in steps.items():
        print(f"{who:6} {layer[who]:8.0f} ns a layer; a step of {FEW} layers {t[FEW] / 1000:.1f} us, "
              f"of {MANY} {t[MANY] / 1000:.1f} us")
    print(f"ratio  {layer['Tenon'] / layer['TVM']:8.2f} (goal 0.3)")


if __name__ == "__main__":
    main()
