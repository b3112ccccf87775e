#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The logits of a compiled language model, by TVM's own runtime, and its replies, by tenon chat, beside NumPy's.

usage: language_logits.py TENON FOLDER EXPECTED.json NAME
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import tvm
from tvm import relax

TOLERANCE = 2e-4  # of the largest logit; rounding to 8 bits twice is the coarsest step


def weights(folder):
    """By name, as tensor-cache.json describes them."""
    found = {}
    for shard in json.loads((folder / "tensor-cache.json").read_text())["records"]:
        raw = (folder / shard["dataPath"]).read_bytes()
        assert len(raw) == shard["nbytes"]
        for record in shard["records"]:
            data = raw[record["byteOffset"] : record["byteOffset"] + record["nbytes"]]
            found[record["name"]] = np.frombuffer(data, record["dtype"]).reshape(record["shape"])
    return found


def logits(folder, steps):
    """The logits behind steps of tokens, one step after another in one sequence."""
    module = tvm.runtime.load_module(str(folder / "model.so"))
    machine = relax.VirtualMachine(module, tvm.cpu())
    described = json.loads(machine["_metadata"]())
    stored = weights(folder)
    parameters = [tvm.runtime.tensor(stored[p["name"]]) for p in described["params"]]
    call = tvm.get_global_func
    shape = tvm.runtime.ShapeTuple
    cache = machine["create_tir_paged_kv_cache"](shape([2]), shape([256]), shape([256]), shape([16]), shape([0]))
    call("vm.builtin.kv_state_add_sequence")(cache, 0)
    for tokens in steps:
        x = machine["embed"](tvm.runtime.tensor(np.array(tokens, np.int32)), parameters)
        call("vm.builtin.kv_state_begin_forward")(cache, shape([0]), shape([len(tokens)]))
        x = tvm.runtime.tensor(x.numpy().reshape(1, len(tokens), -1))
        result = machine["decode" if len(tokens) == 1 else "prefill"](x, cache, parameters)
        call("vm.builtin.kv_state_end_forward")(cache)
    return result[0].numpy().reshape(-1)


def main():
    tenon, folder, path, name = sys.argv[1:]
    expected = json.loads(Path(path).read_text())[name]
    prompt, wanted = expected["prompt"], np.array(expected["logits"])
    status = 0
    for what, steps in (
        ("one step", [prompt]),
        ("two steps", [prompt[:7], prompt[7:]]),
        ("a step for each token", [[token] for token in prompt]),
    ):
        off = np.abs(logits(Path(folder), steps) - wanted).max() / np.abs(wanted).max()
        print(f"{name}, {what}: logits within {off:.1e} of NumPy's")
        status |= not off < TOLERANCE
    words = [tenon, "chat", folder, "--tokens", ",".join(map(str, prompt)), "--temperature", "0", "--quiet"]
    words += ["--max-tokens", str(len(expected["reply"])), "--ignore-end"]
    said = subprocess.run(words, capture_output=True, text=True)
    reply = [int(token) for token in said.stdout.replace(",", " ").split()]
    print(f"{name}: tenon chat replies {reply}, NumPy {expected['reply']}", said.stderr)
    return status or reply != expected["reply"] or len(reply) < 4


if __name__ == "__main__":
    sys.exit(main())
