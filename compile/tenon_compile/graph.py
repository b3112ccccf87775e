# SPDX-License-Identifier: MIT
"""A network as a graph of nodes, which rules rewrite.

A node is one tensor. Operators that rules know have a name and attributes of their own, which functions of
relax_graph.py give it; all others are calls of Relax that are kept as they are.
"""

import math
from dataclasses import dataclass, field

import numpy


TO_LAST = (0, 2, 3, 1)  # axes of NCHW in the order NHWC


@dataclass(eq=False)
class Node:
    op: str
    inputs: list
    shape: tuple
    dtype: str = "float32"
    attrs: dict = field(default_factory=dict)
    value: numpy.ndarray | None = None  # of a constant

    def __post_init__(self):
        self.shape = tuple(int(extent) for extent in self.shape)

    def __getattr__(self, name):
        """An attribute of the operator."""
        if name.startswith("__") or name not in self.__dict__.get("attrs", {}):
            raise AttributeError(f"{self.__dict__.get('op')} has no attribute {name}")
        return self.attrs[name]

    @property
    def input(self):
        return self.inputs[0]

    @property
    def elements(self):
        return math.prod(self.shape)

    def is_constant(self):
        return self.op == "constant"

    def scalar(self):
        """The value of a constant that has one, or the same value everywhere; None of others."""
        if self.op != "constant" or not self.value.size or self.value.dtype.kind != "f":
            return None
        first = self.value.reshape(-1)[0]
        return float(first) if (self.value == first).all() else None

    def like(self, inputs, **attrs):
        """The same operator and type with other inputs."""
        return Node(self.op, inputs, self.shape, self.dtype, {**self.attrs, **attrs})


def constant(value, dtype=None):
    value = numpy.asarray(value, dtype)
    return Node("constant", [], value.shape, str(value.dtype), value=value)


def is_cast(node):
    """Whether a node is the numbers of another in another type: one of wide_numbers.py, or a call that was kept."""
    return node.op == "cast" or (node.op == "call" and node.name == "relax.astype")


def topological(outputs, known=()):
    """All nodes that outputs need, each behind its inputs, without those that are known."""
    done, order = set(), []
    stack = [(node, False) for node in reversed(outputs)]
    while stack:
        node, inputs_done = stack.pop()
        if inputs_done:
            order.append(node)
        elif node not in done and node not in known:
            done.add(node)
            stack.append((node, True))
            stack += [(one, False) for one in reversed(node.inputs)]
    return order


class Graph:
    """Inputs and outputs of a network, and which node reads which."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = list(inputs), list(outputs)
        self._readers = {}  # of each node: the nodes that read it, one as often as it does
        self._link(self.outputs)

    def _link(self, nodes):
        for node in topological(nodes, self._readers):
            self._readers[node] = []
            for one in node.inputs:
                self._readers[one].append(node)

    def _drop(self, node):
        """Forget a node that nothing reads any more, and what only it read."""
        todo = [node]
        while todo:
            one = todo.pop()
            if one not in self._readers or self._readers[one] or one in self.outputs:
                continue
            del self._readers[one]
            for of in one.inputs:
                if of in self._readers:
                    self._readers[of] = [reader for reader in self._readers[of] if reader is not one]
                    todo.append(of)

    def nodes(self):
        return topological(self.outputs)

    def __contains__(self, node):
        return node in self._readers

    def readers(self, node):
        return self._readers[node]

    def single(self, node):
        """Whether a node has one reader, which reads it once, and is no output."""
        return len(self._readers[node]) == 1 and node not in self.outputs

    def split(self, node):
        """Give each reader of a node a copy of it."""
        readers = self._readers[node]
        for reader in list(dict.fromkeys(readers))[0 if node in self.outputs else 1 :]:
            copy = Node(node.op, list(node.inputs), node.shape, node.dtype, node.attrs)
            self._readers[copy] = [one for one in readers if one is reader]
            self._readers[node] = readers = [one for one in readers if one is not reader]
            reader.inputs = [copy if one is node else one for one in reader.inputs]
            for one in node.inputs:
                self._readers[one].append(copy)

    def replace(self, old, new):
        assert old.shape == new.shape and old.dtype == new.dtype, f"{old.op} {old.shape} -> {new.op} {new.shape}"
        self._link([new])
        for reader in list(self._readers[old]):
            if reader is new:
                continue
            reader.inputs = [new if one is old else one for one in reader.inputs]
            self._readers[new].append(reader)
        self._readers[old] = [reader for reader in self._readers[old] if reader is new]
        self.outputs = [new if one is old else one for one in self.outputs]
        self._drop(old)
