# SPDX-License-Identifier: MIT
"""tenon-compile: from a trained network to a module that Tenon runs."""

import argparse
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from .errors import CompileError, first_line
from .inputs import quoted, type_text
from .targets import TARGETS, find_compiler, tvm_target

REQUIREMENTS = Path(__file__).parents[1]


def shapes_of(arguments):
    """NAME=1,3,224,224 of each --shape, as a dictionary."""
    shapes = {}
    for argument in arguments:
        match = re.fullmatch(r"(.+)=(\d+(?:,\d+)*)?", argument, re.DOTALL)
        if not match:
            raise CompileError(f"--shape {argument}: expected NAME=1,3,224,224")
        shapes[match[1]] = [int(extent) for extent in match[2].split(",")] if match[2] else []
    return shapes


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="tenon-compile",
        description="Compile a network in ONNX, or a PyTorch exported program (.pt2), to a module that Tenon runs.",
    )
    parser.add_argument("network", type=Path, help="the ONNX file, or a PyTorch exported program (.pt2)")
    parser.add_argument("-o", "--output", type=Path, default=Path("model.so"), help="the module (model.so)")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1,3,224,224", help="shape of an input")
    parser.add_argument("--target", choices=sorted(TARGETS), default="cpu", help="the device (cpu)")
    parser.add_argument("--processor", metavar="NAME", help="LLVM's name of the processor, such as cortex-a72")
    parser.add_argument("--cc", help="compiler that links the module, for a target that is not this machine")
    parser.add_argument("--labels", type=Path, help="names of the classes, one a line")
    parser.add_argument("--traceback", action="store_true", help="print where in Python an error came from")
    return parser.parse_args(arguments)


def check(options):
    """Find wrong arguments before TVM is imported, which takes seconds."""
    for path in (options.network, options.labels):
        if path and not path.is_file():
            raise CompileError(f"{path}: {'is no file' if path.exists() else 'no such file'}")
        if path and not os.access(path, os.R_OK):
            raise CompileError(f"{path}: may not be read")
    folder = options.output.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CompileError(f"{options.output}: {folder} is no folder that may be written")
    if options.output.is_dir():
        raise CompileError(f"{options.output}: is a folder; the module is one file")
    if options.output.exists() and options.output.samefile(options.network):
        raise CompileError(f"{options.output}: is the network itself")
    with options.network.open("rb") as file:
        if file.read(4) == b"\x7fELF":
            raise CompileError(f"{options.network}: is a program or module already, no network")
    find_compiler(options.target, options.cc)


def import_packages(path):
    """Import what compiling needs; the function that imports the network."""
    requirements = REQUIREMENTS / "requirements.txt"
    try:
        import onnx  # noqa: F401

        from . import onnx_file

        importer = onnx_file.import_file
        if zipfile.is_zipfile(path):
            from . import torch_file

            torch_file.check_archive(path)
            requirements = REQUIREMENTS / "requirements-torch.txt"
            import torch  # noqa: F401

            importer = torch_file.import_file
        else:
            onnx_file.read(path)
        requirements = REQUIREMENTS / "requirements.txt"
        import tvm  # noqa: F401
    except ImportError as error:
        raise CompileError(f"{error}. Install: pip install -r {requirements}") from error
    return importer


def build(module, options):
    """TVM's executable of a module."""
    from tvm import relax
    from tvm.s_tir import dlight

    target = tvm_target(options.target, options.processor)
    with target:
        module = relax.get_pipeline("zero")(module)
        if TARGETS[options.target].device:
            rules = (dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(), dlight.gpu.Fallback())
            module = dlight.ApplyDefaultSchedule(*rules)(module)
    return relax.build(module, target=target)


def write_module(built, options):
    """Write the module under a temporary name beside its own, then rename it."""
    from tvm.support import cc

    compiler = find_compiler(options.target, options.cc)
    how = {"fcompile": cc.cross_compiler(compiler)} if compiler else {}
    with tempfile.TemporaryDirectory(dir=options.output.parent, prefix=f".{options.output.name}.") as folder:
        path = Path(folder) / "model.so"
        built.export_library(str(path), **how)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(path, options.output)


def write_description(options, inputs, outputs):
    """Write model.json and model.labels.txt."""
    import tvm

    described = {
        "network": options.network.name,
        "target": options.target,
        "tvm": tvm.__version__,
        "inputs": inputs,
        "outputs": outputs,
    }
    text = json.dumps(described, indent="\t", ensure_ascii=False) + "\n"
    options.output.with_suffix(".json").write_text(text, encoding="utf-8")
    if options.labels:
        shutil.copyfile(options.labels, options.output.with_suffix(".labels.txt"))


def command_to_try(options, inputs):
    """The command that runs the module with random numbers."""
    words = ["tenon", "run", str(options.output)]
    for value in inputs:
        content = "zeros" if value["dtype"] == "bool" else "random:1"
        words += ["--input", f"{quoted(value['name'])}={type_text(value)}={content}"]
    return shlex.join(words)


def run(options):
    shapes = shapes_of(options.shape)
    check(options)
    importer = import_packages(options.network)
    module, inputs, outputs = importer(options.network, shapes)
    try:
        built = build(module, options)
    except Exception as error:  # TVM's passes raise whatever its C++ does
        raise CompileError(f"{options.network}: TVM does not compile it: {first_line(error)}") from error
    write_module(built, options)
    write_description(options, inputs, outputs)
    print(f"{options.output}: try {command_to_try(options, inputs)}")


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        run(options)
    except CompileError as error:
        if options.traceback:
            raise
        sys.exit(f"tenon-compile: {error}")
    except OSError as error:
        if options.traceback:
            raise
        sys.exit(f"tenon-compile: {error.filename or options.output}: {error.strerror or error}")
