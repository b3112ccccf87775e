# SPDX-License-Identifier: MIT
"""Compile the networks of the onnx wheel's backend tests, run them, and compare with the outputs beside them.

usage: backend.py [--write] [--processor NAME] [--nodes NUMBER] [--record FILE] TENON LIST [NAME... | PART/PARTS]

LIST has a line for each network that differs or is refused: its name, a colon, and the reason. A network that is not
in the list and is not equal is a failure, so is one in the list that is equal, and so is one that is refused in the
list and differs here, or the other way round. Before the reason, or in its place if the network is equal, the line
names inputs that have to be fixed ("set: NAMES"); it is a failure if others have to be. --write writes the list anew.
With names only these networks are run, with 2/4 the second quarter of them. Of those of one node, of which there are
many, --nodes runs a number that is chosen at random, the same each time; else all are run. With --record each result is
appended to FILE, and networks that have one there are not run again: so a run that was stopped can go on. A record is for
the processor of its first line. Results of an older compiler or library are kept: delete FILE once either has changed.
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
STOPPED = "stopped by signal"


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
            array = arrays.get(value.name)
            shape = getattr(array, "dims", getattr(array, "shape", None))
            if value.type.HasField("tensor_type") and not fixed and shape is not None:
                words += ["--shape", f"{value.name}=" + ",".join(map(str, shape))]
    return words


def compile_as_told(words, inputs):
    """Compile; where an input has to be fixed, fix it as the message says, and take it from @inputs, which are arrays by name."""
    for _ in range(len(inputs) + 1):
        try:
            return command.run(command.parse_arguments(words))
        except CompileError as error:
            wanted = re.search(r"--set (\S+)=NUMBER", str(error))
            value = inputs.pop(wanted[1], None) if wanted else None
            if value is None:
                raise
            numbers = [int(one) if isinstance(one, bool) else one for one in np.asarray(value).reshape(-1).tolist()]
            words = [*words, "--set", f"{wanted[1]}={','.join(map(repr, numbers))}"]


def array_argument(path, value):
    """A SPEC that reads an array; types that NumPy lacks are kept as bits."""
    value = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    if value.dtype.kind != "V" and value.dtype.name in np.sctypeDict:
        np.save(path, value)
        return f"@{path}"
    np.save(path, value.view(f"uint{8 * value.dtype.itemsize}"))
    return "x".join([*map(str, value.shape), value.dtype.name]) + f"=@{path}"


def run(case, folder, tenon, processor):
    """What became of a test: "equal", or why not, behind the inputs that had to be fixed."""
    path = folder / "network.onnx"
    network = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
    onnx.save(network, path)
    constants = {tensor.name for tensor in network.graph.initializer}
    names = [value.name for value in network.graph.input if value.name not in constants]
    left = dict(zip(names, data_sets(case)[0][0]))
    given = list(left)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            words = [str(path), "-o", str(folder / "model.so"), *open_shapes(network, names, case)]
            words += ["--processor", processor] if processor else []
            compile_as_told(words, left)
            said = results(case, folder, tenon, names, left)
        except CompileError as error:
            said = "refused: " + str(error).removeprefix(f"{path}: ")
    fixed = [name for name in given if name not in left]
    return f"set: {', '.join(fixed)}; {said}" if fixed else said


def results(case, folder, tenon, names, left):
    """What a module gives for inputs that are left: "equal", or why not."""
    for inputs, outputs in data_sets(case):
        arguments = [tenon, "run", str(folder / "model.so")]
        arguments += ["--rtol", str(case.rtol), "--atol", str(max(case.atol, 1e-6))]
        for i, (name, value) in enumerate(zip(names, inputs)):
            if name not in left:
                continue
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
    return said or f"{STOPPED} {os.WTERMSIG(status)}"


def read_list(path):
    """The comment at the head of a list, and its lines by name."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    head = "".join(line for line in lines if line.startswith("#"))
    return head, dict(line.rstrip("\n").split(": ", 1) for line in lines if line.strip() and not line.startswith("#"))


def open_record(path, processor):
    """The results of a record, which is begun if there is none; the program ends if they are of another processor."""
    head = f"# processor: {processor or 'the default'}\n"
    if not path.exists():
        path.write_text(head)
    found, results = read_list(path)
    if found != head:
        sys.exit(f"{path}: it begins with {found!r}, expected {head!r}: delete it, or name another --record")
    return results


def result_of(name, record, recorded, find):
    """The result of a network that @recorded has, or what @find() gives; that is added to the record, if there is one."""
    if name in recorded:
        return recorded[name]
    said = find()
    if record and not said.startswith(STOPPED):  # it may not have been the network's fault
        with record.open("a") as file:
            file.write(f"{name}: {said}\n")
    return said


def parts(line):
    """The inputs that have to be fixed by a line of the list or a result, and the reason behind them; None if it is equal."""
    fixed, reason = re.fullmatch(r"(?:set: (.*?)(?:; |$))?(.*)", line).groups()
    return fixed or "none", None if reason in ("", "equal") else reason


def without_numbers(reason):
    """A reason without what changes from run to run."""
    return re.sub(r"0x[0-9a-f]+|/tmp/\S*", "…", re.sub(r" [\d.]+ [mµn]?s$", "", reason))


def failure(said, listed):
    """Why a result is not what the list says, or None."""
    (fixed, reason), (listed_fixed, listed_reason) = parts(said), parts(listed)
    if fixed != listed_fixed:
        return f"inputs that have to be fixed: {fixed}; in the list: {listed_fixed}"
    if not reason:
        return "equal, and in the list: remove the reason" if listed_reason else None
    if not listed_reason:
        return said
    kinds = [one.split(":")[0] for one in (reason, listed_reason)]
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
    parser.add_argument("--record", type=Path)
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
    (head, listed), found, failures = read_list(path), {}, 0
    recorded = open_record(options.record, options.processor) if options.record else {}
    for number, (name, case) in enumerate(cases.items()):
        said = result_of(name, options.record, recorded, lambda: run_apart(case, tenon, options.processor))
        if said != "equal":
            found[name] = without_numbers(said.removesuffix("; equal"))
        wrong = failure(said, listed.get(name, ""))
        if wrong and not write:
            failures += 1
            print(f"{name}: {wrong}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {len(cases)} ", end="", file=sys.stderr)
    if write:
        path.write_text(head + "".join(f"{name}: {reason}\n" for name, reason in sorted(found.items())))
    gone = sorted(set(listed) - set(cases)) if not chosen and options.nodes is None else []
    for name in gone:
        print(f"{name}: in the list, and no test")
    unequal = sum(parts(line)[1] is not None for line in found.values())
    print(f"{len(cases)} networks: {len(cases) - unequal} equal, {unequal} differ or are refused")
    sys.exit(1 if failures or gone else 0)


main()
