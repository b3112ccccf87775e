# SPDX-License-Identifier: MIT
"""tenon-compile of a language model: one file of weights becomes a folder for "tenon chat"."""

import dataclasses
import shlex
from pathlib import Path

from ..errors import CompileError
from ..progress import Progress
from ..targets import TARGETS, export_library, find_compiler
from . import folder, folder_model, gguf_file, gguf_model

MOST_CONTEXT = 4096  # unless --context says more: each token takes memory for its keys and values
DEFAULT_PROCESSOR = "x86-64-v3"
AVX2 = {"avx2", "fma", "f16c"}  # what products_avx2.py needs


def is_language_model(path):
    """A file in GGUF, or a folder with the configuration of a model."""
    return (path / folder_model.CONFIG).is_file() if path.is_dir() else path.is_file() and gguf_file.is_gguf(path)


def check(options):
    """Refuse options of networks, and places that cannot take the folder."""
    for option, given in (
        ("--shape", options.shape),
        ("--labels", options.labels),
        ("--case", options.case),
        ("--explain", options.explain),
        ("--as-it-is", options.as_it_is),
    ):
        if given:
            raise CompileError(f"{option} is for networks; {options.network} is a language model")
    if TARGETS[options.target].core:
        raise CompileError(f"--target {options.target}: language models are compiled for processors, OpenCL and CUDA")
    folder.check(options.output)


def choose_processor(options):
    """The processor that code is for: by default this machine's, if it has the vectors that make decoding fast."""
    if options.processor or options.target != "cpu":
        return options.processor
    import tvm
    from tvm.target import codegen

    here = tvm.target.Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu()})
    return DEFAULT_PROCESSOR if AVX2 <= features_of(here) else None


def features_of(target):
    from tvm.target import codegen

    with target:
        return {str(feature) for feature in codegen.llvm_get_cpu_features(target)}


def processor_of(target):
    """What the forms of weights depend on."""
    from .forms import Processor

    avx2 = AVX2 <= features_of(target)
    return Processor(avx2=avx2, half=avx2 or str(target.attrs.get("mtriple", "")).startswith("aarch64"))


def kernels_of(target):
    """What a decoder is made of for a target."""
    if target.kind.name == "llvm":
        from .processor_kernels import ProcessorKernels

        return ProcessorKernels(processor_of(target))
    from .device_kernels import DeviceKernels

    return DeviceKernels(target)


def with_context(settings, given):
    if given is not None and not 1 <= given <= settings.context:
        raise CompileError(f"--context {given}: the model was made for {settings.context} tokens")
    return dataclasses.replace(settings, context=given or min(settings.context, MOST_CONTEXT))


def run(options):
    if options.output is None:
        options.output = Path(options.network.stem if options.network.is_file() else f"{options.network.name}-tenon")
    check(options)
    compiler = find_compiler(options.target, options.cc)
    with Progress() as progress:
        progress("reading the model")
        model = (folder_model if options.network.is_dir() else gguf_model).read(options.network)
        model.checkpoint.settings = with_context(model.checkpoint.settings, options.context)
        progress("importing TVM")
        try:
            import tvm  # noqa: F401
        except ImportError as error:
            raise CompileError(f"{error}. Install: pip install -r {options.requirements}") from error
        from . import compilation
        from ..targets import tvm_target

        name = choose_processor(options)
        target = tvm_target(options.target, name)
        progress("building the decoder")
        built, loaders = compilation.build(model.checkpoint, target, kernels_of(target), progress)
        with folder.written(options.output) as new:
            size = compilation.write_weights(new, loaders, progress)
            progress("linking")
            export_library(built, new / folder.LIBRARY, compiler)
            model.write(new)
    for note in model.notes:
        print(f"{options.output}: {note}")
    device = TARGETS[options.target].device
    words = ["tenon", "chat", str(options.output), *(["--device", f"{device}:0"] if device else [])]
    what = options.target if device else name or options.target
    print(f"{options.output}: {size / (1 << 20):.0f} MiB of weights, {what}; try {shlex.join(words)}")
