#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles small functions for each Relax operator with the apache-tvm of this Python environment, runs them in TVM and by
tenon run, and compares the outputs bit by bit.

usage: operators.py TENON FOLDER [--only PATTERN]

The functions are those of table.py, most of them also with names in place of the extents of their inputs. FOLDER gets
libraries with many functions each, inputs, and TVM's outputs. The result is TAP, with a case for each operator that is
registered; comments at the end say how many of how many are equal.
"""

import argparse
import fnmatch
import subprocess
from pathlib import Path

import numpy as np
import tvm
from tvm import relax, tirx

import table

TARGET = tvm.target.Target({"kind": "llvm", "mcpu": "x86-64-v2", "mtriple": "x86_64-linux-gnu", "opt-level": 1})
GROUP = 48  # functions in a library


class Function:
    """A case of the table, with the extents of its inputs or with names in their place."""

    def __init__(self, case, symbolic):
        self.case, self.symbolic = case, symbolic
        self.name = case.name + ("_symbolic" if symbolic else "")
        self.library = self.outputs = None
        self.problem = None

    def variables(self):
        names = {}

        def extent(n):
            if not self.symbolic or n < 2:
                return int(n)
            return names.setdefault(int(n), tirx.Var(f"n{n}", "int64"))

        for i, value in enumerate(self.case.inputs):
            if isinstance(value, tuple):
                yield relax.Var(f"x{i}", relax.ShapeType(list(value)))
            else:
                yield relax.Var(f"x{i}", relax.TensorType([extent(n) for n in value.shape], str(value.dtype)))

    def build(self, bb):
        variables = list(self.variables())
        with bb.function(self.name, variables, pure=self.case.pure):
            bb.emit_func_output(bb.emit(self.case.emit(bb, *variables)))

    def arguments(self):
        return [tvm.runtime.ShapeTuple(v) if isinstance(v, tuple) else tvm.runtime.tensor(v) for v in self.case.inputs]


def lines_of(error):
    return [line.strip() for line in str(error).splitlines() if line.strip()]


def legalized(f):
    """Build a function alone, up to where most of what TVM cannot compile is refused."""
    bb = relax.BlockBuilder()
    try:
        with TARGET:
            f.build(bb)
            relax.transform.LegalizeOps()(relax.backend.DispatchSortScan()(bb.get()))
        return True
    except Exception as error:  # anything that a compiler raises
        f.problem = "TVM cannot compile it: " + (lines_of(error) or [type(error).__name__])[-1][:200]
        return False


def compiled(functions, path):
    """Compile functions into one library; where that fails, find those that TVM cannot compile."""
    bb = relax.BlockBuilder()
    try:
        with TARGET:
            for f in functions:
                f.build(bb)
            relax.build(bb.get(), TARGET).export_library(str(path))
    except Exception as error:  # anything that a compiler raises
        if len(functions) == 1:
            functions[0].problem = "TVM cannot compile it: " + (lines_of(error) or [type(error).__name__])[-1][:200]
            return
        half = len(functions) // 2
        compiled(functions[:half], path.with_name(path.stem + "a.so"))
        compiled(functions[half:], path.with_name(path.stem + "b.so"))
        return
    for f in functions:
        f.library = path


def leaves(value):
    """The tensors and numbers of a result, in order."""
    if hasattr(value, "numpy"):
        return [value.numpy()]
    if isinstance(value, (int, float)):
        return [value]
    return [leaf for item in value for leaf in leaves(item)]


def run_in_tvm(functions, folder):
    """Run functions in TVM, and keep what they give."""
    machines = {}
    for f in functions:
        if f.problem:
            continue
        if f.library not in machines:
            machines[f.library] = relax.VirtualMachine(tvm.runtime.load_module(str(f.library)), tvm.cpu())
        try:
            result = leaves(machines[f.library][f.name](*f.arguments()))
        except Exception as error:  # anything that a compiled function raises
            f.problem = "TVM cannot run it: " + (lines_of(error) or [type(error).__name__])[-1][:200]
            continue
        f.outputs = []
        for i, value in enumerate(result):
            if isinstance(value, (int, float)):
                f.outputs.append(repr(value))
                continue
            np.save(folder / f"{f.name}.out{i}.npy", value, allow_pickle=False)
            f.outputs.append(f"@{f.name}.out{i}.npy")
        for i, value in enumerate(f.case.inputs):
            if not isinstance(value, tuple):
                np.save(folder / f"{f.name}.in{i}.npy", value, allow_pickle=False)


def run_in_tenon(tenon, f, folder):
    """Run a function by the command; return what differs, or None."""
    command = [tenon, "run", f.library.name, "--function", f.name]
    for i, value in enumerate(f.case.inputs):
        command += ["--input", "shape:" + ",".join(map(str, value)) if isinstance(value, tuple) else f"@{f.name}.in{i}.npy"]
    for output in f.outputs:
        command += ["--expect", output]
    command += ["--rtol", "0", "--atol", "0"]
    ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    equal = ran.stdout.count(": equal")
    if ran.returncode == 0 and equal == len(f.outputs):
        return None
    return f"exit {ran.returncode}, {equal} of {len(f.outputs)} outputs are equal\n{' '.join(command)}\n{ran.stdout}{ran.stderr}"


def said_of(number, name, functions, options):
    """Run the functions of an operator; return (TAP's verdict, comment)."""
    if not functions:
        return (f"ok {number} - {name} # SKIP {table.WITHOUT[name]}", "") if name in table.WITHOUT else \
            (f"not ok {number} - {name}", "table.py has no function for it")
    texts = []
    for f in functions:
        text = f.problem or run_in_tenon(options.tenon, f, options.folder)
        if text:
            texts.append(f"{f.name}: {text}")
    return f"{'not ok' if texts else 'ok'} {number} - {name} ({len(functions)})", "\n".join(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tenon", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", metavar="PATTERN", default="*", help="operators with such a name")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    by_operator = {str(name).removeprefix("relax."): [] for name in tvm.ir.Op.list_op_names()
                   if str(name).startswith("relax.")}
    by_operator = {name: [] for name in sorted(by_operator) if fnmatch.fnmatch(name, options.only)}
    for case in table.CASES:
        if case.op in by_operator:
            symbolic = [False, True] if case.symbolic and case.inputs else [False]
            by_operator[case.op] += [Function(case, s) for s in symbolic]
    functions = [f for list_of in by_operator.values() for f in list_of]
    good = [f for f in functions if legalized(f)]
    for i in range(0, len(good), GROUP):
        compiled(good[i:i + GROUP], options.folder / f"group{i // GROUP}.so")
    run_in_tvm(good, options.folder)

    print(f"1..{len(by_operator)}")
    equal = 0
    for number, (name, list_of) in enumerate(by_operator.items(), 1):
        verdict, comment = said_of(number, name, list_of, options)
        print(verdict)
        print("".join(f"# {line}\n" for line in comment.splitlines()), end="", flush=True)
        equal += verdict.startswith("ok") and bool(list_of)
    print(f"# {equal} of {len(by_operator)} operators are equal, by {len(functions)} functions")


if __name__ == "__main__":
    main()
