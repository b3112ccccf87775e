#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a small language model as mlc_llm compile does, with the apache-tvm of this Python environment, and records what
TVM's own runtime generates with it.

usage: generate.py FOLDER [--layers N] [--dim N] [--heads N] [--kv N]
                   [--context N] [--batch N] [--window N] [--tied] [--dtype T] [--device opencl|cuda|vulkan]

FOLDER gets model.so, tensor-cache.json with its shards, mlc-chat-config.json, and expected.json: prompts, the logits of
their last token, and the tokens that follow greedily. The vocabulary is the 256 bytes and four special tokens, so no
tokenizer is needed. The weights are random. With --device model.so is for that device, and expected.json is what the same
model gives on the host.
"""

import argparse
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import Tensor, op, spec
from tvm.relax.frontend.nn.llm.kv_cache import PagedKVCache, RopeMode, TIRPagedKVCache
from tvm.s_tir import dlight

LINK = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-Wl,--build-id=none", "-s"]
TARGET = tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v2", "mtriple": "x86_64-linux-gnu", "opt-level": 2})
DEVICES = {
    "opencl": {"kind": "opencl", "max_num_threads": 256, "thread_warp_size": 1},
    "cuda": {"kind": "cuda", "arch": "sm_80", "max_num_threads": 1024, "thread_warp_size": 32,
             "max_shared_memory_per_block": 49152},
    # for a TVM that was built with its code generator, which the one of PyPI was not
    "vulkan": {"kind": "vulkan", "max_num_threads": 256, "thread_warp_size": 1},
}
VOCABULARY = 260
END = 257


class Attention(nn.Module):
    def __init__(self, c):
        self.c, self.size = c, c.dim // c.heads
        self.qkv = c.linear(c.dim, (c.heads + 2 * c.kv) * self.size, bias=False)
        self.o = c.linear(c.heads * self.size, c.dim, bias=False)

    def forward(self, x: Tensor, cache: PagedKVCache, layer: int):
        b, n, _ = x.shape
        qkv = op.reshape(self.qkv(x), (b, n, self.c.heads + 2 * self.c.kv, self.size))
        y = cache.attention_with_fused_qkv(layer, qkv, self.c.heads, sm_scale=self.size**-0.5)
        return self.o(op.reshape(y, (b, n, self.c.heads * self.size)))


class Feed(nn.Module):
    def __init__(self, c):
        self.gate = c.linear(c.dim, 2 * c.dim, bias=False)
        self.up = c.linear(c.dim, 2 * c.dim, bias=False)
        self.down = c.linear(2 * c.dim, c.dim, bias=False)

    def forward(self, x: Tensor):
        return self.down(op.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, c):
        self.attention, self.feed = Attention(c), Feed(c)
        self.norm1, self.norm2 = nn.RMSNorm(c.dim, -1, 1e-5, bias=False), nn.RMSNorm(c.dim, -1, 1e-5, bias=False)

    def forward(self, x: Tensor, cache: PagedKVCache, layer: int):
        x = x + self.attention(self.norm1(x), cache, layer)
        return x + self.feed(self.norm2(x))


class Embedding(nn.Embedding):
    def logits(self, x: Tensor):
        return nn.op.matmul(x, nn.op.permute_dims(self.weight), out_dtype="float32")


class Decoder(nn.Module):
    def __init__(self, c):
        self.c = c
        self.embedding = Embedding(VOCABULARY, c.dim)
        self.layers = nn.ModuleList([Layer(c) for _ in range(c.layers)])
        self.norm = nn.RMSNorm(c.dim, -1, 1e-5, bias=False)
        if not c.tied:
            self.head = c.linear(c.dim, VOCABULARY, bias=False)

    def logits(self, x: Tensor):
        y = self.embedding.logits(x) if self.c.tied else self.head(x)
        return y.astype("float32") if y.dtype != "float32" else y

    def hidden(self, x: Tensor, cache: PagedKVCache):
        for i, layer in enumerate(self.layers):
            x = layer(x, cache, i)
        return self.norm(x)

    def embed(self, tokens: Tensor):
        return self.embedding(tokens)

    def prefill(self, x: Tensor, cache: PagedKVCache):
        def last(t):
            b, n, d = t.shape
            return tvm.te.compute((b, 1, d), lambda i, _, k: t[i, n - 1, k], name="last")

        y = op.tensor_expr_op(last, "last", args=[self.hidden(x, cache)])
        return self.logits(y), cache

    def decode(self, x: Tensor, cache: PagedKVCache):
        return self.logits(self.hidden(x, cache)), cache

    def batch_prefill(self, x: Tensor, rows: Tensor, cache: PagedKVCache):
        return self.logits(op.take(self.hidden(x, cache), rows, axis=1)), cache

    def batch_decode(self, x: Tensor, cache: PagedKVCache):
        return self.logits(self.hidden(x, cache)), cache

    def create_tir_paged_kv_cache(self, max_batch_size, max_total_seq_len, prefill_chunk_size, page_size,
                                  support_sliding_window) -> PagedKVCache:
        c = self.c
        return TIRPagedKVCache(
            attn_kind=c.kinds, max_batch_size=max_batch_size, max_total_seq_len=max_total_seq_len,
            prefill_chunk_size=prefill_chunk_size, page_size=page_size,
            support_sliding_window=support_sliding_window, layer_partition=relax.ShapeExpr([0, c.layers]),
            num_hidden_layers=c.layers, num_attention_heads=c.heads, num_key_value_heads=c.kv,
            qk_head_dim=c.dim // c.heads, v_head_dim=c.dim // c.heads, mla_original_qk_head_dim=0,
            mla_original_v_head_dim=0, rope_mode=c.rope_mode, rope_scale=1, rope_theta=10000,
            rope_scaling=c.rope_scaling, rope_ext_factors=relax.prim_value(0), rotary_dim=c.dim // c.heads,
            enable_disaggregation=False, dtype=c.dtype, target=c.target, layer_sliding_window_size=c.layer_window)

    def spec(self):
        d, t = self.c.dim, self.c.dtype
        cache = spec.Object(object_type=PagedKVCache)
        mode = {"param_mode": "packed", "effect_mode": "none"}
        return {
            "embed": {"tokens": spec.Tensor(["n"], "int32"), "$": mode},
            "prefill": {"x": spec.Tensor([1, "n", d], t), "cache": cache, "$": mode},
            "decode": {"x": spec.Tensor([1, 1, d], t), "cache": cache, "$": mode},
            "batch_prefill": {"x": spec.Tensor([1, "n", d], t), "rows": spec.Tensor(["b"], "int32"), "cache": cache,
                              "$": mode},
            "batch_decode": {"x": spec.Tensor(["b", 1, d], t), "cache": cache, "$": mode},
            "create_tir_paged_kv_cache": {"max_batch_size": int, "max_total_seq_len": int, "prefill_chunk_size": int,
                                          "page_size": int, "support_sliding_window": int,
                                          "$": {"param_mode": "none", "effect_mode": "none"}},
        }


def metadata(c, params):
    return {"model_type": "llama", "quantization": "q0f32" if c.dtype == "float32" else "q0f16",
            "context_window_size": -1 if c.window else c.context, "sliding_window_size": c.window or -1,
            "attention_sink_size": 4 if c.window else -1, "prefill_chunk_size": c.chunk, "tensor_parallel_shards": 1,
            "pipeline_parallel_stages": 1, "disaggregation": False, "kv_state_kind": "kv_cache",
            "max_batch_size": c.batch, "active_vocab_size": VOCABULARY, "model_task": "chat",
            "params": [{"name": n, "shape": list(map(int, p.shape)), "dtype": p.dtype, "preprocs": [],
                        "pipeline_stages": [0]} for n, p in params],
            "kv_cache": {"num_hidden_layers": c.layers, "num_attention_heads": c.heads, "num_key_value_heads": c.kv,
                         "head_dim": c.dim // c.heads},
            "memory_usage": {}}


def add_metadata(mod, text):
    bb = relax.BlockBuilder(mod)
    with bb.function("_metadata", params=[]):
        bb.emit_func_output(tvm.ir.StringImm(text))
    return bb.get()


def random_weights(params):
    rng = np.random.default_rng(7)
    made = {}
    for name, p in params:
        shape = [int(n) for n in p.shape]
        # large enough that the most probable token stands out from rounding
        scale = 1.0 if "norm" in name else 4 / math.sqrt(shape[-1])
        base = 1.0 if "norm" in name else 0.0
        made[name] = (base + scale * rng.standard_normal(shape) * (0.1 if "norm" in name else 1)).astype(p.dtype)
    return made


def write_weights(folder, weights):
    """Shards and tensor-cache.json, two shards so that a reader sees more than one."""
    shards, names = [], list(reversed(weights))
    for k, part in enumerate((names[: len(names) // 2], names[len(names) // 2:])):
        records, data = [], b""
        for name in part:
            array = weights[name]
            records.append({"name": name, "shape": list(array.shape), "dtype": str(array.dtype), "format": "raw",
                            "nbytes": array.nbytes, "byteOffset": len(data)})
            data += array.tobytes()
        file = f"params_shard_{k}.bin"
        (folder / file).write_bytes(data)
        shards.append({"dataPath": file, "format": "raw-shard", "nbytes": len(data), "records": records})
    text = json.dumps({"metadata": {"ParamSize": len(names)}, "records": shards}, indent=1)
    (folder / "tensor-cache.json").write_text(text + "\n")


def write_config(folder):
    config = {"model_type": "llama", "temperature": 0.7, "top_p": 0.95, "eos_token_id": [END], "vocab_size": VOCABULARY,
              "conv_template": {"name": "bytes", "system_template": "{system_message}|", "system_message": "Be brief.",
                                "system_prefix_token_ids": [256], "add_role_after_system_message": True,
                                "roles": {"user": "U", "assistant": "A"}, "role_templates": {
                                    "user": "{user_message}", "assistant": "{assistant_message}"},
                                "seps": ["\n"], "role_content_sep": ":", "role_empty_sep": ":", "stop_str": [],
                                "stop_token_ids": [END]}}
    (folder / "mlc-chat-config.json").write_text(json.dumps(config, indent=1) + "\n")


class Reference:
    """The model on TVM's own runtime, one sequence at a time."""

    def __init__(self, library, c, weights, params):
        self.c = c
        self.vm = relax.VirtualMachine(library, tvm.cpu())
        self.weights = [tvm.runtime.tensor(weights[n]) for n, _ in params]
        f = tvm.get_global_func
        self.add, self.begin = f("vm.builtin.kv_state_add_sequence"), f("vm.builtin.kv_state_begin_forward")
        self.end, self.clear = f("vm.builtin.kv_state_end_forward"), f("vm.builtin.kv_state_clear")
        self.window = f("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq")
        shape = tvm.runtime.ShapeTuple
        tokens = c.window + c.chunk if c.window else c.context
        self.cache = self.vm["create_tir_paged_kv_cache"](shape([c.batch]), shape([tokens]), shape([c.chunk]),
                                                          shape([16]), shape([int(bool(c.window))]))

    def forward(self, tokens):
        shape = tvm.runtime.ShapeTuple
        x = self.vm["embed"](tvm.runtime.tensor(np.array(tokens, "int32")), self.weights)
        self.begin(self.cache, shape([0]), shape([len(tokens)]))
        x = tvm.runtime.tensor(x.numpy().reshape(1, len(tokens), -1))
        out = self.vm["decode" if len(tokens) == 1 else "prefill"](x, self.cache, self.weights)[0].numpy()
        self.end(self.cache)
        return out.reshape(-1)

    def generate(self, prompt, most):
        self.clear(self.cache)
        self.add(self.cache, 0)
        if self.c.window:
            self.window(self.cache, 0, self.c.window, 4)
        for i in range(0, len(prompt), self.c.chunk):
            logits = self.forward(prompt[i: i + self.c.chunk])
        first, reply, margin = logits, [], float("inf")
        for _ in range(most):
            two = np.sort(logits)[-2:]
            margin = min(margin, float(two[1] - two[0]))
            reply.append(int(np.argmax(logits)))
            logits = self.forward(reply[-1:])
        return first, reply, margin


def build(c, target):
    """The compiled model for a target, and its parameters."""
    c.target = target
    model = Decoder(c)
    model.to(c.dtype)
    mod, params = model.export_tvm(spec=model.spec())
    mod = add_metadata(mod, json.dumps(metadata(c, params)))
    with target:
        mod = relax.get_pipeline("zero")(mod)
        if c.device and target is not TARGET:
            mod = dlight.ApplyDefaultSchedule(
                dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(), dlight.gpu.GeneralReduction(),
                dlight.gpu.Fallback())(mod)
        return relax.build(mod, target=target), params


def prompts(c):
    rng = np.random.default_rng(3)
    texts = ["Hello", "The same beginning, and then one.", "The same beginning, and then another one."]
    lists = [list(t.encode()) for t in texts]
    # around a page, and more than one prefill step takes
    return lists + [rng.integers(1, 256, n).tolist() for n in (1, 15, 16, 17, c.chunk + 9)]


# what a model is made of; options of the command for those that chat with it, and more for histories.py
SIZES = {"layers": 2, "dim": 16, "heads": 4, "kv": 2, "context": 256, "batch": 4, "chunk": 48, "window": 0}
KINDS = {"linear": nn.Linear, "kinds": "mha", "layer_window": 1024, "rope_mode": RopeMode.NORMAL, "rope_scaling": {}}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=Path)
    for name, value in SIZES.items():
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("--tied", action="store_true")
    p.add_argument("--dtype", default="float32")
    p.add_argument("--device", choices=DEVICES)
    c = p.parse_args(namespace=argparse.Namespace(**KINDS))
    if c.device and not tvm.get_global_func(f"target.build.{c.device}", allow_missing=True):
        p.error(f"this TVM ({tvm.__version__}) has no code generator for {c.device}")
    c.folder.mkdir(parents=True, exist_ok=True)
    built, params = build(c, TARGET)
    with tempfile.TemporaryDirectory() as scratch:
        host = c.folder / "model.so" if not c.device else Path(scratch) / "host.so"
        built.export_library(str(host), options=LINK)
        library = tvm.runtime.load_module(str(host))
    if c.device:
        build(c, tvm.target.Target(DEVICES[c.device], host=TARGET))[0].export_library(
            str(c.folder / "model.so"), options=LINK)
    weights = random_weights(params)
    write_weights(c.folder, weights)
    write_config(c.folder)
    reference = Reference(library, c, weights, params)
    cases = []
    for prompt in prompts(c):
        first, reply, margin = reference.generate(prompt, 24)
        cases.append({"prompt": prompt, "logits": [float(f"{v:.7g}") for v in first], "reply": reply,
                      "margin": margin})
    (c.folder / "expected.json").write_text(json.dumps({"tvm": tvm.__version__, "cases": cases}) + "\n")
    print(c.folder, "margins", " ".join(f"{x['margin']:.3g}" for x in cases))


if __name__ == "__main__":
    main()
