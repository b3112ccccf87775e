# SPDX-License-Identifier: MIT
"""What a module can be compiled for."""

import shutil
from dataclasses import dataclass, field

from .errors import CompileError


@dataclass(frozen=True)
class Target:
    """A kind of machine: what TVM calls the device (None: the processor), the processor's code, and its compiler."""

    host: dict = field(default_factory=lambda: {"kind": "llvm"})
    device: str | None = None
    compiler: str | None = None


TARGETS = {
    "cpu": Target(),
    "aarch64": Target({"kind": "llvm", "mtriple": "aarch64-linux-gnu"}, compiler="aarch64-linux-gnu-gcc"),
    "armhf": Target(
        {"kind": "llvm", "mtriple": "arm-linux-gnueabihf", "mfloat-abi": "hard"}, compiler="arm-linux-gnueabihf-gcc"
    ),
    "riscv64": Target(
        {"kind": "llvm", "mtriple": "riscv64-linux-gnu", "mattr": ["+m", "+a", "+f", "+d", "+c"], "mabi": "lp64d"},
        compiler="riscv64-linux-gnu-gcc",
    ),
    "opencl": Target(device="opencl"),
    "cuda": Target(device="cuda"),
}


def find_compiler(name, given):
    """The compiler that links a module for a target, None for this machine's own; an error if it is missing."""
    compiler = given or TARGETS[name].compiler
    if compiler and not shutil.which(compiler.split()[0]):
        package = f"gcc-{compiler.removesuffix('-gcc')}"
        raise CompileError(f"{compiler} is missing (Debian: apt install {package}), or give --cc")
    return compiler


def tvm_target(name, processor):
    """TVM's target."""
    import tvm

    chosen = TARGETS[name]
    host = dict(chosen.host)
    if processor:
        host["mcpu"] = processor
    if chosen.device:
        return tvm.target.Target(chosen.device, host=tvm.target.Target(host))
    return tvm.target.Target(host)
