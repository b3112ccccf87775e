# SPDX-License-Identifier: MIT
"""What tenon-compile did to a network, as text for --explain."""

import math
from collections import Counter

from .targets import CHOSEN, processors_of


# levels of x86-64: what they have, and since when machines do
LEVELS = {
    "v1": "SSE2: every x86-64",
    "v2": "SSE4.2: since about 2009",
    "v3": "AVX2: vectors twice as wide, multiply-add; since about 2013",
    "v4": "AVX-512: vectors four times as wide; servers since about 2017",
    "v4+avx512vnni": "AVX-512 with products of four bytes; servers since about 2019",
}
# what better processors of other targets have, which --processor takes
BETTER = {
    "aarch64": "+dotprod makes quantized networks faster (Cortex-A55, A75 and later), +dotprod+i8mm those on newer ones",
    "armhf": "the target armv7 has NEON: vectors of four numbers",
    "riscv64": "+v has vectors",
}


def processors(target, processor):
    """Lines of text: what code is for, and what other processors have besides."""
    names = [f"v{found[1]}" if (found := CHOSEN.fullmatch(name or "")) else name for name in processors_of(target, processor)]
    lines = ["code for " + ", and besides for ".join(processor_text(target, name) for name in names)]
    better = next((level for level in LEVELS if names[-1] in LEVELS and level > names[-1]), None)
    if better and target == "cpu":
        lines.append(f"--processor {','.join([*names, better])} adds {better} ({LEVELS[better]})")
    if target in BETTER and not processor:
        lines.append(f"--processor {BETTER[target]}" if BETTER[target].startswith("+") else BETTER[target])
    return lines


def processor_text(target, name):
    if name in LEVELS:
        return f"x86-64-{name} ({LEVELS[name]})"
    return name or f"every processor of --target {target}"


def multiply_adds(node):
    """How many multiply-adds an operator takes; 0 of those that are no product."""
    if node.op == "region":
        return sum(multiply_adds(one.original) for one in node.inside)
    if node.op in ("conv2d", "dense", "integer_conv2d", "integer_dense"):
        return node.elements * math.prod(node.inputs[1].shape[1:])
    if node.op == "conv2d_transpose":
        return node.input.elements * math.prod(node.inputs[1].shape[1:])
    if node.op == "matmul":
        return node.elements * node.inputs[0].shape[-1]
    return 0


def name_of(node):
    if node.op in ("unary", "binary", "reduce"):
        return node.function
    return node.name if node.op in ("call", "region") else node.op


def library_lines(report):
    """Lines of text: which regions a library computes, and of what they are made."""
    regions = [node for node in report.graph.nodes() if node.op == "region"]
    total = sum(multiply_adds(node) for node in regions) / 1e6
    count = f"{len(regions)} region{'s' if len(regions) != 1 else ''}"
    lines = [f"{report.library} computes {count}, {total:.1f} million multiply-adds"]
    lines += [f"  {count:5} × {name}" for name, count in sorted(report.library_rules.items())]
    for region in regions:
        counts = Counter(node.kernel for node in region.inside)
        kernels = ", ".join(f"{count} × {name}" for name, count in sorted(counts.items()))
        lines.append(f"  {region.name}: {len(region.inputs)} inputs, {len(region.results)} results; {kernels}")
    lines.append(f"expected thousands of multiply-adds of vectors, in {report.library} and with the schedules")
    for (name, there, here, chosen), count in sorted(report.library_choices.items(), key=lambda one: -one[0][2]):
        who = report.library if chosen else "schedules"
        lines.append(f"  {count:5} × {name}: {there // 1000} and {here // 1000}: {who}")
    if report.library_inexact:
        lines.append(
            f"{report.library_inexact} products of 8 bits stay with the schedules: {report.library} adds them exactly on processors"
            " with AVX-512 VNNI or AVX-VNNI, as --processor v4+avx512vnni names them"
        )
    return lines


def explain(report):
    """Lines of text."""
    lines = []
    if report.left:
        lines.append(f"left to TVM's default schedules: {report.left}")
    if report.rules:
        lines.append("rules")
        lines += [f"  {count:5} × {name}" for name, count in sorted(report.rules.items())]
    if report.graph and report.library:
        lines += library_lines(report)
    if report.graph:
        counts, costs = Counter(), Counter()
        for node in report.graph.nodes():
            if node.op not in ("input", "constant"):
                counts[name_of(node)] += 1
                costs[name_of(node)] += multiply_adds(node)
        total = sum(costs.values())
        lines.append(f"operators behind the rules, {total / 1e6:.1f} million multiply-adds")
        for name, count in sorted(counts.items(), key=lambda item: (-costs[item[0]], item[0])):
            share = f"{costs[name] / 1e6:10.1f} million, {100 * costs[name] / total:3.0f} %" if costs[name] else ""
            lines.append(f"  {count:5} × {name:24} {share}".rstrip())
    if report.kernels:
        kinds = Counter(rule.split(":")[0] for rule in report.kernels.values())
        lines.append("kernels: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        lines += [f"  {name}: {rule}" for name, rule in report.kernels.items() if rule.startswith("default")]
    return lines
