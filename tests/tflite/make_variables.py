#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A model that keeps its last two inputs in a variable, with the outputs of LiteRT for four runs.

main: y = concatenation of the variable and x; the variable becomes the last two of it. Graph 1, which CALL_ONCE calls,
sets the variable to 7, 9. Needs numpy, flatbuffers and ai-edge-litert (2.3.0 made the files that are here). Writes
variables.tflite, variables.in (four inputs) and variables.ref (four outputs) into data/.
"""
import os

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
B = s.BuiltinOperator
model = s.ModelT()
model.version, model.description, model.buffers, model.operatorCodes = 3, "a variable", [s.BufferT()], []


def tensor(name, shape, kind, data=None):
    t = s.TensorT()
    t.name, t.shape, t.type = name, shape, kind
    if data is not None:
        b = s.BufferT()
        b.data = np.frombuffer(data.tobytes(), np.uint8)
        model.buffers.append(b)
        t.buffer = len(model.buffers) - 1
    return t


def operator(builtin, takes, gives, kind=0, options=None):
    code = s.OperatorCodeT()
    code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), 1
    model.operatorCodes.append(code)
    o = s.OperatorT()
    o.opcodeIndex, o.inputs, o.outputs = len(model.operatorCodes) - 1, takes, gives
    o.builtinOptionsType, o.builtinOptions = kind, options
    return o


def graph(name, tensors, inputs, outputs, operators):
    g = s.SubGraphT()
    g.name, g.tensors, g.inputs, g.outputs, g.operators = name, tensors, inputs, outputs, operators
    return g


def handle(gives):
    o = s.VarHandleOptionsT()
    o.container, o.sharedName = "", "last"
    return operator(B.VAR_HANDLE, [], gives, s.BuiltinOptions.VarHandleOptions, o)


once, joined = s.CallOnceOptionsT(), s.ConcatenationOptionsT()
once.initSubgraphIndex, joined.axis = 1, 1
F, I, R = s.TensorType.FLOAT32, s.TensorType.INT32, s.TensorType.RESOURCE
main = graph("main", [
    tensor("x", [1, 1], F), tensor("handle", [], R), tensor("last", [1, 2], F), tensor("y", [1, 3], F),
    tensor("begin", [2], I, np.array([0, 1], np.int32)), tensor("size", [2], I, np.array([1, 2], np.int32)),
    tensor("next", [1, 2], F)], [0], [3], [
    operator(B.CALL_ONCE, [], [], s.BuiltinOptions.CallOnceOptions, once),
    handle([1]),
    operator(B.READ_VARIABLE, [1], [2], s.BuiltinOptions.ReadVariableOptions, s.ReadVariableOptionsT()),
    operator(B.CONCATENATION, [2, 0], [3], s.BuiltinOptions.ConcatenationOptions, joined),
    operator(B.SLICE, [3, 4, 5], [6], s.BuiltinOptions.SliceOptions, s.SliceOptionsT()),
    operator(B.ASSIGN_VARIABLE, [1, 6], [], s.BuiltinOptions.AssignVariableOptions, s.AssignVariableOptionsT())])
first = graph("first", [tensor("handle", [], R), tensor("value", [1, 2], F, np.array([7, 9], np.float32))], [], [], [
    handle([0]),
    operator(B.ASSIGN_VARIABLE, [0, 1], [], s.BuiltinOptions.AssignVariableOptions, s.AssignVariableOptionsT())])
model.subgraphs = [main, first]
builder = flatbuffers.Builder(1024)
builder.Finish(model.Pack(builder), b"TFL3")
data = bytes(builder.Output())
with open(os.path.join(FOLDER, "variables.tflite"), "wb") as f:
    f.write(data)

lite = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
lite.allocate_tensors()
inputs, outputs = np.array([1, 2, 4, 8], np.float32), []
for x in inputs:
    lite.set_tensor(lite.get_input_details()[0]["index"], np.array([[x]], np.float32))
    lite.invoke()
    outputs.append(lite.get_tensor(lite.get_output_details()[0]["index"]))
inputs.tofile(os.path.join(FOLDER, "variables.in"))
np.concatenate(outputs).tofile(os.path.join(FOLDER, "variables.ref"))
print(np.concatenate(outputs))
