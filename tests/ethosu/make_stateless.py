#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A streaming network without its variables: what it reads of them becomes inputs, what it assigns outputs.

make_stateless.py NETWORK.tflite FOLDER NAME STEPS

Needs numpy, flatbuffers and ai-edge-litert. Writes FOLDER/NAME.tflite, which Vela can compile as a whole, and for each of
STEPS steps NAME-STEP.inK, NAME-STEP.refK and NAME.spec, as make_networks.py does. The states go from step to step; the
inputs are those of a spectrogram that sweeps up and down.
"""
import os
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from make_networks import spec, write

B = s.BuiltinOperator


def stateless(data):
    model = s.ModelT.InitFromObj(s.Model.GetRootAs(data, 0))
    graph = model.subgraphs[0]
    kept = []
    graph.inputs, graph.outputs = list(graph.inputs), list(graph.outputs)
    reads, writes = {}, {}
    for o in graph.operators:
        code = model.operatorCodes[o.opcodeIndex]
        kind = max(code.builtinCode, code.deprecatedBuiltinCode)
        if kind == B.READ_VARIABLE:
            reads[int(o.inputs[0])] = int(o.outputs[0])
        elif kind == B.ASSIGN_VARIABLE:
            writes[int(o.inputs[0])] = int(o.inputs[1])
        elif kind not in (B.VAR_HANDLE, B.CALL_ONCE):
            kept.append(o)
    for variable in sorted(reads):
        graph.inputs.append(reads[variable])
        graph.outputs.append(writes[variable])
    graph.operators, model.subgraphs, model.signatureDefs = kept, [graph], None
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def features(step, detail):
    """A tone that goes up and down, in noise."""
    random = np.random.default_rng(step)
    shape = detail["shape"]
    channels = np.arange(shape[-1])
    rows = [120 * np.exp(-((channels - (6 * step + 2 * i) % 40) / 3.0) ** 2) for i in range(shape[1])]
    return np.clip(np.array(rows) - 100 + random.normal(0, 8, shape[1:]), -128, 127).astype(np.int8).reshape(shape)


def main():
    source, folder, name, steps = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    with open(source, "rb") as f:
        model = stateless(f.read())
    path = os.path.join(folder, name)
    write(path + ".tflite", model)
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    write(path + ".spec", "".join(["in %s\n" % spec(d) for d in inputs] + ["out %s\n" % spec(d) for d in outputs]).encode())
    states = [np.full(d["shape"], d["quantization"][1], d["dtype"]) for d in inputs[1:]]
    for step in range(steps):
        values = [features(step, inputs[0])] + states
        for k, (d, value) in enumerate(zip(inputs, values)):
            interpreter.set_tensor(d["index"], value)
            write("%s-%d.in%d" % (path, step, k), value.tobytes())
        interpreter.invoke()
        results = [interpreter.get_tensor(d["index"]) for d in outputs]
        for k, value in enumerate(results):
            write("%s-%d.ref%d" % (path, step, k), value.tobytes())
        states = results[1:]


if __name__ == "__main__":
    main()
