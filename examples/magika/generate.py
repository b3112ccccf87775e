#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the files of this folder anew: Magika, a pretrained network that tells types of files apart, as modules.

    tests/compile/prepare                                                 # TVM, and the network, from PyPI
    build/compile/venv/bin/python examples/magika/generate.py build/compile/networks/magika

The weights are inputs of the modules, so that cpu.so and opencl.so share one file of parameters. Both are compiled of
the same rewritten network; cpu.so is for any x86-64.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "compile"))

import tvm
from tenon_compile import onnx_file
from tenon_compile.layouts import module_of
from tenon_compile.pipeline import with_default_schedules
from tenon_compile.processors import vectors_of
from tenon_compile.relax_graph import graph_of
from tenon_compile.rules import rewrite
from tenon_compile.schedules import schedule_module
from tenon_compile.targets import tvm_target
from tvm import relax

LARGE = 10000  # elements of a tensor that is an input
LINK = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-Wl,--build-id=none"]


def main():
    here, package = Path(__file__).resolve().parent, Path(sys.argv[1])
    folder = package / "models" / "standard_v3_3"
    imported = onnx_file.import_file(folder / "model.onnx", {"bytes": [1, 2048]})
    graph = graph_of(relax.transform.FoldConstant()(imported.module))
    rewrite(graph)
    processor = tvm_target("cpu", None)
    vectors = vectors_of(processor)
    for name in ("cpu", "opencl"):
        module, weights = module_of(graph, tvm.IRModule(), vectors, apart=LARGE)
        target = tvm_target(name, None)
        if name == "cpu":
            module = relax.transform.FastMathTransform()(module)
        module = with_default_schedules(module, target, None if name == "cpu" else name)
        if name == "cpu":
            module, _ = schedule_module(module, vectors)
        path = here / f"{name}.so"
        relax.build(module, target=target).export_library(str(path), options=LINK)
        subprocess.run(["strip", "-s", str(path)], check=True)
        path.chmod(0o644)
    (here / "magika.params").write_bytes(tvm.runtime.save_param_dict(weights))
    labels = json.loads((folder / "config.min.json").read_text())["target_labels_space"]
    (here / "labels.txt").write_text("\n".join(labels) + "\n")


if __name__ == "__main__":
    main()
