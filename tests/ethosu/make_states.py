#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A network whose variable an Ethos-U85 keeps in its arena, with the outputs of LiteRT for four runs.

main: y = the variable + x, of int8; the variable becomes y. Graph 1, which CALL_ONCE calls, sets the variable to numbers from
-8 on. Needs numpy, flatbuffers, ai-edge-litert and Vela (5.2 made the files that are here). Writes u85_states.tflite, states.in
(four inputs) and states.ref (four outputs) into data/small/.
"""
import os
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from ethosu.vela.vela import main as vela

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "small")
SHAPE = [1, 2, 2, 8]
B = s.BuiltinOperator
model = s.ModelT()
model.version, model.description, model.buffers, model.operatorCodes = 3, "a state", [s.BufferT()], []


def tensor(name, kind=s.TensorType.INT8, data=None):
    t = s.TensorT()
    t.name, t.shape, t.type = name, SHAPE if kind == s.TensorType.INT8 else [], kind
    if kind == s.TensorType.INT8:
        t.quantization = s.QuantizationParametersT()
        t.quantization.scale, t.quantization.zeroPoint = [0.5], [3]
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
    o.container, o.sharedName = "", "state"
    return operator(B.VAR_HANDLE, [], gives, s.BuiltinOptions.VarHandleOptions, o)


def network():
    once = s.CallOnceOptionsT()
    once.initSubgraphIndex = 1
    resource = s.TensorType.RESOURCE
    first = np.arange(-8, 24, dtype=np.int8).reshape(SHAPE)
    model.subgraphs = [
        graph("main", [tensor("x"), tensor("handle", resource), tensor("state"), tensor("y")], [0], [3], [
            operator(B.CALL_ONCE, [], [], s.BuiltinOptions.CallOnceOptions, once),
            handle([1]),
            operator(B.READ_VARIABLE, [1], [2], s.BuiltinOptions.ReadVariableOptions, s.ReadVariableOptionsT()),
            operator(B.ADD, [2, 0], [3], s.BuiltinOptions.AddOptions, s.AddOptionsT()),
            operator(B.ASSIGN_VARIABLE, [1, 3], [], s.BuiltinOptions.AssignVariableOptions,
                     s.AssignVariableOptionsT())]),
        graph("first", [tensor("handle", resource), tensor("value", data=first)], [], [], [
            handle([0]),
            operator(B.ASSIGN_VARIABLE, [0, 1], [], s.BuiltinOptions.AssignVariableOptions,
                     s.AssignVariableOptionsT())])]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def reference(data):
    lite = Interpreter(model_content=data, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    lite.allocate_tensors()
    inputs = np.random.default_rng(1).integers(-40, 40, [4] + SHAPE, np.int8)
    outputs = []
    for x in inputs:
        lite.set_tensor(lite.get_input_details()[0]["index"], x)
        lite.invoke()
        outputs.append(lite.get_tensor(lite.get_output_details()[0]["index"]))
    inputs.tofile(os.path.join(FOLDER, "states.in"))
    np.concatenate(outputs).tofile(os.path.join(FOLDER, "states.ref"))


with tempfile.TemporaryDirectory() as scratch:
    data = network()
    path = os.path.join(scratch, "states.tflite")
    with open(path, "wb") as f:
        f.write(data)
    reference(data)
    vela([path, "--accelerator-config", "ethos-u85-256", "--output-dir", scratch] + sys.argv[1:])
    with open(os.path.join(scratch, "states_vela.tflite"), "rb") as f:
        compiled = f.read()
    with open(os.path.join(FOLDER, "u85_states.tflite"), "wb") as f:
        f.write(compiled)
