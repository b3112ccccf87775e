# SPDX-License-Identifier: MIT
"""Command lines over files of the tree, for campaigns that disturb commands. OUT stands for a path that the line writes."""

import os

OUT = "@OUT"
# verbs that tell what they could not find out, and succeed
LOOKS_AROUND = ("devices", "doctor")


def _old(place, *parts):
    return place.data("tvm-0.18", *parts)


def _new(place, *parts):
    return place.data("tvm-0.27.0.post1", *parts)


class Writing:
    """A line that writes a file or a folder; what reads that whole; and the line whose result it replaces, or None for one
    that only makes new ones."""

    def __init__(self, words, reads=None, before=None, again=True):
        self.words = words
        self.reads = reads
        self.before = (before or words) if again else None


def writing(place):
    graph = _old(place, "graph_mlp", "graph.so")
    params = _old(place, "params_file", "all.params")
    others = _old(place, "graph_mlp", "model.params")
    kernels = _old(place, "opencl_vecadd", "lib.so")
    tensors = OUT + ".safetensors"
    run = ["run", graph, "--input", "x=@" + _old(place, "graph_mlp", "in_x.npy")]
    return [
        Writing(["params", "align", params, OUT], ["params", "list", OUT], ["params", "align", others, OUT]),
        Writing(["params", "convert", params, tensors], ["params", "list", tensors], ["params", "convert", others, tensors]),
        Writing(["params", "extract", params, "-o", OUT]),
        Writing([*run, "--output", f"1x10xfloat32=>{OUT}.npy"]),
        Writing([*run, "--trace", OUT]),
        Writing([*run, "--record", OUT], again=False),
        Writing(["unpack", kernels, OUT]),
        Writing(["link", "-o", OUT, os.path.join(place.scratch, "parts", "manifest.json")], ["verify", OUT]),
        Writing(["report", graph, "-o", f"{OUT}.html"]),
    ]


def reading(place):
    """Lines that only read, and answer on their standard output."""
    graph = _old(place, "graph_mlp", "graph.so")
    add = _old(place, "host_vecadd")
    return [
        ["help"],
        ["inspect", graph, "--model"],
        ["inspect", _new(place, "tree_nested", "lib.so"), "--json"],
        ["inspect", _old(place, "vulkan_multi", "lib.so"), "--functions"],
        ["verify", graph],
        ["verify", _new(place, "tree_nested", "lib.so"), "--json"],
        ["params", "list", _old(place, "params_file", "all.params")],
        ["run", os.path.join(add, "lib.so"), "--function", "vecadd", "--input", f"@{add}/c0_in0.npy",
         "--input", f"@{add}/c0_in1.npy", "--output", "1024xfloat32", "--expect", f"@{add}/c0_out2.npy"],
        ["run", graph, "--input", "x=@" + _old(place, "graph_mlp", "in_x.npy"), "--json"],
        ["run", _old(place, "aot_mlp", "aot_packed.so"), "--input", "x=@" + _old(place, "graph_mlp", "in_x.npy")],
        ["run", _new(place, "model_mlp", "model.so"), "--function", "forward", "--input",
         "x=@" + _new(place, "model_mlp", "r0_x.npy")],
        ["run", _old(place, "host_parallel_sum", "lib.so"), "--function", "rowsum", "--input",
         "@" + _old(place, "host_parallel_sum", "c0_in0.npy"), "--output", "64xfloat32"],
        ["chat", os.path.join(place.source, "tests", "llm", "data", "bytes", "model.so"), "--tokens", "104,105",
         "--max-tokens", "2"],
        ["devices", "--json"],
        ["doctor"],
    ]
