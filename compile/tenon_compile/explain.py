# SPDX-License-Identifier: MIT
"""What tenon-compile did to a network, as text for --explain."""

import math
from collections import Counter


def multiply_adds(node):
    """How many multiply-adds an operator takes; 0 of those that are no product."""
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
    return node.name if node.op == "call" else node.op


def explain(report):
    """Lines of text."""
    lines = []
    if report.left:
        lines.append(f"left to TVM's default schedules: {report.left}")
    if report.rules:
        lines.append("rules")
        lines += [f"  {count:5} × {name}" for name, count in sorted(report.rules.items())]
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
