# SPDX-License-Identifier: MIT
"""tenon-compile: from a trained network to a module that Tenon runs."""

import argparse
import json
import math
import os
import re
import shlex
import shutil
import sys
import zipfile
from pathlib import Path

from . import small_core
from .errors import CompileError, NotCompiled, first_line
from .inputs import quoted, type_text
from .llm import command as llm
from .own_process import folder_beside
from .progress import Progress
from .relinking import tenon_command
from .targets import TARGETS, X86_64, export_library, find_compiler, tvm_target

REQUIREMENTS = Path(__file__).parents[1]
MOST_ELEMENTS = (1 << 31) - 1  # of an input: TVM counts in 32 bits
BESIDE = (".json", ".case")  # of what is written beside the module, under the same name


def shapes_of(arguments):
    """NAME=1,3,224,224 of each --shape, as a dictionary."""
    shapes = {}
    for argument in arguments:
        match = re.fullmatch(r"(.+)=(\d+(?:,\d+)*)?", argument, re.DOTALL)
        if not match:
            raise CompileError(f"--shape {argument}: expected NAME=1,3,224,224")
        shape = shapes[match[1]] = [int(extent) for extent in match[2].split(",")] if match[2] else []
        if math.prod(max(extent, 1) for extent in shape) > MOST_ELEMENTS:
            raise CompileError(f"--shape {argument}: more than {MOST_ELEMENTS} elements")
    return shapes


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with arguments."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; --help lists the options\n")


def parse_arguments(arguments):
    parser = Parser(
        prog="tenon-compile",
        description="Compile a network in ONNX or of TensorFlow Lite, a PyTorch exported program (.pt2), or a language "
        "model in GGUF, to what Tenon runs.",
    )
    parser.add_argument(
        "network", type=Path, help="the ONNX or .tflite file, a PyTorch exported program (.pt2), or a language model (.gguf, or a "
        "folder with config.json and safetensors)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="the module (model.so); of a language model, the folder (named as the file)"
    )
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1,3,224,224", help="shape of an input")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=NUMBER[,NUMBER]…",
        help="make an input a constant, such as one that decides about branches",
    )  # fmt: skip
    parser.add_argument("--target", choices=sorted(TARGETS), default="cpu", help="the processor or device (cpu); language models: not hexagon")
    parser.add_argument(
        "--processor", metavar="NAME[,NAME]…",
        help="LLVM's name of the processor, such as cortex-a72, v3 of x86-64, or +v; v2,v3,v4+avx512vnni is code "
        "for each, the default on x86-64",
    )  # fmt: skip
    parser.add_argument("--cc", help="compiler that links the module, for a target that is not this machine")
    parser.add_argument("--labels", type=Path, help="names of the classes, one a line")
    parser.add_argument(
        "--case", action="append", nargs="?", default=[], const="", metavar="NAME=FILE.npy",
        help="keep inputs (of a file, else random) and the outputs for them in the module, for tenon run --self-test, and "
        "beside it; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--explain", action="store_true",
        help="print which processors the code is for, what was rewritten, and which kernels have a schedule",
    )  # fmt: skip
    parser.add_argument(
        "--tune", type=float, default=0, metavar="SECONDS",
        help="time some tiles of each kernel on this machine for so long, and take the best",
    )  # fmt: skip
    parser.add_argument(
        "--tuned", type=Path, metavar="FILE",
        help="take the tiles that --tune found; with --tune, where they are written (model.tuned.json)",
    )  # fmt: skip
    parser.add_argument("--tune-on", metavar="rpc://HOST:PORT[/KEY]", help="time them there, where tenon rpc serve runs")
    parser.add_argument(
        "--library", choices=["onednn"],
        help="let oneDNN compute convolutions and products, on x86-64, where libdnnl is installed",
    )  # fmt: skip
    parser.add_argument("--as-it-is", action="store_true", help="leave the network to TVM's default schedules")
    parser.add_argument(
        "--rewrite", action="store_true",
        help="rewrite the network for a device, too: some become faster, others slower (for processors it is done without)",
    )  # fmt: skip
    parser.add_argument(
        "--context", type=int, metavar="N", help="most tokens of a conversation with a language model (4096, or fewer)"
    )
    parser.add_argument("--traceback", action="store_true", help="print where in Python an error came from")
    return parser.parse_args(arguments)


def check(options):
    """Find wrong arguments before TVM is imported, which takes seconds."""
    check_tuning(options)
    check_library(options)
    if options.rewrite and options.as_it_is:
        raise CompileError("--rewrite and --as-it-is are opposites")
    if options.network.is_dir():
        raise CompileError(f"{options.network}: is a folder without config.json, which a language model has")
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
    if options.output.suffix in BESIDE:
        raise CompileError(f"{options.output}: {options.output.suffix} is for files that describe a module; name the module model.so")
    if options.output.exists() and options.output.samefile(options.network):
        raise CompileError(f"{options.output}: is the network itself")
    with options.network.open("rb") as file:
        if file.read(4) == b"\x7fELF":
            raise CompileError(f"{options.network}: is a program or module already, no network")
    find_compiler(options.target, options.cc)


def why_left(options):
    """Why the network is left to TVM's default schedules; None if it is rewritten."""
    if options.as_it_is:
        return "--as-it-is"
    if TARGETS[options.target].device and not options.rewrite:
        return f"--target {options.target} without --rewrite"
    return None


def check_tuning(options):
    """Where tiles are kept, and that they are of use."""
    if not 0 <= options.tune < float("inf"):
        raise CompileError(f"--tune {options.tune}: expected seconds")
    if options.tune_on and not options.tune:
        raise CompileError("--tune-on: --tune says for how many seconds")
    if not (options.tune or options.tuned):
        return
    if options.as_it_is or TARGETS[options.target].device or TARGETS[options.target].core:
        raise CompileError("--tune and --tuned are for the schedules of processors, without --as-it-is")
    if options.tune and options.target != "cpu" and not options.tune_on:
        raise CompileError(f"--tune: code for {options.target} is timed on such a machine: --tune-on rpc://HOST:PORT")
    if options.tuned and not options.tune and not options.tuned.is_file():
        raise CompileError(f"{options.tuned}: no such file; --tune writes it")
    options.tuned = options.tuned or options.output.with_suffix(".tuned.json")


def check_library(options):
    """Whether the module can call the library, and the command that puts them together is there."""
    if not options.library:
        return
    if options.target != "cpu" or not X86_64:
        raise CompileError(f"--library {options.library} is for --target cpu on x86-64")
    if options.as_it_is:
        raise CompileError(f"--library {options.library}: --as-it-is leaves the network to TVM")
    tenon_command()


def import_packages(path):
    """Import what compiling needs; the function that imports the network."""
    requirements = REQUIREMENTS / "requirements.txt"
    try:
        import onnx  # noqa: F401

        from . import onnx_file
        from .tflite import tflite_file

        importer = onnx_file.import_file
        if zipfile.is_zipfile(path):
            from . import torch_file

            torch_file.check_archive(path)
            requirements = REQUIREMENTS / "requirements-torch.txt"
            import torch  # noqa: F401

            importer = torch_file.import_file
        elif tflite_file.is_tflite(path):
            tflite_file.read(path)
            importer = tflite_file.import_file
        else:
            onnx_file.read(path)
        requirements = REQUIREMENTS / "requirements.txt"
        import tvm  # noqa: F401
    except ImportError as error:
        raise CompileError(f"{error}. Install: pip install -r {requirements}") from error
    return importer


def objects_of(others, folder):
    """What is linked besides: code for better processors, and the list of their keys (runtime/library/processor_code.h)."""
    if not others:
        return []
    paths = []
    for key, code in others.items():
        paths.append(str(folder / f"{key}.o"))
        code.write_to_file(paths[-1], "o")
    keys = folder / "processors.c"
    # TVM compiles it as C++, which would keep a constant out of the symbols if it were not declared before
    declaration = "extern const char __tenon_processors[];"
    text = f'{declaration}\nconst char __tenon_processors[] = "{" ".join(others)}";\n'
    keys.write_text(text, encoding="ascii")
    return [*paths, str(keys)]


def write_module(built, options, arrays, outputs):
    """Write the module under a temporary name beside its own, then rename it. @outputs: of a case with @arrays, or None."""
    compiler = find_compiler(options.target, options.cc)
    with folder_beside(options.output) as folder:
        path = folder / "model.so"
        objects = objects_of(built.others, folder)
        if outputs is not None:
            from . import case

            objects.append(case.section(folder, options.network.stem, arrays, outputs))
        export_library(built.executable, path, compiler, objects)
        if built.kernels:
            program, target = folder / "kernels.mortise", tvm_target(options.target, options.processor)
            small_core.make_program(built.kernels, TARGETS[options.target].core, target, program)
            small_core.add_program(path, program)
        if built.regions:
            from .onednn_module import add_regions

            add_regions(path, built.regions)
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
    labels = options.output.with_suffix(".labels.txt")
    if options.labels and not (labels.exists() and labels.samefile(options.labels)):
        shutil.copyfile(options.labels, labels)


def random_inputs(inputs):
    """The options of "tenon run" that give a module random numbers."""
    words = []
    for value in inputs:
        content = "zeros" if value["dtype"] == "bool" else "random:1"
        words += ["--input", f"{quoted(value['name'])}={type_text(value)}={content}"]
    return words


def inputs_of_case(options):
    """NAME=FILE.npy of each --case, as a dictionary."""
    given = {}
    for argument in options.case:
        name, equals, path = argument.rpartition("=")
        if argument and not (name and path):
            raise CompileError(f"--case {argument}: expected NAME=FILE.npy, or nothing")
        if argument:
            given[name] = path
    return given


def run(options):
    if llm.is_language_model(options.network):
        if options.tune or options.tuned or options.tune_on or options.library or options.rewrite:
            raise CompileError("--tune, --tuned, --library and --rewrite are for networks, not for language models")
        options.requirements = REQUIREMENTS / "requirements.txt"
        return llm.run(options)
    if options.context is not None:
        raise CompileError("--context is for language models")
    options.output = options.output or Path("model.so")
    return compile_network(options)


def compile_network(options):
    shapes, given = shapes_of(options.shape), inputs_of_case(options)
    check(options)
    with Progress() as progress:
        progress("importing TVM")
        importer = import_packages(options.network)
        from . import case, explain, pipeline
        from .fixed_inputs import numbers_of
        from .tuning import Tuned, Tuning

        progress("importing the network")
        imported = importer(options.network, shapes, numbers_of(options.set))
        arrays = {}
        if options.case:
            if not imported.onnx:
                raise CompileError("--case needs a network in ONNX")
            arrays = case.make_inputs(imported.inputs, given)
        tuning = None
        if options.tuned:
            compiler = find_compiler(options.target, options.cc)
            tuning = Tuning(Tuned(options.tuned), options.tune, options.tune_on, compiler, progress)
        try:
            built, report = pipeline.build(
                imported.module, options.target, options.processor, progress, why_left(options), tuning=tuning,
                library=options.library,
            )  # fmt: skip
        except NotCompiled as error:
            raise CompileError("; ".join(filter(None, (str(error), imported.remedy)))) from error
        outputs = None
        if options.case:
            progress("running the case")
            outputs = case.expected(imported.onnx, arrays, imported.constants)
        progress("linking")
        write_module(built, options, arrays, outputs)
        write_description(options, imported.inputs, imported.outputs)
        words = random_inputs(imported.inputs)
        if options.case:
            words = case.write(options.output, arrays, outputs)
    if options.explain:
        print("\n".join(explain.processors(options.target, options.processor) + explain.explain(report)))
    core, device = TARGETS[options.target].core, TARGETS[options.target].device
    where = f"mortise://{core}" if core else f"{device}:0" if device else None
    device = ["--device", where] if where else []
    print(f"{options.output}: try {shlex.join(['tenon', 'run', str(options.output), *device, *words])}")


def printable(text):
    """@text with line feeds and control characters written as escapes: names in a file may have any characters."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        run(options)
    except CompileError as error:
        if options.traceback:
            raise
        message = str(error)
        if not message.startswith((str(options.network), "--", str(options.output), str(options.tuned))):
            message = f"{options.network}: {message}"
        sys.exit(f"tenon-compile: {printable(message)}")
    except OSError as error:
        if options.traceback:
            raise
        # if a copy fails, filename2 is the file that was written
        sys.exit(f"tenon-compile: {printable(str(error.filename2 or error.filename or options.output))}: {error.strerror or error}")
    except MemoryError:
        if options.traceback:
            raise
        sys.exit(f"tenon-compile: {printable(str(options.network))}: memory ran out")
    except Exception as error:
        if options.traceback:
            raise
        why = printable(f"{options.network}: {first_line(error)}")
        sys.exit(f"tenon-compile: {why}. This is a fault of tenon-compile; --traceback prints where it is, for a report")
