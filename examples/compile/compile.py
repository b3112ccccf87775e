#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile a network in ONNX, or a PyTorch exported program, to a module that Tenon runs.

    pip install -r examples/compile/requirements.txt
    python3 examples/compile/compile.py network.onnx -o model.so --shape image=1,3,224,224
    tenon run model.so --input image=@image.npy --top 5

A PyTorch exported program (.pt2, of torch.export.save()) needs "pip install -r examples/compile/requirements-torch.txt" too.
Inputs keep the names of the file. Their names and those of the outputs, with shapes and types, are written to
model.json, and --labels copies the names of the classes to model.labels.txt.
"""

import argparse
import json
import re
import shutil
import sys
import zipfile
from pathlib import Path

# name of a target: what TVM calls the device (None: the processor), the processor's code, and its compiler
TARGETS = {
    "cpu": (None, {"kind": "llvm"}, None),
    "aarch64": (None, {"kind": "llvm", "mtriple": "aarch64-linux-gnu"}, "aarch64-linux-gnu-gcc"),
    "armhf": (None, {"kind": "llvm", "mtriple": "arm-linux-gnueabihf", "mfloat-abi": "hard"}, "arm-linux-gnueabihf-gcc"),
    "riscv64": (
        None,
        {"kind": "llvm", "mtriple": "riscv64-linux-gnu", "mattr": ["+m", "+a", "+f", "+d", "+c"], "mabi": "lp64d"},
        "riscv64-linux-gnu-gcc",
    ),
    "opencl": ("opencl", {"kind": "llvm"}, None),
    "cuda": ("cuda", {"kind": "llvm"}, None),
}

# operators that have no inputs, and yet another result each time
NOT_FOLDED = {"RandomNormal", "RandomUniform"}


def fail(message):
    sys.exit(f"compile.py: {message}")


def shapes_of(arguments):
    """NAME=1,3,224,224 of each --shape, as a dictionary."""
    shapes = {}
    for argument in arguments:
        match = re.fullmatch(r"(.+)=(\d+(?:,\d+)*)", argument)
        if not match:
            fail(f"--shape {argument}: expected NAME=1,3,224,224")
        shapes[match[1]] = [int(extent) for extent in match[2].split(",")]
    return shapes


def tensors(values, shapes):
    """Names, types and shapes of inputs or outputs, for model.json; a shape is null if it varies."""
    from onnx import helper

    listed = []
    for value in values:
        tensor = value.type.tensor_type
        dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        listed.append({"name": value.name, "dtype": dtype, "shape": shapes.get(value.name)})
    return listed


def fix_shapes(network, shapes):
    """Write the shapes to the network's inputs, and check that no extent is left open."""
    constants = {tensor.name for tensor in network.graph.initializer}
    inputs = [value for value in network.graph.input if value.name not in constants]
    names = [value.name for value in inputs]
    for name in shapes:
        if name not in names:
            fail(f"--shape {name}: no such input. Inputs: {', '.join(names)}")
    for value in inputs:
        dimensions = value.type.tensor_type.shape.dim
        if value.name in shapes:
            wanted = shapes[value.name]
            if len(wanted) != len(dimensions):
                fail(f"--shape {value.name}: the network has {len(dimensions)} dimensions, not {len(wanted)}")
            for dimension, extent in zip(dimensions, wanted):
                dimension.dim_value = extent
        open_extents = [d.dim_param or "?" for d in dimensions if not d.HasField("dim_value") or d.dim_value < 1]
        if open_extents:
            text = ",".join(str(d.dim_value) if d.dim_value > 0 else (d.dim_param or "?") for d in dimensions)
            fail(f"input {value.name} has the shape {text}: give it with --shape {value.name}=…")
    return inputs


def known_shapes(network):
    """The shapes of all tensors that have no open extent, by name."""
    import onnx

    graph = onnx.shape_inference.infer_shapes(network, data_prop=True).graph
    shapes = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        dimensions = value.type.tensor_type.shape.dim
        if value.type.tensor_type.HasField("shape") and all(d.dim_value > 0 for d in dimensions):
            shapes[value.name] = [d.dim_value for d in dimensions]
    return shapes


def fold(network):
    """Compute what no longer depends on inputs, now that their shapes are fixed.

    Networks take their own shapes apart to reshape tensors. TVM's importer wants these shapes as constants.
    """
    import numpy
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator

    graph = network.graph
    while True:
        # shapes that were exported, with open extents, are in the way of those that can be inferred now
        del graph.value_info[:]
        shapes = known_shapes(network)
        constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        kept = []
        for node in graph.node:
            values = None
            if node.op_type == "Shape" and not node.attribute and node.input[0] in shapes:
                values = [numpy.array(shapes[node.input[0]], dtype="int64")]
            elif all(name in constants for name in node.input if name) and node.op_type not in NOT_FOLDED:
                evaluator = ReferenceEvaluator(node)
                values = evaluator.run(None, {name: constants[name] for name in node.input if name})
            if values is None:
                kept.append(node)
                continue
            for name, value in zip(node.output, values):
                constants[name] = numpy.asarray(value)
                graph.initializer.append(numpy_helper.from_array(constants[name], name))
        if len(kept) == len(graph.node):
            return
        del graph.node[:]
        graph.node.extend(kept)


def import_onnx(path, shapes):
    """TVM's module of an ONNX file, and the inputs and outputs of the file."""
    import onnx
    from tvm.relax.frontend.onnx import from_onnx

    network = onnx.load(path)
    inputs = fix_shapes(network, shapes)
    fold(network)
    known = known_shapes(network)
    module = from_onnx(network, shape_dict=shapes or None, keep_params_in_input=False)
    return module, tensors(inputs, known), tensors(network.graph.output, known)


def check_archive(path):
    """Of what torch writes, only exported programs have something to compile."""
    names = "\n".join(zipfile.ZipFile(path).namelist())
    remedy = "torch.export.save(torch.export.export(network.eval(), (example,)), 'network.pt2') makes one that is"
    if "data/aotinductor/" in names:
        fail(f"{path}: PyTorch compiled it for itself, it is no exported program. {remedy}")
    if "archive_format" in names or "serialized_exported_program" in names:
        return
    if "/constants.pkl" in names:
        fail(f"{path}: TorchScript, which TVM does not import, is no exported program. {remedy}")
    fail(f"{path}: weights or objects without a program, no exported program. {remedy}")


def describe_values(program, names, what):
    """As tensors(), of a PyTorch exported program."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    listed = []
    for name in names:
        value = values.get(name)
        if not hasattr(value, "dtype"):
            fail(f"{what} {name} is no tensor: export a network that has only tensors")
        shape = [extent if isinstance(extent, int) else None for extent in value.shape]
        if None in shape:
            fail(f"{what} {name} has the shape {tuple(value.shape)}: export it without dynamic_shapes")
        listed.append({"name": name, "dtype": str(value.dtype).removeprefix("torch."), "shape": shape})
    return listed


def import_torch(path, shapes):
    """TVM's module of a PyTorch exported program, and its inputs and outputs."""
    check_archive(path)
    try:
        import torch
    except ImportError as error:
        fail(f"{error}. Install: pip install -r {Path(__file__).with_name('requirements-torch.txt')}")
    from tvm.relax.frontend.torch import from_exported_program

    program = torch.export.load(path)
    inputs = describe_values(program, program.graph_signature.user_inputs, "input")
    outputs = describe_values(program, program.graph_signature.user_outputs, "output")
    fixed = {value["name"]: value["shape"] for value in inputs}
    for name, shape in shapes.items():
        if fixed.get(name) != shape:
            fail(f"--shape {name}: the program was exported for {fixed}; export it for another shape")
    return from_exported_program(program, unwrap_unit_return_tuple=True), inputs, outputs


def compile_module(module, target_name):
    import tvm
    from tvm import relax
    from tvm.s_tir import dlight

    device, host, _ = TARGETS[target_name]
    target = tvm.target.Target(device, host=tvm.target.Target(host)) if device else tvm.target.Target(host)
    with target:
        module = relax.get_pipeline("zero")(module)
        if device:
            rules = (dlight.gpu.Matmul(), dlight.gpu.GEMV(), dlight.gpu.Reduction(), dlight.gpu.Fallback())
            module = dlight.ApplyDefaultSchedule(*rules)(module)
    return relax.build(module, target=target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", type=Path, help="the ONNX file, or a PyTorch exported program (.pt2)")
    parser.add_argument("-o", "--output", type=Path, default=Path("model.so"), help="the module (model.so)")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1,3,224,224", help="shape of an input")
    parser.add_argument("--target", choices=sorted(TARGETS), default="cpu", help="the device (cpu)")
    parser.add_argument("--processor", metavar="NAME", help="LLVM's name of the processor, such as cortex-a72")
    parser.add_argument("--cc", help="compiler that links the module, for a target that is not this machine")
    parser.add_argument("--labels", type=Path, help="names of the classes, one a line")
    options = parser.parse_args()

    try:
        import onnx  # noqa: F401
        import tvm
        from tvm.support import cc
    except ImportError as error:
        fail(f"{error}. Install: pip install -r {Path(__file__).with_name('requirements.txt')}")
    if not options.network.is_file():
        fail(f"{options.network}: no such file")
    if options.processor:
        TARGETS[options.target][1]["mcpu"] = options.processor

    importer = import_torch if zipfile.is_zipfile(options.network) else import_onnx
    module, inputs, outputs = importer(options.network, shapes_of(options.shape))
    built = compile_module(module, options.target)

    compiler = options.cc or TARGETS[options.target][2]
    if compiler and not shutil.which(compiler.split()[0]):
        fail(f"{compiler} is missing (Debian: apt install gcc-{compiler.removesuffix('-gcc')}), or give --cc")
    how = {"fcompile": cc.cross_compiler(compiler)} if compiler else {}
    built.export_library(str(options.output), **how)

    described = {
        "network": options.network.name,
        "target": options.target,
        "tvm": tvm.__version__,
        "inputs": inputs,
        "outputs": outputs,
    }
    options.output.with_suffix(".json").write_text(json.dumps(described, indent="\t") + "\n")
    if options.labels:
        shutil.copyfile(options.labels, options.output.with_suffix(".labels.txt"))
    first = described["inputs"][0]
    shape = "x".join(str(extent) for extent in first["shape"])
    print(f"{options.output}: try tenon run {options.output} --input {first['name']}={shape}x{first['dtype']}=random:1")


if __name__ == "__main__":
    main()
