# SPDX-License-Identifier: MIT
"""What a module can be compiled for."""

import os
import platform
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field

from .errors import CompileError
from .small_core import find_tools

LEVEL = re.compile(r"(?:x86-64-)?v([1-4])")
# what the loader tells apart: those, and one above them (runtime/library/processor_code.c)
CHOSEN = re.compile(r"(?:x86-64-)?v([1-4]|4\+avx512vnni)")
RISCV = {"kind": "llvm", "mtriple": "riscv64-linux-gnu", "mattr": ["+m", "+a", "+f", "+d", "+c"], "mabi": "lp64d"}
# what a compiler of this machine's may assume of all others of its kind, and what many of them have besides
X86_64 = platform.machine() == "x86_64"
HERE = {"kind": "llvm", "mcpu": "x86-64-v2"} if X86_64 else {"kind": "llvm"}
DEFAULT = "v2,v3,v4+avx512vnni" if X86_64 else None
COMPILERS = ("g++", "gcc", "clang++", "clang", "c++", "cc")
# the least that TVM takes code to be for; NVRTC or the driver makes it for the GPU that is there
CUDA = {"kind": "cuda", "arch": "sm_50", "max_shared_memory_per_block": 49152}


@dataclass(frozen=True)
class Target:
    """A kind of machine: what TVM calls the device (None: the processor), the processor's code, and its compiler.

    With a core, the code is for that core, of small_core.CORES, and this machine's processor launches it.
    """

    host: dict = field(default_factory=lambda: HERE)
    device: str | None = None
    compiler: str | None = None
    core: str | None = None


TARGETS = {
    "cpu": Target(),
    "aarch64": Target({"kind": "llvm", "mtriple": "aarch64-linux-gnu"}, compiler="aarch64-linux-gnu-gcc"),
    "armv7": Target(
        {"kind": "llvm", "mtriple": "armv7-linux-gnueabihf", "mfloat-abi": "hard", "mattr": ["+neon"]},
        compiler="arm-linux-gnueabihf-gcc",
    ),
    # without NEON, which processors that Debian's armhf runs on may lack
    "armhf": Target(
        {"kind": "llvm", "mtriple": "armv7-linux-gnueabihf", "mfloat-abi": "hard", "mattr": ["-neon", "-d32"]},
        compiler="arm-linux-gnueabihf-gcc",
    ),
    "riscv64": Target(RISCV, compiler="riscv64-linux-gnu-gcc"),
    "hexagon": Target(
        {"kind": "llvm", "mtriple": "hexagon-unknown-linux-musl", "mcpu": "hexagonv66"}, core="hexagon"
    ),
    "opencl": Target(device="opencl"),
    "vulkan": Target(device="vulkan"),
    "cuda": Target(device="cuda"),
}


def words_of(command, source):
    """The words of a command such as "ccache gcc"; an error if its first word is no command. @source: what named it, for the error."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words or not shutil.which(words[0]):
        raise CompileError(f"{source}{command}: no such command")
    return words


def compiler_here():
    """The words of this machine's compiler: CXX, else CC (as TVM takes them), else the first of COMPILERS that is installed."""
    for name in ("CXX", "CC"):
        if os.environ.get(name):
            return words_of(os.environ[name], f"{name}=")
    found = next((name for name in COMPILERS if shutil.which(name)), None)
    if not found:
        raise CompileError("there is no C compiler, which links modules (Debian: apt install gcc libc6-dev); --cc names one")
    return [found]


def find_compiler(name, given):
    """The compiler that links a module for a target, as words; an error if it is missing."""
    if TARGETS[name].core:
        find_tools()
    if given is not None:
        return words_of(given, "--cc ")
    compiler = TARGETS[name].compiler
    if not compiler:
        return compiler_here()
    if not shutil.which(compiler):
        package = f"gcc-{compiler.removesuffix('-gcc')}"
        raise CompileError(f"{compiler} is missing (Debian: apt install {package}), or give --cc")
    return [compiler]


def why_unlinked(said):
    """The first line that a compiler printed and that is no warning. Later lines mostly follow from it."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "warning" not in line), "no reason given")


def export_library(built, path, compiler, behind=(), options=()):
    """
    Link what TVM built, by a compiler (words; None: this machine's), and files behind it, with options of the compiler.

    TVM gives each object the same weak functions, such as __truncsfhf2, and the linker takes the first. TVM's own object has
    them for every processor, so it comes before objects for better ones.
    """
    compiler = compiler or compiler_here()

    def link(output, objects, options):
        command = [*compiler, "-shared", "-fPIC", "-o", output, *options, *objects, *behind]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode:
            raise CompileError(f"{shlex.join(compiler)} does not link the module: {why_unlinked(done.stdout)}")

    link.object_format = "o"
    built.export_library(str(path), fcompile=link, options=list(options))


def host_of(name, processor):
    """The options of TVM for a target's processor: cortex-a76, cortex-a53+dotprod, +v, or x86-64-v3, in short v3."""
    host = dict(TARGETS[name].host)
    if processor:
        model, *features = processor.split("+")
        if model:
            host["mcpu"] = f"x86-64-{model[-2:]}" if LEVEL.fullmatch(model) else model
        if features:
            host["mattr"] = [*host.get("mattr", []), *(f"+{feature}" for feature in features)]
    return host


def processors_of(target, argument):
    """The names in --processor: the first is for code that all run, the others for code that better ones run."""
    if target == "cpu":
        argument = argument or DEFAULT
    names = argument.split(",") if argument else [None]
    if len(names) > 1 and target != "cpu":
        raise CompileError(f"--processor {argument}: --target {target} has code for one processor")
    if not all(CHOSEN.fullmatch(name) for name in names[1:]):
        raise CompileError(f"--processor {argument}: behind the first name come levels of x86-64: v3, v4, v4+avx512vnni")
    levels = [found[1] for found in (CHOSEN.fullmatch(name) for name in names if name) if found]
    if sorted(set(levels)) != levels:
        raise CompileError(f"--processor {argument}: the better processor comes behind the lesser one")
    return names


def key_of(target):
    """A level of x86-64 as symbols have it: x86_64_v3, x86_64_v4_avx512vnni."""
    features = (str(one) for one in target.attrs.get("mattr", None) or [])
    return "".join([str(target.attrs["mcpu"]), *features]).replace("-", "_").replace("+", "_")


def check_host(host, processor):
    """Refuse what LLVM does not know: it would print a line, and compile for another processor."""
    import tvm
    from tvm.target import codegen

    # the names that LLVM knows are asked for with those of the architecture alone
    plain = tvm.target.Target({key: value for key, value in host.items() if key in ("kind", "mtriple")})
    model = host.get("mcpu")
    if model and not codegen.llvm_is_valid_cpu(model, str(plain.attrs.get("mtriple", ""))):
        raise CompileError(f"--processor {processor}: LLVM knows no processor {model} of this target")
    target = tvm.target.Target(host)
    with target:
        known = {str(feature) for feature in codegen.llvm_get_cpu_features(target)}
    for feature in host.get("mattr", []):
        if feature.startswith("+") and feature[1:] not in known:
            raise CompileError(f"--processor {processor}: LLVM knows no feature {feature} of this target")
    return target


def check_generator(device):
    """Refuse a device that this TVM was built without: its wheels have no Vulkan."""
    import tvm

    if tvm.get_global_func(f"target.build.{device}", allow_missing=True) is None:
        raise CompileError(
            f"--target {device}: TVM {tvm.__version__} here has no generator of code for it. Build TVM with "
            f"USE_{device.upper()}=ON, or take --target opencl"
        )


def tvm_target(name, processor):
    """TVM's target."""
    import tvm

    device = TARGETS[name].device
    if device:
        check_generator(device)
    host = check_host(host_of(name, processor), processor)
    if not device:
        return host
    return tvm.target.Target(CUDA if device == "cuda" else device, host=host)
