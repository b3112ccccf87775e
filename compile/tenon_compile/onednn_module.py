# SPDX-License-Identifier: MIT
"""Regions of oneDNN as modules of a file: graphs in JSON (runtime/byoc/json_graph.h), and their constants."""

import json
import struct

import numpy

from .graph import TO_LAST
from .relinking import taken_apart

TENSOR_MAGIC = 0xDD5E40F096B4A13F
CPU = 1  # DLDeviceType
CODES = {"i": 0, "u": 1, "f": 2}  # DLDataTypeCode, by numpy's kinds


def number(value):
    return struct.pack("<Q", value)


def text(value):
    value = value.encode()
    return number(len(value)) + value


def texts(values):
    return number(len(values)) + b"".join(map(text, values))


def tensor(array):
    array = numpy.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    code, bits = CODES[array.dtype.kind], 8 * array.itemsize
    head = struct.pack("<QQiiiBBH", TENSOR_MAGIC, 0, CPU, 0, array.ndim, code, bits, 1)
    return head + struct.pack(f"<{array.ndim}q", *array.shape) + number(array.nbytes) + array.tobytes()


def attributes_of(node):
    """The attributes of a kernel: lists of texts."""
    attributes = dict(node.attributes)
    if node.post_ops:
        names, alphas, betas = zip(*node.post_ops)
        attributes |= {"post_ops": names, "post_alpha": alphas, "post_beta": betas}
    return {key: [[str(value) for value in values]] for key, values in attributes.items()}


def shape_of(node):
    """In the order in which a region has it."""
    return [node.shape[axis] for axis in TO_LAST] if node.last else list(node.shape)


def graph_of(region):
    """The graph of a region, and its constants: arrays by their names."""
    nodes, numbers, constants = [], {}, {}

    def add(node, op, name, **more):
        numbers[node] = len(nodes)
        shape = shape_of(node) if op != "const" else list(node.shape)
        attributes = more.pop("attrs", {}) | {"dtype": [[node.dtype]], "shape": [[shape]]}
        nodes.append({"op": op, "name": name, **more, "attrs": attributes})

    for node in region.reads:
        add(node, "input", f"{region.name}_input_{len(nodes)}")
    for node in region.inside:
        for one in node.inputs:
            if one.is_constant() and one not in numbers:
                name = f"{region.name}_const_{len(constants)}"
                constants[name] = one.value
                add(one, "const", name)
    arguments = list(range(len(nodes)))
    for node in region.inside:
        inputs = [[numbers[one], 0, 0] for one in node.inputs]
        add(node, "kernel", node.kernel, inputs=inputs, attrs=attributes_of(node))
    graph = {
        "symbol": region.name, "nodes": nodes, "arg_nodes": arguments,
        "heads": [[numbers[node], 0, 0] for node in region.results], "node_row_ptr": list(range(len(nodes) + 1)),
    }  # fmt: skip
    return graph, constants


def payloads_of(regions):
    """The bytes of a module for each region, and of the one that gives them their constants."""
    payloads, constants = [], []
    for region in regions:
        graph, own = graph_of(region)
        payloads.append(text(region.name) + text(json.dumps(graph)) + texts(list(own)))
        constants.append(own)
    arrays = {name: array for own in constants for name, array in own.items()}
    loader = texts(list(arrays)) + number(len(arrays)) + b"".join(map(tensor, arrays.values()))
    loader += texts([region.name for region in regions])
    loader += number(len(regions)) + b"".join(texts(list(own)) for own in constants)
    return payloads, loader


def add_regions(module, regions):
    """Let a module of Relax call the regions: it imports their constants, and these import the regions."""
    payloads, loader = payloads_of(regions)
    with taken_apart(module) as (folder, modules):

        def add(kind, name, payload):
            (folder / name).write_bytes(payload)
            modules.append(
                {"loader": kind, "codegen_id": kind, "target_key": kind, "file_name": "", "file": name, "imports": []}
            )
            return len(modules) - 1

        executable = next(one for one in modules if one["loader"] == "relax.VMExecutable")
        executable["imports"].append(add("const_loader", "constants.bin", loader))
        modules[-1]["imports"] = list(range(len(modules), len(modules) + len(regions)))
        for region, payload in zip(regions, payloads):
            add("dnnl_json", f"{region.name}.bin", payload)
