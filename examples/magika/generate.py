#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the files of this folder anew: Magika, a pretrained network that tells types of files apart, as modules.

    tests/compile/prepare                                                 # TVM, and the network, from PyPI
    build/compile/venv/bin/python examples/magika/generate.py build/compile/networks/magika

The weights are inputs of the modules, so that cpu.so and opencl.so share one file of parameters. cpu.so has code for the
processors that tenon-compile names without options, of which the loader takes the best.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "compile"))

import tvm
from tenon_compile import onnx_file, pipeline
from tenon_compile.command import objects_of
from tenon_compile.layouts import module_of
from tenon_compile.processors import vectors_of, widest
from tenon_compile.targets import export_library, processors_of, tvm_target
from tvm import relax

LARGE = 10000  # elements of a tensor that is an input
LINK = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-Wl,--build-id=none"]


def write(executable, path, objects=()):
    export_library(executable, path, None, objects, LINK)
    subprocess.run(["strip", "-s", str(path)], check=True)
    path.chmod(0o644)


def main():
    here, package = Path(__file__).resolve().parent, Path(sys.argv[1])
    folder = package / "models" / "standard_v3_3"
    imported = onnx_file.import_file(folder / "model.onnx", {"bytes": [1, 2048]}, {})
    built, report = pipeline.build(imported.module, "cpu", None, print, apart=LARGE)
    if report.left:
        sys.exit(report.left)
    with tempfile.TemporaryDirectory() as objects:
        write(built.executable, here / "cpu.so", objects_of(built.others, Path(objects)))
    # the same graph and layout of weights, with TVM's schedules
    vectors = widest([vectors_of(tvm_target("cpu", one)) for one in processors_of("cpu", None)])
    module, _ = module_of(report.graph, tvm.IRModule(), vectors, apart=LARGE)
    target = tvm_target("opencl", None)
    module = pipeline.with_default_schedules(module, target, "opencl")
    write(relax.build(module, target=target), here / "opencl.so")
    weights = {name: tvm.runtime.tensor(array) for name, array in built.parameters.items()}
    (here / "magika.params").write_bytes(tvm.runtime.save_param_dict(weights))
    labels = json.loads((folder / "config.min.json").read_text())["target_labels_space"]
    (here / "labels.txt").write_text("\n".join(labels) + "\n")


if __name__ == "__main__":
    main()
