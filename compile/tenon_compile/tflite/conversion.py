# SPDX-License-Identifier: MIT
"""A network of TensorFlow Lite becomes one in ONNX, an operator at a time.

A quantized tensor is kept as integers. An operator that computes gets it behind DequantizeLinear, and its result goes
through QuantizeLinear: integer_rules.py then computes both in integers. Channels are last in such a network; an
operator for which ONNX has them second stands between two Transposes, which layouts.py resolves.
"""

import numpy
from onnx import TensorProto, helper, numpy_helper

from ..errors import CompileError, first_line

OPSET = 18
TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]
ACTIVATIONS = {0: None, 1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6", 4: "TANH"}
CONVERTERS = {}  # by operator


def converts(*names):
    """A function that converts operators of these names: it gets the conversion and the operator."""

    def add(function):
        CONVERTERS.update(dict.fromkeys(names, function))
        return function

    return add


class Conversion:
    """The graph that grows."""

    def __init__(self, model):
        self.model = model
        self.nodes, self.initializers = [], []
        self.stored = {}  # by tensor: the name of the value, in the type of the tensor
        self.floats = {}  # the same as numbers of floating point, if it is quantized
        self.made_by = {}  # by tensor: the operator
        self.variables = {}  # by name: Variable

    # ---- nodes

    def refuse(self, operator, why):
        output = f" (output {self.tensor(operator.outputs[0]).name})" if operator.outputs else ""
        raise CompileError(f"{operator.name}{output}: {why}")

    def tensor(self, number):
        return self.model.tensors[number]

    def add(self, kind, *inputs, output=None, **attributes):
        return self.add_several(kind, inputs, 1, output, **attributes)[0]

    def add_several(self, kind, inputs, count, output=None, **attributes):
        outputs = [output] if output else [f"v{len(self.nodes)}.{place}" for place in range(count)]
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs

    def constant(self, value, dtype=None):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(numpy.array(value, dtype, order="C"), name))
        return name

    def integers(self, values):
        return self.constant(values, "int64")

    def reshape(self, value, shape):
        return self.add("Reshape", value, self.integers(shape))

    def transpose(self, value, axes):
        return self.add("Transpose", value, perm=list(axes))

    # ---- tensors

    def value(self, number):
        """A tensor in its own type."""
        if number not in self.stored:
            tensor = self.tensor(number)
            if tensor.data is None:
                raise CompileError(f"tensor {number} ({tensor.name}): is read before it is written, and no constant")
            self.stored[number] = self.constant(tensor.data)
        return self.stored[number]

    def number(self, number):
        """A tensor as numbers: what the integers of a quantized one stand for."""
        tensor = self.tensor(number)
        if tensor.quantization is None:
            return self.value(number)
        if number not in self.floats:
            self.floats[number] = self.dequantized(self.value(number), tensor)
        return self.floats[number]

    def dequantized(self, value, tensor, dtype=None, axis=None):
        """A value with the scales of a tensor; they lie along another axis if it was moved."""
        how = tensor.quantization
        axis = how.axis if axis is None else axis
        dtype = dtype or tensor.dtype
        if dtype not in ("int8", "uint8"):
            along = [-1 if place == axis and len(how.scales) > 1 else 1 for place in range(len(tensor.shape))]
            number = self.add("Cast", value, to=TensorProto.FLOAT)
            if how.zeros.any():
                number = self.add("Sub", number, self.constant(how.zeros.reshape(along), "float32"))
            return self.add("Mul", number, self.constant(how.scales.reshape(along)))
        if len(how.scales) > 1:
            scales, zeros = self.constant(how.scales), self.constant(how.zeros, dtype)
            return self.add("DequantizeLinear", value, scales, zeros, axis=axis)
        return self.add("DequantizeLinear", value, self.constant(how.scales[0]), self.constant(how.zeros[0], dtype))

    def give(self, number, value):
        """A tensor that an operator computed, as numbers."""
        tensor = self.tensor(number)
        how = tensor.quantization
        if how is None or tensor.dtype not in ("int8", "uint8", "int16", "int32"):
            return self.store(number, value)
        if len(how.scales) > 1:
            raise CompileError(f"tensor {number} ({tensor.name}): is computed, and has scales along an axis")
        if tensor.dtype in ("int8", "uint8"):
            scale, zero = self.constant(how.scales[0]), self.constant(how.zeros[0], tensor.dtype)
            return self.store(number, self.add("QuantizeLinear", value, scale, zero))
        limits = numpy.iinfo(tensor.dtype)
        whole = self.add("Round", self.add("Div", value, self.constant(how.scales[0])))
        if how.zeros[0]:
            whole = self.add("Add", whole, self.constant(how.zeros[0], "float32"))
        # 2^31 - 1 is none of float32's numbers
        kept = self.add("Clip", whole, self.constant(limits.min, "float32"), self.constant(min(limits.max, 2**31 - 128), "float32"))
        return self.store(number, self.add("Cast", kept, to=helper.np_dtype_to_tensor_dtype(numpy.dtype(tensor.dtype))))

    def store(self, number, value):
        """A tensor that an operator computed, in its own type."""
        if number in self.stored:
            raise CompileError(f"tensor {number} ({self.tensor(number).name}): is written twice")
        self.stored[number] = value

    def array(self, operator, place, what):
        """An input that has to be a constant."""
        number = operator.inputs[place] if place < len(operator.inputs) else -1
        if number < 0 or self.tensor(number).data is None:
            self.refuse(operator, f"{what} is no constant")
        return self.tensor(number).data

    def activated(self, operator, value, function):
        """What an operator does with its result."""
        if function not in ACTIVATIONS:
            self.refuse(operator, f"its activation {function} is not taken")
        return self.function(ACTIVATIONS[function], value) if ACTIVATIONS[function] else value

    def clip(self, value, low, high):
        bounds = [self.constant(bound, "float32") if bound is not None else "" for bound in (low, high)]
        while not bounds[-1]:
            bounds.pop()
        return self.add("Clip", value, *bounds)

    def function(self, name, value):
        """A function of numbers that is also an activation."""
        if name == "TANH":
            return self.add("Tanh", value)
        low, high = {"RELU": (0, None), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6), "RELU_0_TO_1": (0, 1)}[name]
        return self.add("Relu", value) if high is None else self.clip(value, low, high)

    # ---- the graph

    def convert(self, operator):
        if operator.name not in CONVERTERS:
            raise CompileError(f"operator {operator.name} is not taken")
        least = 1 if operator.name not in ("VAR_HANDLE", "CALL_ONCE") else 0
        if len([one for one in operator.inputs if one >= 0]) < least or operator.inputs[:least] == [-1]:
            raise CompileError(f"{operator.name}: has no input")
        if not operator.outputs and operator.name not in ("ASSIGN_VARIABLE", "CALL_ONCE"):
            raise CompileError(f"{operator.name}: has no output")
        for number in operator.outputs:
            self.made_by[number] = operator
        try:
            CONVERTERS[operator.name](self, operator)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # too few inputs, or shapes that do not fit
            self.refuse(operator, f"its inputs do not fit ({first_line(error)})")

    def network(self, name):
        """The network in ONNX: inputs and outputs have the names of the file."""
        names = unique_names([self.tensor(number) for number in self.model.inputs])
        for number, own in zip(self.model.inputs, names):
            if number in self.stored:
                raise CompileError(f"input {own}: is there twice")
            self.stored[number] = own
        inputs = [value_info(own, self.tensor(number)) for number, own in zip(self.model.inputs, names)]
        for operator in self.model.operators:
            self.convert(operator)
        outputs, taken = [], set(names)
        for number, own in zip(self.model.outputs, unique_names([self.tensor(one) for one in self.model.outputs], taken)):
            self.add("Identity", self.value(number), output=own)
            outputs.append(value_info(own, self.tensor(number)))
        for own, variable in self.variables.items():
            inputs.append(value_info(own, variable.tensor))
            if variable.value != own:
                self.add("Identity", variable.value, output=f"{own}:new")
                outputs.append(value_info(f"{own}:new", variable.tensor))
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def value_info(name, tensor):
    if tensor.dtype is None:
        raise CompileError(f"tensor {tensor.number} ({tensor.name}): a variable as input or output")
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(numpy.dtype(tensor.dtype)), tensor.shape)


def unique_names(tensors, taken=()):
    """The names of tensors; a number behind one that is there twice."""
    names = []
    for tensor in tensors:
        name = tensor.name or f"tensor{tensor.number}"
        if name in names or name in taken:
            name = f"{name}:{tensor.number}"
        names.append(name)
    return names
