# SPDX-License-Identifier: MIT
"""ONNX's Scan, and Loop of a known number of rounds, as the operators of each of their rounds."""

from onnx import GraphProto, TensorProto, helper, numpy_helper

from .folding import defined_names, rename, subgraphs
from .onnx_nodes import Nodes, new_name, replace_nodes

MOST_NODES = 8192  # that an operator may become: each has kernels of its own


class Rounds(Nodes):
    """A Scan or Loop, and the nodes of its rounds, which share the constants of the body."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.body = GraphProto.FromString(self.attributes["body"].SerializeToString())
        rename(self.body, {tensor.name: new_name(self.output) for tensor in self.body.initializer})
        self.initializers += self.body.initializer
        del self.body.initializer[:]

    def check(self, rounds):
        size = rounds * max(1, len(self.body.node))
        if size > MOST_NODES:
            self.refuse(
                f"its {rounds} rounds have {size} operators, and at most {MOST_NODES} are unrolled; export it with fewer"
            )

    def round(self, values):
        """Add the nodes of a round: its outputs, for these values of its inputs."""
        body = GraphProto.FromString(self.body.SerializeToString())
        names = {name: new_name(self.output) for name in sorted(defined_names(body))}
        names.update(zip((value.name for value in body.input), values))
        rename(body, names)
        self.nodes += body.node
        return [value.name for value in body.output]

    def axes_of(self, name, count):
        return list(self.attributes.get(name, [0] * count))

    def stacked(self, values, axis, output):
        """Values as one, behind each other along a new axis."""
        axes = self.constant([axis], "int64")
        single = [
            self.add("Unsqueeze", value, axes) if self.opset >= 13 else self.add("Unsqueeze", value, axes=[axis])
            for value in values
        ]
        self.add("Concat", *single, output=output, axis=axis)

    def give(self, values, outputs):
        for value, output in zip(values, outputs):
            if output:
                self.add("Identity", value, output=output)


class Scan(Rounds):
    def replace(self):
        scanned = self.attributes["num_scan_inputs"]
        states, inputs = list(self.node.input[:-scanned]), list(self.node.input[-scanned:])
        axes = [
            axis % len(self.shapes[name]) for axis, name in zip(self.axes_of("scan_input_axes", scanned), inputs)
        ]  # fmt: skip
        backwards = self.axes_of("scan_input_directions", scanned)
        rounds = self.shapes[inputs[0]][axes[0]]
        self.check(rounds)
        parts = []
        for number in range(rounds):
            slices = [
                self.add("Gather", name, self.constant(rounds - 1 - number if back else number, "int64"), axis=axis)
                for name, axis, back in zip(inputs, axes, backwards)
            ]
            outputs = self.round([*states, *slices])
            states, rest = outputs[: len(states)], outputs[len(states) :]
            parts.append(rest)
        self.give(states, self.node.output)
        stacked = list(self.node.output[len(states) :])
        axes, backwards = (self.axes_of(f"scan_output_{what}", len(stacked)) for what in ("axes", "directions"))
        for place, output in enumerate(stacked):
            values = [one[place] for one in parts]
            if output:
                self.stacked(values[::-1] if backwards[place] else values, axes[place], output)


class Loop(Rounds):
    def replace(self):
        rounds = int(self.constants[self.input(0)].reshape(-1)[0])
        self.check(rounds)
        states, parts = list(self.node.input[2:]), []
        for number in range(rounds):
            going = [self.constant(number, "int64"), self.constant(True)]
            _, *outputs = self.round([*going, *states])
            states, rest = outputs[: len(states)], outputs[len(states) :]
            parts.append(rest)
        self.give(states, self.node.output)
        for place, output in enumerate(self.node.output[len(states) :]):
            if output:
                self.stacked([one[place] for one in parts], 0, output)


def goes_on(body):
    """Whether the condition that a body gives is the one that it got, or true."""
    name = body.output[0].name
    while name:
        if name == body.input[1].name:
            return True
        node = next((node for node in body.node if name in node.output), None)
        if node is not None and node.op_type == "Constant":
            value = helper.get_attribute_value(node.attribute[0])
            return isinstance(value, TensorProto) and bool(numpy_helper.to_array(value).all())
        name = node.input[0] if node is not None and node.op_type == "Identity" else ""
    return False


def takes_tensors(body):
    """A type that is not given is that of the value from outside."""
    return all(value.type.WhichOneof("value") in (None, "tensor_type") for value in body.input)


def unrolls(node, shapes, constants, opset):
    """Whether an operator is unrolled."""
    body = next(subgraphs(node), None)
    if node.op_type == "Scan" and opset >= 9:
        return all(name in shapes for name in node.input)
    if node.op_type != "Loop" or node.input[0] not in constants or not takes_tensors(body):
        return False
    begins = not node.input[1] or (node.input[1] in constants and bool(constants[node.input[1]].all()))
    rounds = int(constants[node.input[0]].reshape(-1)[0])
    return begins and goes_on(body) and (rounds > 0 or len(node.output) == len(node.input) - 2)


def unroll(network, shapes, constants, opset):
    """Unroll operators of a network in place; whether there was any."""

    def rounds_of(node):
        if node.op_type not in ("Scan", "Loop") or not unrolls(node, shapes, constants, opset):
            return None
        new = (Scan if node.op_type == "Scan" else Loop)(node, shapes, constants, opset)
        new.replace()
        return new

    return replace_nodes(network.graph, rounds_of)
