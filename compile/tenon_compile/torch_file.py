# SPDX-License-Identifier: MIT
"""PyTorch exported programs."""

import zipfile

from .errors import CompileError, first_line
from .imported import Imported


def check_archive(path):
    """Of what torch writes, only exported programs have something to compile."""
    try:
        names = "\n".join(zipfile.ZipFile(path).namelist())
    except zipfile.BadZipFile as error:
        raise CompileError(f"{path}: a damaged archive: {error}") from error
    remedy = "torch.export.save(torch.export.export(network.eval(), (example,)), 'network.pt2') makes one that is"
    if "data/aotinductor/" in names:
        raise CompileError(f"{path}: PyTorch compiled it for itself, it is no exported program. {remedy}")
    if "archive_format" in names or "serialized_exported_program" in names:
        return
    if "/constants.pkl" in names:
        raise CompileError(f"{path}: TorchScript, which TVM does not import, is no exported program. {remedy}")
    raise CompileError(f"{path}: weights or objects without a program, no exported program. {remedy}")


def describe(program, names, what):
    """Names, types and shapes of inputs or outputs, for model.json."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    listed = []
    for name in names:
        value = values.get(name)
        if not hasattr(value, "dtype"):
            raise CompileError(f"{what} {name} is no tensor: export a network that has only tensors")
        shape = [extent if isinstance(extent, int) else None for extent in value.shape]
        if None in shape:
            raise CompileError(f"{what} {name} has the shape {tuple(value.shape)}: export it without dynamic_shapes")
        listed.append({"name": name, "dtype": str(value.dtype).removeprefix("torch."), "shape": shape})
    return listed


def import_file(path, shapes, given):
    """A PyTorch exported program."""
    if given:
        raise CompileError("--set is for networks in ONNX: export a program without that input")
    check_archive(path)
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    try:
        program = torch.export.load(path)
    except Exception as error:  # torch.export.load() raises many kinds
        raise CompileError(f"{path}: PyTorch does not load it: {first_line(error)}") from error
    inputs = describe(program, program.graph_signature.user_inputs, "input")
    outputs = describe(program, program.graph_signature.user_outputs, "output")
    fixed = {value["name"]: value["shape"] for value in inputs}
    for name, shape in shapes.items():
        if fixed.get(name) != shape:
            raise CompileError(f"--shape {name}: the program was exported for {fixed}; export it for another shape")
    try:
        return Imported(from_exported_program(program, unwrap_unit_return_tuple=True), inputs, outputs)
    except Exception as error:  # the importer raises whatever its Python or TVM's C++ does
        raise CompileError(f"{path}: TVM does not import it: {first_line(error)}") from error
