# SPDX-License-Identifier: MIT
"""ONNX's recurrent operators (LSTM, GRU, RNN) as the operators of each of their steps.

TVM's importer has none of them. The length of the sequence is known once shapes are fixed. The product of inputs and
weights is one for all steps; that of the state is one of each step.
"""

import numpy
from onnx import helper, numpy_helper

from .errors import CompileError

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}  # whose weights lie behind each other
FUNCTIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
TAKEN = {"Sigmoid", "Tanh", "Relu"}
MOST_STEPS = 512  # of an operator, in both directions together: each has kernels of its own


class Recurrent:
    """A node, and the nodes that replace it."""

    def __init__(self, node, shapes, constants, opset):
        self.node, self.kind, self.opset = node, node.op_type, opset
        self.shapes, self.constants = shapes, constants
        self.nodes, self.initializers = [], []
        self.name = next(filter(None, node.output))
        self.inputs = [*node.input, *[""] * 8]
        self.attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        self.batch_first = bool(self.attributes.get("layout", 0))
        if any(name and name not in shapes for name in self.inputs):
            self.refuse("the shape of an input is not known")
        self.steps, self.batch, _ = self.sequence_first(shapes[self.inputs[0]])
        self.directions, _, self.hidden = shapes[self.inputs[2]]
        names = [one.decode() for one in self.attributes.get("activations", [])]
        self.functions = names or FUNCTIONS[self.kind] * self.directions
        self.check()

    def refuse(self, why):
        raise CompileError(f"{self.kind} (output {self.name}): {why}")

    def check(self):
        """Refuse what is not computed here."""
        if self.attributes.get("clip") or self.attributes.get("input_forget"):
            self.refuse("clip and input_forget are not computed")
        lengths = self.inputs[4]
        if lengths and lengths not in self.constants:
            self.refuse(f"the lengths of its sequences are no constant, {lengths}: fix it with --set {lengths}=NUMBER")
        if lengths and not (lengths in self.constants and (self.constants[lengths] == self.steps).all()):
            self.refuse("sequences of several lengths are not computed")
        if self.steps * self.directions > MOST_STEPS:
            self.refuse(f"it has {self.steps * self.directions} steps, and at most {MOST_STEPS} are computed")
        if not TAKEN.issuperset(self.functions) or len(self.functions) != len(FUNCTIONS[self.kind]) * self.directions:
            self.refuse(f"its functions are {', '.join(self.functions)}; computed are {', '.join(sorted(TAKEN))}")

    def sequence_first(self, axes):
        """The first two of three axes in the order of layout 0: the same as they are, or changed."""
        return [axes[1], axes[0], *axes[2:]] if self.batch_first else list(axes)

    # ---- nodes

    def add(self, operator, *inputs, output=None, **attributes):
        output = output or f"{self.name}/{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value):
        name = f"{self.name}/constant{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def part(self, value, axis, begin, end):
        if self.opset < 10:
            return self.add("Slice", value, starts=[begin], ends=[end], axes=[axis])
        return self.add("Slice", value, *(self.constant(numpy.array([one], "int64")) for one in (begin, end, axis)))

    def reshape(self, value, *shape):
        return self.add("Reshape", value, self.constant(numpy.array(shape, "int64")))

    def gates(self, value, first, count=1):
        """Some of the gates of a value of two axes, whose second has all."""
        return self.part(value, 1, first * self.hidden, (first + count) * self.hidden)

    def of_direction(self, place, direction):
        """The part of an input that a direction has, of two axes; "" if there is no such input."""
        name = self.inputs[place]
        if not name:
            return ""
        shape = self.shapes[name]
        if self.batch_first and place in (5, 6):
            name, shape = self.add("Transpose", name, perm=[1, 0, 2]), self.sequence_first(shape)
        shape = shape[1:] if len(shape) == 3 else [1, shape[1]]
        return self.reshape(self.part(name, 0, direction, direction + 1), *shape)

    def first_state(self, place, direction):
        """What is given, or zeros."""
        return self.of_direction(place, direction) or self.constant(numpy.zeros((self.batch, self.hidden), "float32"))

    # ---- all steps

    def replace(self):
        x = self.inputs[0]
        if self.batch_first:
            x = self.add("Transpose", x, perm=[1, 0, 2])
        states, last, cells = [], [], []
        for direction in range(self.directions):
            of_steps, h, c = self.direction(x, direction)
            each = [self.reshape(state, 1, 1, self.batch, self.hidden) for state in of_steps]
            states.append(self.add("Concat", *each, axis=0))
            last.append(self.reshape(h, 1, self.batch, self.hidden))
            cells += [self.reshape(c, 1, self.batch, self.hidden)] if c else []
        self.give(0, states, 1, [2, 0, 1, 3])
        self.give(1, last, 0, [1, 0, 2])
        self.give(2, cells, 0, [1, 0, 2])

    def give(self, place, values, axis, batch_first):
        """One of the outputs: the values of both directions along an axis."""
        output = self.node.output[place] if len(self.node.output) > place else ""
        if not output:
            return
        if self.batch_first:
            self.add("Transpose", self.add("Concat", *values, axis=axis), output=output, perm=batch_first)
        else:
            self.add("Concat", *values, axis=axis, output=output)

    def direction(self, x, direction):
        """The states of all steps in the order of the sequence, the last state, and the last cells."""
        count, gates = len(FUNCTIONS[self.kind]), GATES[self.kind]
        functions = self.functions[count * direction : count * (direction + 1)]
        weights, state_weights = (self.add("Transpose", self.of_direction(i, direction), perm=[1, 0]) for i in (1, 2))
        products, bias, state_bias = self.add("MatMul", x, weights), self.of_direction(3, direction), ""
        if bias:
            products = self.add("Add", products, self.gates(bias, 0, gates))
            state_bias = self.gates(bias, gates, gates)
        h = self.first_state(5, direction)
        c = self.first_state(6, direction) if self.kind == "LSTM" else ""
        step = {"LSTM": self.lstm, "GRU": self.gru, "RNN": self.rnn}[self.kind](functions, state_weights, state_bias, direction)
        order = list(range(self.steps))
        if direction or self.attributes.get("direction") == b"reverse":
            order.reverse()
        states = {}
        for number in order:
            of_step = self.reshape(self.part(products, 0, number, number + 1), self.batch, gates * self.hidden)
            h, c = step(of_step, h, c)
            states[number] = h
        return [states[number] for number in range(self.steps)], h, c

    def plus(self, value, bias):
        return self.add("Add", value, bias) if bias else value

    # ---- a step: a function of the product of the inputs, the state and the cells

    def rnn(self, functions, weights, bias, direction):
        def step(x, h, c):
            return self.add(functions[0], self.plus(self.add("Add", x, self.add("MatMul", h, weights)), bias)), c

        return step

    def lstm(self, functions, weights, bias, direction):
        """Gates i, o, f and c; with P, the cells are an input of the first three."""
        f, g, of_cells = functions
        peepholes = self.inputs[7] and self.reshape(self.part(self.inputs[7], 0, direction, direction + 1), 1, 3 * self.hidden)
        seen = [self.gates(peepholes, number) if peepholes else "" for number in range(3)]

        def gate(value, number, c):
            value = self.gates(value, number)
            return self.add(f, self.add("Add", value, self.add("Mul", c, seen[number])) if seen[number] else value)

        def step(x, h, c):
            sums = self.plus(self.add("Add", x, self.add("MatMul", h, weights)), bias)
            new = self.add("Mul", gate(sums, 0, c), self.add(g, self.gates(sums, 3)))
            c = self.add("Add", self.add("Mul", gate(sums, 2, c), c), new)
            return self.add("Mul", gate(sums, 1, c), self.add(of_cells, c)), c

        return step

    def gru(self, functions, weights, bias, direction):
        """Gates z, r and h; the new state is (1 - z) h' + z h."""
        f, g = functions
        after = bool(self.attributes.get("linear_before_reset", 0))
        first, third = (weights, "") if after else (self.gates(weights, 0, 2), self.gates(weights, 2))

        def reset_after(x, h):
            of_state = self.plus(self.add("MatMul", h, first), bias)
            update, reset = (
                self.add(f, self.add("Add", self.gates(x, number), self.gates(of_state, number))) for number in range(2)
            )
            return update, self.add("Add", self.gates(x, 2), self.add("Mul", reset, self.gates(of_state, 2)))

        def reset_before(x, h):
            x = self.plus(x, bias)
            both = self.add(f, self.add("Add", self.gates(x, 0, 2), self.add("MatMul", h, first)))
            of_state = self.add("MatMul", self.add("Mul", self.gates(both, 1), h), third)
            return self.gates(both, 0), self.add("Add", self.gates(x, 2), of_state)

        def step(x, h, c):
            update, new = (reset_after if after else reset_before)(x, h)
            new = self.add(g, new)
            return self.add("Add", new, self.add("Mul", update, self.add("Sub", h, new))), c

        return step


def replace_recurrent_operators(network, shapes):
    """Replace them in place; whether there was any."""
    graph = network.graph
    if not any(node.op_type in GATES for node in graph.node):
        return False
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    shapes = {**shapes, **{name: list(value.shape) for name, value in constants.items()}}
    opset = next(one.version for one in network.opset_import if one.domain in ("", "ai.onnx"))
    nodes = []
    for node in graph.node:
        if node.op_type not in GATES:
            nodes.append(node)
            continue
        new = Recurrent(node, shapes, constants, opset)
        new.replace()
        nodes += new.nodes
        graph.initializer.extend(new.initializers)
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)
    return True
