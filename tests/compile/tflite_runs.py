# SPDX-License-Identifier: MIT
"""Runs of a module that was made of a file of TensorFlow Lite, whose outputs are compared, one step of their scale
or 1e-4 of their values apart at most: tflite_runs.py TENON MODULE FILE FOLDER

FOLDER has what tflite_networks.py wrote of the file. Variables, which are inputs and outputs of the module, begin with
their zero points.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile.inputs import quoted, type_text  # noqa: E402
from tenon_compile.tflite.model import read_model  # noqa: E402

tenon, module, file, folder = sys.argv[1], *map(Path, sys.argv[2:])
described = json.loads(module.with_suffix(".json").read_text())
model = read_model(file.read_bytes())
zeros = {
    model.tensors[operator.inputs[0]].number: model.tensors[operator.outputs[0]].quantization
    for operator in model.operators
    if operator.name == "READ_VARIABLE"
}
handles = {operator.outputs[0]: operator.options.text(1) for operator in model.operators if operator.name == "VAR_HANDLE"}
first = {handles[number]: int(how.zeros[0]) if how else 0 for number, how in zeros.items()}
states = {}
for value in described["inputs"][1:]:
    states[value["name"]] = path = folder / f"state{len(states)}.npy"
    np.save(path, np.full(value["shape"], first[value["name"]], value["dtype"]))
runs = len(list(folder.glob(f"{file.stem}.*.x.npy")))
assert runs, f"{folder} has no run of {file.stem}"
for number in range(runs):
    words = [tenon, "run", str(module), "--input", f"{quoted(described['inputs'][0]['name'])}=@{folder / f'{file.stem}.{number}.x.npy'}"]
    for name, path in states.items():
        words += ["--input", f"{quoted(name)}=@{path}"]
    written = []
    for place, value in enumerate(described["outputs"]):
        written.append(folder / f"out{place}.npy")
        words += ["--output", f"{type_text(value)}=>{written[-1]}"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    outputs = dict(zip((value["name"] for value in described["outputs"]), written))
    for name, path in states.items():
        path.write_bytes(outputs.pop(f"{name}:new").read_bytes())
    for place, path in enumerate(outputs.values()):
        y, expected = np.load(path), np.load(folder / f"{file.stem}.{number}.y{place}.npy")
        few = y.dtype.kind in "iu"
        limit = np.full(y.shape, 1.0) if few else 1e-4 + 1e-4 * np.abs(expected)
        assert (y.dtype, y.shape) == (expected.dtype, expected.shape) and (np.abs(y.astype("float64") - expected) <= limit).all(), (
            f"run {number}, output {place}: {y.reshape(-1)[:8]}, expected {expected.reshape(-1)[:8]}"
        )
        print(f"run {number}, output {place}: {y.reshape(-1)[:4]}, expected {expected.reshape(-1)[:4]}")
