#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds whole models with the Apache TVM that this Python environment has, and runs them with TVM's own runtime.

Run through scripts/interop-generate, which makes one environment a pinned version. The small models are kept in the
tree; --large DIR builds those that are too large for it (a classifier of ResNet-18's size) into a folder of the build,
where the suite finds them.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

LIMIT = 64 * 1024
LINK = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-Wl,--build-id=none"]


def to_tvm(value):
    from tvm.runtime import tensor

    return tuple(to_tvm(v) for v in value) if isinstance(value, tuple) else tensor(value)


def leaves(value):
    """What a tuple of TVM's, or a tensor, holds, in order."""
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [leaf for item in value for leaf in leaves(item)]


def named(name, value):
    if not isinstance(value, tuple):
        return [(name, value)]
    return [pair for i, item in enumerate(value) for pair in named(f"{name}.{i}", item)]


def keep(folder, stem, array):
    np.save(folder / f"{stem}.npy", np.ascontiguousarray(array).reshape(np.shape(array)), allow_pickle=False)
    return f"@{stem}.npy"


def build(folder, name, model, versions, limit):
    import tvm
    from tvm import relax

    from gen.tvm_host import tree_of

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    built, library = model.build(), folder / "model.so"
    built.export_library(str(library), options=LINK)
    subprocess.run(["strip", "-s", str(library)], check=True)
    library.chmod(0o644)
    if limit and library.stat().st_size > LIMIT:
        raise RuntimeError(f"{name} has {library.stat().st_size} bytes, the limit is {LIMIT}")
    # the peer's wheels cannot run what is for a device: then the same model for the host gives the outputs
    mine = model.build_host().jit() if model.device else tvm.runtime.load_module(str(library))
    machine = relax.VirtualMachine(mine, tvm.cpu())
    calls, seconds = [], []
    for i, inputs in enumerate(model.runs):
        start = time.perf_counter()
        result = machine[model.function](*[to_tvm(v) for v in inputs.values()])
        seconds.append(time.perf_counter() - start)
        args = [{"input": f"{k}={keep(folder, f'r{i}_{k}', v)}"}
                for key, value in inputs.items() for k, v in named(key, value)]
        expect = [keep(folder, f"r{i}_out{k}", v) for k, v in enumerate(leaves(result))]
        call = {"class": "model", "kind": model.kind, "file": "model.so", "function": model.function,
                "args": args, "expect": expect, "rtol": 0, "atol": 0}
        if model.device:
            call.update({"class": "model-device", "device": f"{model.device['kind']}:0", "rtol": 1e-4, "atol": 1e-5})
        if model.devices:
            call["devices"] = model.devices
        calls.append(call)
    meta = {"name": name, "about": model.about, **versions, "functions": [], "tree": {"model.so": tree_of(built.mod)},
            "exports": {"model.so": {"bytes": library.stat().st_size}},
            "notes": ["outputs are those of the same model for the host, in TVM's own virtual machine"
                      if model.device else "outputs are those of TVM's own virtual machine, to be met bit for bit"]}
    (folder / "cases.json").write_text(json.dumps(calls, indent=1) + "\n")
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")
    print(f"{folder}: {library.stat().st_size} bytes, {min(seconds) * 1e3:.2f} ms a run", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=HERE / "data", help="where the suites go")
    parser.add_argument("--only", metavar="NAME", help="build one model alone")
    parser.add_argument("--large", metavar="DIR", help="build the large models, into DIR/<peer>-<version>")
    options = parser.parse_args()

    import tvm
    import tvm_ffi
    from gen import tvm_models

    versions = {"tvm_version": tvm.__version__, "tvm_ffi_version": tvm_ffi.__version__}
    root = Path(options.large or options.out) / f"tvm-{tvm.__version__}"
    for name, make in (tvm_models.LARGE if options.large else tvm_models.SMALL).items():
        if options.only not in (None, name):
            continue
        build(root / name, name, make(), versions, not options.large)


if __name__ == "__main__":
    main()
