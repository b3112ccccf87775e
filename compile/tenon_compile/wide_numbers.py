# SPDX-License-Identifier: MIT
"""Numbers in 16 bits are computed in float32, as ONNX Runtime does: rules and schedules know those.

Every operator that has a node of its own is computed in float32; moves of values that are still in 16 bits stay so.
"""

from .graph import Graph, Node, constant, is_cast
from .rules import rewrite

HALVES = ("float16", "bfloat16")
EXACT = ("bool", "int8", "uint8")  # numbers that 16 bits hold
MOVES = ("reshape", "transpose", "slice", "concat", "broadcast")  # they stay in 16 bits if what they move is
EARLY_RULES = {"maximum-of-stack"}  # they look for an operator that is kept, and would see a cast behind it


def cast(node, dtype):
    return Node("cast", [node], node.shape, dtype)


def in_float32(graph):
    """A graph whose nodes of 16 bits are computed in float32."""
    copies, wide, casts = {}, {}, {}  # of a node: what stands for it, what it is in float32, and its cast if it has 16 bits

    def operand(node):
        if node.dtype not in HALVES:
            return copies[node]
        if node in wide:
            return wide[node]
        if node not in casts:
            casts[node] = constant(node.value, "float32") if node.is_constant() else cast(copies[node], "float32")
        return casts[node]

    def stays(node):
        moved = node.op in MOVES and not any(one in wide for one in node.inputs)
        return node.op == "call" or node.dtype not in HALVES or moved

    for node in graph.nodes():
        if node.op == "input" or node.is_constant():
            copies[node] = node
        elif is_cast(node) and node.dtype == "float32" and node.input in wide:
            copies[node] = wide[node.input]
        elif is_cast(node) and node.dtype in HALVES and node.input.dtype in EXACT:
            wide[node] = cast(copies[node.input], "float32")
            copies[node] = cast(wide[node], node.dtype)
        elif stays(node):
            copies[node] = node.like([copies[one] for one in node.inputs])
        else:
            wide[node] = Node(node.op, [operand(one) for one in node.inputs], node.shape, "float32", node.attrs)
            copies[node] = cast(wide[node], node.dtype)
    return Graph(graph.inputs, [copies[node] for node in graph.outputs])


def rewritten_in_float32(graph):
    """A graph of these, rewritten; how often each rule was applied."""
    early = rewrite(graph, only=EARLY_RULES)
    wide = in_float32(graph)
    return wide, early + rewrite(wide)
