#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the files of this folder anew: Magika, a pretrained network that tells types of files apart, as modules.

    tests/compile/prepare                                                 # TVM, and the network, from PyPI
    build/compile/venv/bin/python examples/magika/generate.py build/compile/networks/magika

The weights are inputs of the modules, so that cpu.so and opencl.so share one file of parameters.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "compile"))

import onnx
import tvm
from onnx import helper, numpy_helper
from compile import compile_network, fix_shapes, fold

LARGE = 10000  # elements of a tensor that is an input
LINK = ["-Wl,-z,noseparate-code", "-Wl,-z,norelro", "-Wl,--build-id=none"]


def main():
    here, package = Path(__file__).resolve().parent, Path(sys.argv[1])
    folder = package / "models" / "standard_v3_3"
    network = onnx.load(folder / "model.onnx")
    shapes = {"bytes": [1, 2048]}
    fix_shapes(network, shapes)
    fold(network)

    weights = {}
    for tensor in [t for t in network.graph.initializer if numpy_helper.to_array(t).size > LARGE]:
        name = f"weights{len(weights)}"
        weights[name] = numpy_helper.to_array(tensor)
        for node in network.graph.node:
            node.input[:] = [name if i == tensor.name else i for i in node.input]
        network.graph.initializer.remove(tensor)
        network.graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, tensor.dims))
        shapes[name] = list(tensor.dims)

    for target in ("cpu", "opencl"):
        module = here / f"{target}.so"
        compile_network(network, shapes, target).export_library(str(module), options=LINK)
        subprocess.run(["strip", "-s", str(module)], check=True)
        module.chmod(0o644)
    (here / "magika.params").write_bytes(tvm.runtime.save_param_dict(weights))
    labels = json.loads((folder / "config.min.json").read_text())["target_labels_space"]
    (here / "labels.txt").write_text("\n".join(labels) + "\n")


if __name__ == "__main__":
    main()
