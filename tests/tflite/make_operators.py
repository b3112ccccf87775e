#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models of one operator each, with inputs, and the outputs of LiteRT's reference kernels.

Needs numpy, flatbuffers and ai-edge-litert (2.3.0 made the files that are here). Writes NAME.tflite, NAME.in and
NAME.ref into data/: the bytes of all inputs and of all outputs, in order.
"""
import os
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
TYPES = {np.float32: s.TensorType.FLOAT32, np.int32: s.TensorType.INT32, np.uint8: s.TensorType.UINT8,
         np.int16: s.TensorType.INT16, np.int8: s.TensorType.INT8}
FIRST = (s.BuiltinOperator.RESHAPE, s.BuiltinOperator.SQUEEZE, s.BuiltinOperator.EXPAND_DIMS, s.BuiltinOperator.SIN)
random = np.random.default_rng(16)


class Tensor:
    """A tensor: its type, shape, scale and zero point; with data it is constant, and with values an input."""

    def __init__(self, dtype, shape, scale=None, zero=0, data=None, values=None):
        self.dtype, self.shape, self.scale, self.zero = dtype, shape, scale, zero
        self.data = None if data is None else np.asarray(data, dtype)
        self.values = values if values is None else np.asarray(values, dtype).reshape(shape)


def table(tensor, number, model):
    t = s.TensorT()
    t.shape, t.type, t.name = list(tensor.shape), TYPES[tensor.dtype], "t%d" % number
    if tensor.data is not None:
        b = s.BufferT()
        b.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
        model.buffers.append(b)
        t.buffer = len(model.buffers) - 1
    if tensor.scale is not None:
        q = s.QuantizationParametersT()
        q.scale, q.zeroPoint = [tensor.scale], [tensor.zero]
        t.quantization = q
    return t


def pack(operators, tensors, inputs, outputs):
    model, graph = s.ModelT(), s.SubGraphT()
    model.version, model.description, model.buffers = 3, "one operator", [s.BufferT()]
    model.operatorCodes, graph.operators = [], []
    graph.tensors = [table(t, i, model) for i, t in enumerate(tensors)]
    graph.inputs, graph.outputs = inputs, outputs
    for builtin, takes, gives, kind, options in operators:
        code = s.OperatorCodeT()
        code.builtinCode, code.deprecatedBuiltinCode = builtin, min(builtin, 127)
        code.version = 1 if builtin in FIRST else 2
        model.operatorCodes.append(code)
        o = s.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = len(model.operatorCodes) - 1, takes, gives
        o.builtinOptionsType, o.builtinOptions = kind, options
        graph.operators.append(o)
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def write(name, operators, tensors):
    """All tensors with values are inputs; those that no operator reads are outputs."""
    inputs = [i for i, t in enumerate(tensors) if t.values is not None]
    read = {i for o in operators for i in o[1]}
    outputs = [i for i, t in enumerate(tensors) if i not in read and t.values is None]
    model = pack(operators, tensors, inputs, outputs)
    run = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    run.allocate_tensors()
    for d, i in zip(run.get_input_details(), inputs):
        run.set_tensor(d["index"], tensors[i].values)
    run.invoke()
    refs = [run.get_tensor(d["index"]) for d in run.get_output_details()]
    for suffix, data in ("tflite", model), ("in", b"".join(tensors[i].values.tobytes() for i in inputs)), \
            ("ref", b"".join(r.tobytes() for r in refs)):
        with open(os.path.join(FOLDER, name + "." + suffix), "wb") as f:
            f.write(data)
    print(name, len(model), [r.shape for r in refs])


def one(name, builtin, inputs, outputs, kind=0, options=None):
    takes = list(range(len(inputs)))
    gives = list(range(len(inputs), len(inputs) + len(outputs)))
    write(name, [(builtin, takes, gives, kind, options)], inputs + outputs)


def any_of(dtype, shape):
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape)


def softmax(name, dtype, shape, scale, values, beta=1.0):
    options = s.SoftmaxOptionsT()
    options.beta = beta
    one(name, s.BuiltinOperator.SOFTMAX, [Tensor(dtype, shape, scale, 5, values=values)],
        [Tensor(dtype, shape, 1 / 256, -128 if dtype == np.int8 else 0)], s.BuiltinOptions.SoftmaxOptions, options)


def quantize(name, given, wanted):
    one(name, s.BuiltinOperator.QUANTIZE, [given], [wanted])


B = s.BuiltinOperator
all_int8 = np.arange(-128, 128)
ramp = np.arange(-300, 300, dtype=np.float32) / 4


def main():
    os.makedirs(FOLDER, exist_ok=True)
    softmax("softmax", np.int8, [16, 12], 0.1, any_of(np.int8, [16, 12]))
    softmax("softmax_steep", np.int8, [4, 2, 100], 1.7, any_of(np.int8, [4, 2, 100]), 2.0)
    softmax("softmax_flat", np.int8, [2, 400], 0.002, any_of(np.int8, [2, 400]))
    softmax("softmax_equal", np.int8, [1, 500], 0.05, np.full([1, 500], 7))
    softmax("softmax_uint8", np.uint8, [8, 32], 0.07, any_of(np.uint8, [8, 32]))
    one("logistic", B.LOGISTIC, [Tensor(np.int8, [256], 0.05, 3, values=all_int8)], [Tensor(np.int8, [256], 1 / 256, -128)])
    one("logistic_flat", B.LOGISTIC, [Tensor(np.int8, [256], 0.0007, -128, values=all_int8)],
        [Tensor(np.int8, [256], 1 / 256, -128)])
    one("logistic_steep", B.LOGISTIC, [Tensor(np.int8, [256], 1.3, 0, values=all_int8)],
        [Tensor(np.int8, [256], 1 / 256, -128)])
    # one step from the zero point is 0.99, and not 1
    one("logistic_edge", B.LOGISTIC, [Tensor(np.int8, [256], 4.674, 0, values=all_int8)],
        [Tensor(np.int8, [256], 1 / 256, -128)])
    one("logistic_large", B.LOGISTIC, [Tensor(np.int8, [256], 100, -3, values=all_int8)],
        [Tensor(np.int8, [256], 1 / 256, -128)])
    quantize("quantize", Tensor(np.float32, [600], values=ramp), Tensor(np.int8, [600], 0.5, -7))
    quantize("quantize_odd", Tensor(np.float32, [600], values=ramp * 0.013), Tensor(np.int8, [600], 0.0117, 11))
    quantize("quantize_uint8", Tensor(np.float32, [600], values=ramp), Tensor(np.uint8, [600], 0.5, 128))
    quantize("quantize_int16", Tensor(np.float32, [600], values=ramp), Tensor(np.int16, [600], 0.0021, 0))
    quantize("requantize", Tensor(np.int8, [256], 0.05, -3, values=all_int8), Tensor(np.int8, [256], 0.1, 4))
    quantize("requantize_up", Tensor(np.int8, [256], 0.1, 9, values=all_int8), Tensor(np.int8, [256], 0.031, -20))
    quantize("requantize_to_uint8", Tensor(np.int8, [256], 0.05, 0, values=all_int8), Tensor(np.uint8, [256], 0.07, 120))
    quantize("requantize_to_int8", Tensor(np.uint8, [256], 0.05, 100, values=all_int8 + 128),
             Tensor(np.int8, [256], 0.04, -1))
    quantize("requantize_int16", Tensor(np.int16, [500], 0.001, 0, values=any_of(np.int16, [500])),
             Tensor(np.int16, [500], 0.0015, 0))
    quantize("requantize_int16_to_int8", Tensor(np.int16, [500], 0.001, 0, values=any_of(np.int16, [500])),
             Tensor(np.int8, [500], 0.3, -5))
    for name, dtype, zero in ("int8", np.int8, -7), ("uint8", np.uint8, 130), ("int16", np.int16, 0):
        one("dequantize_" + name, B.DEQUANTIZE, [Tensor(dtype, [300], 0.0173, zero, values=any_of(dtype, [300]))],
            [Tensor(np.float32, [300])])
    around = Tensor(np.int32, [4, 2], data=[[0, 0], [1, 2], [0, 3], [2, 0]])
    one("pad", B.PAD, [Tensor(np.int8, [2, 3, 4, 5], 0.1, -3, values=any_of(np.int8, [2, 3, 4, 5])), around],
        [Tensor(np.int8, [2, 6, 7, 7], 0.1, -3)], s.BuiltinOptions.PadOptions, s.PadOptionsT())
    one("pad_float", B.PAD, [Tensor(np.float32, [2, 3, 4, 5], values=random.normal(size=[2, 3, 4, 5])), around],
        [Tensor(np.float32, [2, 6, 7, 7])], s.BuiltinOptions.PadOptions, s.PadOptionsT())
    one("pad_with", B.PADV2, [Tensor(np.int8, [2, 3, 4, 5], 0.1, -3, values=any_of(np.int8, [2, 3, 4, 5])), around,
                              Tensor(np.int8, [1], 0.1, -3, data=[77])],
        [Tensor(np.int8, [2, 6, 7, 7], 0.1, -3)], s.BuiltinOptions.PadV2Options, s.PadV2OptionsT())
    for name, axis, dtype, scale in ("last", -1, np.int8, 0.2), ("first", 0, np.int8, 0.2), ("float", 2, np.float32, None):
        shapes = [[2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5]]
        for k, shape in enumerate(shapes):
            shape[axis] = k + 1
        options = s.ConcatenationOptionsT()
        options.axis = axis
        whole = list(shapes[0])
        whole[axis] = 6
        one("concatenation_" + name, B.CONCATENATION,
            [Tensor(dtype, shape, scale, 0, values=random.integers(-100, 100, shape)) for shape in shapes],
            [Tensor(dtype, whole, scale, 0)], s.BuiltinOptions.ConcatenationOptions, options)
    box = Tensor(np.int8, [2, 3, 4, 5], 0.1, -3, values=any_of(np.int8, [2, 3, 4, 5]))
    one("reshape", B.RESHAPE, [box, Tensor(np.int32, [2], data=[6, 20])], [Tensor(np.int8, [6, 20], 0.1, -3)],
        s.BuiltinOptions.ReshapeOptions, s.ReshapeOptionsT())
    one("transpose", B.TRANSPOSE, [box, Tensor(np.int32, [4], data=[0, 3, 1, 2])], [Tensor(np.int8, [2, 5, 3, 4], 0.1, -3)],
        s.BuiltinOptions.TransposeOptions, s.TransposeOptionsT())
    one("slice", B.SLICE, [box, Tensor(np.int32, [4], data=[1, 0, 2, 1]), Tensor(np.int32, [4], data=[1, 2, -1, 3])],
        [Tensor(np.int8, [1, 2, 2, 3], 0.1, -3)], s.BuiltinOptions.SliceOptions, s.SliceOptionsT())
    line = Tensor(np.int8, [1, 9, 1], 0.1, -3, values=any_of(np.int8, [1, 9, 1]))
    options = s.SqueezeOptionsT()
    options.squeezeDims = [0]
    one("squeeze", B.SQUEEZE, [line], [Tensor(np.int8, [9, 1], 0.1, -3)], s.BuiltinOptions.SqueezeOptions, options)
    one("expand_dims", B.EXPAND_DIMS, [line, Tensor(np.int32, [1], data=[1])], [Tensor(np.int8, [1, 1, 9, 1], 0.1, -3)],
        s.BuiltinOptions.ExpandDimsOptions, s.ExpandDimsOptionsT())
    # several, so that tensors take the places of others: t1 to t6, of which t3 and t6 are outputs
    same = [Tensor(np.int8, [256], scale, zero) for scale, zero in ((0.07, 1), (0.05, 0), (1 / 256, -128), (0.09, -4))]
    options = s.SoftmaxOptionsT()
    options.beta = 1.0
    write("several", [(B.QUANTIZE, [0], [1], 0, None), (B.QUANTIZE, [1], [2], 0, None),
                      (B.SOFTMAX, [2], [3], s.BuiltinOptions.SoftmaxOptions, options), (B.QUANTIZE, [1], [4], 0, None),
                      (B.DEQUANTIZE, [4], [5], 0, None), (B.SIN, [5], [6], 0, None), (B.QUANTIZE, [6], [7], 0, None)],
          [Tensor(np.int8, [256], 0.05, -3, values=all_int8)] + same +
          [Tensor(np.float32, [256]), Tensor(np.float32, [256]), Tensor(np.int8, [256], 1 / 128, 0)])


if __name__ == "__main__":
    sys.exit(main())
