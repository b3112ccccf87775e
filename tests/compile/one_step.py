# SPDX-License-Identifier: MIT
"""Every quantized value of a pretrained network in 8 bits, beside what the file says.

usage: one_step.py TENON NETWORKS NAME [OPTION...]    NAME is a network of networks_bench.py, options are tenon-compile's

Steps add up along a network, so that its outputs tell little. Here each operator reads what the file says of the values
before it, as inputs of their own, and what it makes may be one step of its scale away. What the file says is what ONNX
Runtime computes without optimizations: in float numbers, between rounding to 8 bits. Its own integers are counted, too.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import networks_bench
import numpy as np
import onnx
from networks_bench import command, quoted


def with_values(network):
    """The network, whose quantized values are outputs, too; and their names."""
    graph = network.graph
    constants = {constant.name: constant.data_type for constant in graph.initializer}
    rounding = [n for n in graph.node if n.op_type == "QuantizeLinear" and n.input[0] not in constants]
    for node in rounding:
        graph.output.append(onnx.helper.make_tensor_value_info(node.output[0], constants[node.input[2]], None))
    return [node.output[0] for node in rounding]


def with_given_values(network, given):
    """What reads these values reads inputs of the network in their place."""
    read = set()
    for node in network.graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in given:
            read.add(node.input[0])
            node.input[0] = f"given {node.input[0]}"
    for name in sorted(read):
        of_type = onnx.helper.np_dtype_to_tensor_dtype(given[name].dtype)
        network.graph.input.append(onnx.helper.make_tensor_value_info(f"given {name}", of_type, given[name].shape))
    return {f"given {name}": given[name] for name in read}


def outputs_of(path, arrays, as_it_is=True):
    session = networks_bench.session_of(path, 1, as_it_is)
    return dict(zip((output.name for output in session.get_outputs()), session.run(None, arrays)))


def run_tenon(tenon, module, arrays, expected, folder):
    words = [tenon, "run", str(module)]
    for i, (name, array) in enumerate(arrays.items()):
        np.save(folder / f"x{i}.npy", array)
        words += ["--input", f"{quoted(name)}=@{folder / f'x{i}.npy'}"]
    for i, array in enumerate(expected):
        shape = "".join(f"{extent}x" for extent in array.shape)
        words += ["--output", f"{shape}{array.dtype}=>{folder / f'y{i}.npy'}"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"y{i}.npy") for i in range(len(expected))]


def furthest(values, expected):
    """Steps that a value is away at most, and how many are at all."""
    steps = {name: np.abs(values[name].astype(int) - expected[name].astype(int)) for name in expected}
    for name, far in steps.items():
        if far.max() > 1:
            print(f"{name}: {(far > 1).sum()} of {far.size} are up to {far.max()} steps away")
    return max(far.max() for far in steps.values()), sum((far > 0).sum() for far in steps.values())


def main():
    tenon, networks, title, *options = sys.argv[1:]
    network = networks_bench.NETWORKS[title]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = networks_bench.quantized(Path(networks) / network.file, network.inputs, network.only, folder)
        arrays = networks_bench.random_arrays(path, network.inputs, 0)
        model = onnx.load(networks_bench.with_shapes(path, network.inputs, folder))
        names = with_values(model)
        onnx.save(model, path := folder / "values.onnx")
        expected = outputs_of(path, arrays)
        arrays |= with_given_values(model, {name: expected[name] for name in names})
        onnx.save(model, path := folder / "given.onnx")
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            command.run(command.parse_arguments([str(path), "-o", str(folder / "model.so"), *options]))
        found = run_tenon(tenon, folder / "model.so", arrays, expected.values(), folder)
        found, theirs = dict(zip(expected, found)), outputs_of(path, arrays, as_it_is=False)
    quantized = {name: expected[name] for name in names}
    count = sum(array.size for array in quantized.values())
    print(f"of {count} numbers in {len(names)} values ONNX Runtime has {furthest(theirs, quantized)[1]} away")
    most, away = furthest(found, quantized)
    print(f"and Tenon {away}, by {most} at most")
    sys.exit(0 if count and most <= 1 else 1)


main()
