# SPDX-License-Identifier: MIT
"""Compile the networks of the onnx wheel's backend tests, run them, and compare with the outputs beside them.

usage: backend.py [--write] [--processor NAME] [--nodes NUMBER] TENON LIST [NAME... | PART/PARTS]

LIST has a line for each network that differs or is refused: its name, a colon, and the reason. A network that is not
in the list and is not equal is a failure, so is one in the list that is equal, and so is one that is refused in the
list and differs here, or the other way round. --write writes the list anew. With names only these networks are run,
with 2/4 the second quarter of them. Of those of one node, of which there are many, --nodes runs a number that is
chosen at random, the same each time; else all are run.
"""

import argparse
import contextlib
import io
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test.loader as loader
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile import command  # noqa: E402
from tenon_compile.errors import CompileError, first_line  # noqa: E402
from tenon_compile.inputs import quoted  # noqa: E402

KINDS = ("simple", "pytorch-operator", "pytorch-converted", "node")
PROCESSOR_SECONDS = 120
HEAD = """# SPDX-License-Identifier: MIT
# Backend tests of onnx that differ or are refused, and why; backend.py says more. Lines are added only for tests that
# were never run before, as those of a newer onnx; a test that was equal stays so.
"""


def networks():
    """All tests, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {f"{kind}/{case.name}": case for kind in KINDS for case in loader.load_model_tests(kind=kind)}


def tensor_of(path):
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def data_sets(case):
    """Inputs and outputs of a test: lists of arrays, or of what is none."""
    if case.data_sets is not None:
        return case.data_sets
    sets = []
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        count = {what: len(list(folder.glob(f"{what}_*.pb"))) for what in ("input", "output")}
        sets.append([[tensor_of(folder / f"{w}_{i}.pb") for i in range(count[w])] for w in ("input", "output")])
    return sets


def open_shapes(network, names, case):
    """--shape for inputs whose extents the network leaves open: those of the data."""
    words = []
    for inputs, _ in data_sets(case)[:1]:
        arrays = dict(zip(names, inputs))
        for value in network.graph.input:
            tensor = value.type.tensor_type
            fixed = tensor.HasField("shape") and all(extent.dim_value > 0 for extent in tensor.shape.dim)
            if value.type.HasField("tensor_type") and not fixed and hasattr(arrays.get(value.name), "shape"):
                words += ["--shape", f"{value.name}=" + ",".join(map(str, arrays[value.name].shape))]
    return words


def array_argument(path, value):
    """A SPEC that reads an array; types that NumPy lacks are kept as bits."""
    value = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    if value.dtype.kind != "V" and value.dtype.name in np.sctypeDict:
        np.save(path, value)
        return f"@{path}"
    np.save(path, value.view(f"uint{8 * value.dtype.itemsize}"))
    return "x".join([*map(str, value.shape), value.dtype.name]) + f"=@{path}"


def run(case, folder, tenon, processor):
    """What became of a test: "equal", or why not."""
    path = folder / "network.onnx"
    network = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
    onnx.save(network, path)
    constants = {tensor.name for tensor in network.graph.initializer}
    names = [value.name for value in network.graph.input if value.name not in constants]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            words = [str(path), "-o", str(folder / "model.so"), *open_shapes(network, names, case)]
            words += ["--processor", processor] if processor else []
            command.run(command.parse_arguments(words))
        except CompileError as error:
            return "refused: " + str(error).removeprefix(f"{path}: ")
    for inputs, outputs in data_sets(case):
        arguments = [tenon, "run", str(folder / "model.so")]
        arguments += ["--rtol", str(case.rtol), "--atol", str(max(case.atol, 1e-6))]
        for i, (name, value) in enumerate(zip(names, inputs)):
            arguments += ["--input", f"{quoted(name)}={array_argument(folder / f'x{i}.npy', value)}"]
        for i, value in enumerate(outputs):
            arguments += ["--expect", array_argument(folder / f"y{i}.npy", value)]
        done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode == 1:
            lines = [line for line in done.stdout.splitlines() if "differs" in line] or ["?"]
            return "differs: " + " ".join(lines[0].split())
        if done.returncode:
            return "not run: " + done.stderr.strip()[:200]
    return "equal"


def run_apart(case, tenon, processor):
    """The same in a process of its own, which may end in any way."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with tempfile.TemporaryDirectory() as folder:
            try:
                said = run(case, Path(folder), tenon, processor)
            except Exception as error:
                said = "stopped: " + first_line(error)
            said = said.replace(folder, "").replace("\n", " ")
        os.write(writer, said[:240].encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return said or f"stopped by signal {os.WTERMSIG(status)}"


def read_list(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def without_numbers(reason):
    """A reason without what changes from run to run."""
    return re.sub(r"0x[0-9a-f]+|/tmp/\S*", "…", re.sub(r" [\d.]+ [mµn]?s$", "", reason))


def failure(said, listed):
    """Why a result is not what the list says, or None."""
    if said == "equal":
        return "equal, and in the list: remove its line" if listed else None
    if not listed:
        return said
    kinds = [reason.split(":")[0] for reason in (said, listed)]
    return None if kinds[0] == kinds[1] else f"{said}; in the list: {listed}"


def sample(names, count):
    """All networks, but of those of one node a number, the same each time."""
    nodes = [name for name in names if name.startswith("node/")]
    chosen = set(random.Random(1).sample(nodes, min(count, len(nodes))))
    return [name for name in names if name not in nodes or name in chosen]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--processor", default="", help="as of tenon-compile")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("tenon")
    parser.add_argument("list", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    write, tenon, path, chosen = options.write, options.tenon, options.list, options.names
    import tvm  # noqa: F401, imported before the first fork

    cases = networks()
    if options.nodes is not None:
        cases = {name: cases[name] for name in sample(cases, options.nodes)}
    part = re.fullmatch(r"(\d+)/(\d+)", chosen[0]) if chosen else None
    if part:
        names = list(cases)[int(part[1]) - 1 :: int(part[2])]
        cases = {name: cases[name] for name in names}
    elif chosen:
        cases = {name: cases[name] for name in chosen}
    listed, found, failures = read_list(path), {}, 0
    for number, (name, case) in enumerate(cases.items()):
        said = run_apart(case, tenon, options.processor)
        if said != "equal":
            found[name] = without_numbers(said)
        wrong = failure(said, listed.get(name))
        if wrong and not write:
            failures += 1
            print(f"{name}: {wrong}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {len(cases)} ", end="", file=sys.stderr)
    if write:
        path.write_text(HEAD + "".join(f"{name}: {reason}\n" for name, reason in sorted(found.items())))
    gone = sorted(set(listed) - set(cases)) if not chosen and options.nodes is None else []
    for name in gone:
        print(f"{name}: in the list, and no test")
    print(f"{len(cases)} networks: {len(cases) - len(found)} equal, {len(found)} differ or are refused")
    sys.exit(1 if failures or gone else 0)


main()
