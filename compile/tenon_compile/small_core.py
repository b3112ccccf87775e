# SPDX-License-Identifier: MIT
"""Kernels that run on a small core beside the processor, whose firmware is mortise; the processor launches them.

TVM compiles each kernel for the core. Clang links the code to one program, with a table of its kernels and what they call
(firmware/kernels/tvm.h). For each kernel, the module has a function of the host, which launches it.
"""

import math
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .errors import CompileError
from .relinking import taken_apart, tenon_command

TREE = Path(__file__).parents[2]
# struct mortise_entry.name has room for 119 letters
NAME_MOST = 100
# TVM_OPERANDS_MOST
OPERANDS_MOST = 64
# TVMStructFieldKind
DATA, DEVICE_ID, DEVICE_TYPE = 1, 9, 10
# of what tvm.c allocates
GRAIN = 128


@dataclass(frozen=True)
class Core:
    """How clang makes programs for a core; what of the tree is linked to them besides."""

    flags: tuple
    sources: tuple


CORES = {
    "hexagon": Core(
        ("--target=hexagon-unknown-linux-musl", "-mcpu=hexagonv66", "-G0"), ("firmware/hexagon/builtins.c",)
    ),
}
FLAGS = (
    "-std=c11", "-O2", "-ffreestanding", "-fno-builtin", "-fvisibility=hidden", "-fno-common", "-ffunction-sections",
    "-fdata-sections", "-fno-asynchronous-unwind-tables", "-fuse-ld=lld", "-nostdlib", "-static", "-Wl,--emit-relocs",
    "-Wl,-e,0", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-z,max-page-size=64",
)  # fmt: skip
SOURCES = ("firmware/kernels/tvm.c", "firmware/kernels/math.c", "firmware/boards/memory.c")


def core_compiler():
    """The compiler of the core, or an error that names what is missing."""
    compiler = os.environ.get("HEXAGON_CC", "clang")
    for name, package in ((compiler.split()[0], "clang"), ("ld.lld", "lld")):
        if not shutil.which(name):
            raise CompileError(f"{name} is missing (Debian: apt install {package})")
    return compiler.split()


def find_tools():
    core_compiler()
    tenon_command()


# ---- TVM's module


def launcher(name, kernel, count):
    """A function of the host that launches a kernel on the device of its first tensor."""
    from tvm import tirx

    tensors = [tirx.Var(f"tensor_{i}", "handle") for i in range(count)]
    device = [tirx.tvm_struct_get(tensors[0], 0, field, "int32") for field in (DEVICE_TYPE, DEVICE_ID)]
    data = [tirx.tvm_struct_get(tensor, 0, DATA, "handle") for tensor in tensors]
    calls = [tirx.call_packed("__tvm_set_device", *device), tirx.call_packed(kernel, *data)]
    body = tirx.SeqStmt([tirx.Evaluate(call) for call in calls])
    return tirx.PrimFunc(tensors, body).with_attr("global_symbol", name)


def by_name(function):
    """The function with calls of its kernels by name: the launchers have other arguments."""
    import tvm
    from tvm import relax
    from tvm.relax.expr_functor import PyExprMutator, mutator

    @mutator
    class ByName(PyExprMutator):
        def visit_call_(self, call):  # pylint: disable=arguments-differ
            call = super().visit_call_(call)
            if call.op != tvm.ir.Op.get("relax.call_tir"):
                return call
            return relax.call_dps_packed(call.args[0].name_hint, call.args[1], call.ty_args[0])

    return ByName().visit_expr(function)


def split(module):
    """The module with launchers in place of its kernels, and the kernels by the names that the core knows them by."""
    import tvm
    from tvm import relax

    kernels, rest = {}, {}
    for variable, function in module.functions.items():
        name = variable.name_hint
        if isinstance(function, relax.Function):
            rest[name] = by_name(function)
            continue
        kernel = re.sub(r"\W", "_", f"k{len(kernels)}_{name}")[:NAME_MOST]
        kernels[kernel] = function.with_attr("global_symbol", kernel)
        rest[name] = launcher(name, kernel, len(function.params))
    return tvm.IRModule(rest), kernels


# ---- the program of the core


def shape_of(kernel, buffer):
    extents = [getattr(extent, "value", None) for extent in buffer.shape]
    if None in extents:
        raise CompileError(f"{kernel} has a tensor of any size; kernels of a small core take fixed shapes: --shape")
    return [int(extent) for extent in extents]


def operands_of(kernel, function):
    """The tensors of a kernel, in C."""
    from tvm import DataType

    shapes, rows = [], []
    if len(function.params) > OPERANDS_MOST:
        raise CompileError(f"{kernel} takes {len(function.params)} tensors; a kernel of a small core takes {OPERANDS_MOST}")
    for i, buffer in enumerate(function.params):
        shape = shape_of(kernel, buffer)
        dtype = DataType(str(buffer.dtype))
        shapes.append(f"static const int64_t {kernel}_{i}[] = {{ {', '.join(map(str, shape or [1]))} }};\n")
        rows.append(f"{{ {{ {dtype.type_code}, {dtype.bits}, 1 }}, {len(shape)}, {kernel}_{i} }}")
    return f"{''.join(shapes)}static const struct tvm_operand {kernel}_operands[] = {{ {', '.join(rows)} }};\n"


def workspace_of(function):
    """At most how many bytes a function allocates while it runs."""
    import tvm_ffi
    from tvm import DataType, s_tir

    sizes = []

    def add(block):
        for buffer in block.alloc_buffers:
            elements = math.prod(int(extent) for extent in buffer.shape)
            size = elements * ((DataType(str(buffer.dtype)).bits + 7) // 8)
            sizes.append((size + GRAIN - 1) // GRAIN * GRAIN)

    tvm_ffi.structural_walk(function.body, [(s_tir.SBlock, add)], order="post")
    return sum(sizes)


def table_of(kernels):
    """The source of the program's table and workspace."""
    lines = ['#include "firmware/kernels/tvm.h"\n\n']
    for kernel, function in kernels.items():
        types = " ".join(["handle"] * len(function.params))
        lines.append(operands_of(kernel, function))
        lines.append(f'TVM_KERNEL({kernel}, {kernel}, {kernel}_operands, "{types}");\n\n')
    lines.append(f"TVM_WORKSPACE({max(map(workspace_of, kernels.values()))});\n")
    return "".join(lines)


def unresolved(text):
    """What a linker says, in short."""
    names = sorted({line.split(": ")[-1].strip() for line in text.splitlines() if "undefined symbol" in line})
    if names:
        return f"an operator calls {', '.join(names)}, which the core does not have (firmware/kernels/math.c)"
    return text.strip().splitlines()[-1] if text.strip() else "no reason given"


def make_program(kernels, name, target, path):
    """Compile and link the kernels to the program of a core."""
    import tvm

    core = CORES[name]
    with tempfile.TemporaryDirectory() as folder:
        table, code = Path(folder) / "table.c", Path(folder) / "kernels.o"
        table.write_text(table_of(kernels), encoding="ascii")
        # the shapes that code would check are those of the table
        with tvm.transform.PassContext(config={"tirx.disable_assert": True}):
            tvm.compile(tvm.IRModule(kernels), target=target).mod.write_to_file(str(code), "o")
        sources = [str(TREE / source) for source in (*SOURCES, *core.sources)]
        command = [
            *core_compiler(), *core.flags, *FLAGS, f"-I{TREE / 'include'}", "-iquote", str(TREE),
            "-T", str(TREE / "firmware/kernels/kernel.ld"), str(table), str(code), *sources, "-o", str(path),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(unresolved(done.stderr))


# ---- the file


def add_program(module, program):
    """Let the host code of a module import the program of a core."""
    with taken_apart(module) as (folder, modules):
        shutil.copyfile(program, folder / "kernels.mortise")
        host = next(one for one in modules if one["loader"] == "native")
        host["imports"].append(len(modules))
        modules.append(
            {"loader": "mortise", "codegen_id": "mortise", "target_key": "mortise", "file_name": "",
             "file": "kernels.mortise", "imports": []}
        )  # fmt: skip
