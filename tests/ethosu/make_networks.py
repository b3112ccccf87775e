#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small networks for Vela, with inputs, and the outputs of LiteRT's reference kernels.

Needs numpy, flatbuffers and ai-edge-litert. Writes FOLDER/NAME.tflite, NAME.inK and NAME.refK (the bytes of input and
output K), and NAME.spec: a line "in SHAPExTYPE" or "out SHAPExTYPE" for each. NAMEs choose some of the networks.

There is no FULLY_CONNECTED of int16: the kernel multiplies by 31 bits, and Vela 5.2.0 writes a multiplier of 16, so
that one output of four differs by 1.
"""
import os
import sys
import zlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

B, O = s.BuiltinOperator, s.BuiltinOptions
TYPES = {np.int32: s.TensorType.INT32, np.int64: s.TensorType.INT64, np.uint8: s.TensorType.UINT8,
         np.int16: s.TensorType.INT16, np.int8: s.TensorType.INT8}
SAME, VALID = s.Padding.SAME, s.Padding.VALID
NO_CHANGE, RELU = s.ActivationFunctionType.NONE, s.ActivationFunctionType.RELU


def options(name, **values):
    o = getattr(s, name + "T")()
    for key, value in values.items():
        setattr(o, key, value)
    return getattr(O, name), o


class Net:
    """A graph that grows by an operator at a time; tensors are their numbers."""

    def __init__(self, name, dtype=np.int8):
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.dtype, self.model, self.graph = dtype, s.ModelT(), s.SubGraphT()
        self.model.version, self.model.description, self.model.buffers = 3, name, [s.BufferT()]
        self.model.operatorCodes, self.graph.operators, self.graph.tensors = [], [], []
        self.graph.inputs, self.values = [], []

    def tensor(self, shape, dtype=None, scale=0.05, zero=0, data=None, axis=0):
        t, q = s.TensorT(), s.QuantizationParametersT()
        dtype = dtype or self.dtype
        t.shape, t.type, t.name = list(shape), TYPES[dtype], "t%d" % len(self.graph.tensors)
        if data is not None:
            b = s.BufferT()
            b.data = np.frombuffer(np.asarray(data, dtype).tobytes(), np.uint8)
            self.model.buffers.append(b)
            t.buffer = len(self.model.buffers) - 1
        if scale is not None:
            q.scale = [float(x) for x in np.atleast_1d(scale)]
            q.zeroPoint, q.quantizedDimension = [0 if dtype == np.int16 else zero] * len(q.scale), axis
            t.quantization = q
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def any(self, shape, dtype=None, least=None, most=None):
        info = np.iinfo(dtype or self.dtype)
        return self.random.integers(info.min if least is None else least, (info.max if most is None else most) + 1, shape)

    def input(self, shape, scale=0.05, zero=-3):
        number = self.tensor(shape, scale=scale, zero=zero)
        self.graph.inputs.append(number)
        self.values.append(self.any(shape).astype(self.dtype))
        return number

    def ints(self, values):
        return self.tensor(np.shape(values), np.int32, None, data=values)

    def op(self, builtin, takes, shape, kind=(0, None), scale=0.05, zero=0, dtype=None, version=2):
        code, o = s.OperatorCodeT(), s.OperatorT()
        code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), version
        self.model.operatorCodes.append(code)
        o.opcodeIndex, o.inputs = len(self.model.operatorCodes) - 1, takes
        o.builtinOptionsType, o.builtinOptions = kind
        o.outputs = [self.tensor(shape, dtype, scale, zero)]
        self.graph.operators.append(o)
        return o.outputs[0]

    def shape(self, number):
        return list(self.graph.tensors[number].shape)

    def weights(self, shape, channels, axis):
        """Constant weights with a scale for each output channel, and a bias."""
        scales = 0.01 + 0.02 * self.random.random(channels)
        if self.dtype == np.int16:
            bias = self.tensor([channels], np.int64, None, data=self.any([channels], np.int64, -200000, 200000))
        else:
            bias = self.tensor([channels], np.int32, None, data=self.any([channels], np.int32, -2000, 2000))
        return [self.tensor(shape, np.int8, scales, data=self.any(shape, np.int8, -127, 127), axis=axis), bias]

    def sum_scale(self, x, terms):
        """A scale of the sum of so many products that few of its values are clamped."""
        return self.graph.tensors[x].quantization.scale[0] * 0.02 * 73 * 0.6 * terms ** 0.5 * 3

    def bound(self, x, w):
        """The scale of a bias is that of the input times those of the weights."""
        q = s.QuantizationParametersT()
        scale = self.graph.tensors[x].quantization.scale[0]
        q.scale = [scale * v for v in self.graph.tensors[w[0]].quantization.scale]
        q.zeroPoint, q.quantizedDimension = [0] * len(q.scale), 0
        self.graph.tensors[w[1]].quantization = q
        return [x] + w

    def conv(self, x, channels, kernel=1, stride=1, dilation=1, padding=SAME, act=NO_CHANGE, zero=4):
        n, h, w, c = self.shape(x)
        kh, kw = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        if padding == SAME:
            oh, ow = -(-h // stride), -(-w // stride)
        else:
            oh, ow = ((e - (k - 1) * dilation - 1) // stride + 1 for e, k in ((h, kh), (w, kw)))
        kind = options("Conv2DOptions", padding=padding, strideH=stride, strideW=stride, dilationHFactor=dilation,
                       dilationWFactor=dilation, fusedActivationFunction=act)
        takes = self.bound(x, self.weights([channels, kh, kw, c], channels, 0))
        return self.op(B.CONV_2D, takes, [n, oh, ow, channels], kind, self.sum_scale(x, c * kh * kw), zero, version=3)

    def depthwise(self, x, kernel=3, stride=1, multiplier=1, act=NO_CHANGE, zero=-9):
        n, h, w, c = self.shape(x)
        kind = options("DepthwiseConv2DOptions", padding=SAME, strideH=stride, strideW=stride, depthMultiplier=multiplier,
                       dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=act)
        takes = self.bound(x, self.weights([1, kernel, kernel, c * multiplier], c * multiplier, 3))
        return self.op(B.DEPTHWISE_CONV_2D, takes, [n, -(-h // stride), -(-w // stride), c * multiplier], kind,
                       self.sum_scale(x, kernel * kernel), zero, version=3)

    def dense(self, x, outputs, zero=2, scale=0.02):
        inputs = self.shape(x)[-1]
        w = self.tensor([outputs, inputs], np.int8, scale, data=self.any([outputs, inputs], np.int8, -127, 127))
        if self.dtype == np.int16:
            bias = self.tensor([outputs], np.int64, None, data=self.any([outputs], np.int64, -200000, 200000))
        else:
            bias = self.tensor([outputs], np.int32, None, data=self.any([outputs], np.int32, -2000, 2000))
        kind = options("FullyConnectedOptions", fusedActivationFunction=NO_CHANGE)
        return self.op(B.FULLY_CONNECTED, self.bound(x, [w, bias]), self.shape(x)[:-1] + [outputs], kind,
                       self.sum_scale(x, inputs) * scale / 0.02, zero, version=4)

    def pool(self, x, builtin, kernel, stride, padding=VALID, act=NO_CHANGE):
        n, h, w, c = self.shape(x)
        oh, ow = ((-(-e // stride)) if padding == SAME else (e - kernel) // stride + 1 for e in (h, w))
        q = self.graph.tensors[x].quantization
        kind = options("Pool2DOptions", padding=padding, strideH=stride, strideW=stride, filterHeight=kernel,
                       filterWidth=kernel, fusedActivationFunction=act)
        return self.op(builtin, [x], [n, oh, ow, c], kind, q.scale[0], q.zeroPoint[0])

    def same(self, builtin, takes, kind=(0, None), version=2, scale=None, zero=None, shape=None):
        """An operator whose output has the shape of its first input; without a scale also its quantisation."""
        q = self.graph.tensors[takes[0]].quantization
        return self.op(builtin, takes, shape or self.shape(takes[0]), kind, q.scale[0] if scale is None else scale,
                       q.zeroPoint[0] if zero is None else zero, version=version)

    def reshape(self, x, shape):
        kind = options("ReshapeOptions", newShape=shape)
        return self.same(B.RESHAPE, [x, self.ints(shape)], kind, 1, shape=shape)

    def softmax(self, x):
        return self.same(B.SOFTMAX, [x], options("SoftmaxOptions", beta=1.0), scale=1 / 256 if self.dtype == np.int8 else 1 / 32768,
                         zero=-128)

    def bytes(self):
        read = {i for o in self.graph.operators for i in o.inputs}
        self.graph.outputs = [i for o in self.graph.operators for i in o.outputs if i not in read]
        self.model.subgraphs = [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def add(n, a, b, kind="Add", scale=0.11, zero=-5, act=NO_CHANGE, **more):
    return n.same(getattr(B, kind.upper()), [a, b], options(kind + "Options", fusedActivationFunction=act, **more), 2, scale, zero)


# ---- the networks

def conv1x1(n):
    n.conv(n.input([1, 8, 8, 16]), 16)


def conv3x3s2(n):
    n.conv(n.input([1, 16, 16, 3]), 20, 3, 2, act=RELU)


def conv_dilated(n):
    n.conv(n.input([1, 12, 12, 10]), 9, (3, 5), dilation=2)


def conv_large(n):
    n.conv(n.input([1, 13, 11, 5]), 37, (9, 10), padding=VALID)


def dw3x3(n):
    n.depthwise(n.depthwise(n.input([1, 8, 8, 24])), 5, 2, act=RELU)


def dw_multiplier(n):
    n.depthwise(n.input([1, 8, 8, 1]), 3, 1, 8)


def maxpool(n):
    x = n.pool(n.input([1, 9, 9, 20]), B.MAX_POOL_2D, 3, 2, SAME)
    n.pool(x, B.MAX_POOL_2D, 2, 2)


def avgpool(n):
    x = n.pool(n.input([1, 9, 9, 20]), B.AVERAGE_POOL_2D, 3, 2, SAME)
    n.pool(x, B.AVERAGE_POOL_2D, 2, 1, act=RELU)


def add2(n):
    x = add(n, n.input([1, 6, 6, 16]), n.input([1, 6, 6, 16], 0.09, 7))
    add(n, x, n.input([1, 6, 1, 16], 0.02, 0), "Sub", act=RELU)


def addconst(n):
    a = n.tensor([1, 1, 1, 16], scale=0.03, data=n.any([16]), zero=1)
    b = n.tensor([1], scale=0.03, data=[77], zero=1)
    add(n, add(n, n.input([1, 6, 6, 16]), a), b, "Sub")


def multiply(n):
    x = add(n, n.input([1, 6, 6, 16]), n.input([1, 1, 6, 16], 0.02, 7), "Mul", 0.04, 3, RELU)
    add(n, x, n.tensor([1], scale=0.01, data=[-90], zero=1), "Mul", 0.03)


def minmax(n):
    kind = options("MaximumMinimumOptions")
    x, y = n.input([1, 5, 5, 18]), n.input([1, 5, 5, 18])
    n.same(B.ABS, [n.same(B.MINIMUM, [n.same(B.MAXIMUM, [x, y], kind), n.input([1, 5, 5, 1])], kind)], version=1)


def fc(n):
    n.dense(n.dense(n.input([1, 64], zero=11), 40), 10)


def tables(n):
    x = n.same(B.TANH, [n.input([1, 8, 8, 4])], scale=1 / 128, zero=0)
    x = n.same(B.LOGISTIC, [x], scale=1 / 256, zero=-128)
    x = n.same(B.LEAKY_RELU, [add(n, x, n.input([1, 8, 8, 4]))], options("LeakyReluOptions", alpha=0.3), 2, 0.07, 4)
    n.same(B.HARD_SWISH, [x], options("HardSwishOptions"), 1, 0.05, -100)


def bigweights(n):
    n.conv(n.conv(n.input([1, 4, 4, 80]), 128, 3), 96)


def softmax_mix(n):
    x = n.depthwise(n.conv(n.input([1, 16, 16, 3]), 16, 3, 2, act=RELU))
    x = n.pool(x, B.AVERAGE_POOL_2D, 8, 8)
    n.softmax(n.dense(n.reshape(x, [1, 16]), 12, scale=0.00002))


def softmax_rows(n):
    n.softmax(n.input([12, 33], 0.1))


def residual(n):
    x = n.conv(n.input([1, 24, 24, 16]), 32, 3, act=RELU)
    y = n.conv(n.depthwise(n.conv(x, 64, act=RELU), act=RELU), 32)
    n.conv(add(n, x, y), 24, 3, 2)


def resize(n):
    kind = options("ResizeNearestNeighborOptions", alignCorners=False, halfPixelCenters=False)
    x = n.input([1, 6, 5, 8])
    x = n.same(B.RESIZE_NEAREST_NEIGHBOR, [x, n.ints([12, 10])], kind, shape=[1, 12, 10, 8])
    n.conv(x, 8, 3)


def resize_bilinear(n):
    kind = options("ResizeBilinearOptions", alignCorners=False, halfPixelCenters=False)
    x = n.conv(n.input([1, 6, 5, 8]), 8)
    n.same(B.RESIZE_BILINEAR, [x, n.ints([12, 10])], kind, shape=[1, 12, 10, 8])


def u85_resize_corners(n):
    kind = options("ResizeBilinearOptions", alignCorners=True, halfPixelCenters=False)
    x = n.conv(n.input([1, 6, 5, 24]), 24)
    n.same(B.RESIZE_BILINEAR, [x, n.ints([21, 9])], kind, shape=[1, 21, 9, 24])


def u85_resize_smaller(n):
    kind = options("ResizeNearestNeighborOptions", alignCorners=False, halfPixelCenters=True)
    x = n.input([1, 14, 9, 8])
    n.same(B.RESIZE_NEAREST_NEIGHBOR, [x, n.ints([8, 6])], kind, shape=[1, 8, 6, 8])


def transposed(n):
    x = n.input([1, 6, 5, 8])
    w = n.weights([12, 3, 3, 8], 12, 0)
    x, w, b = n.bound(x, w)
    kind = options("TransposeConvOptions", padding=SAME, strideH=2, strideW=2, fusedActivationFunction=NO_CHANGE)
    n.op(B.TRANSPOSE_CONV, [n.ints([1, 12, 10, 12]), w, x, b], [1, 12, 10, 12], kind, n.sum_scale(x, 18), 5, version=3)


def mean(n):
    kind = options("ReducerOptions", keepDims=True)
    n.same(B.MEAN, [n.conv(n.input([1, 7, 9, 12]), 20), n.ints([1, 2])], kind, scale=0.09, zero=9, shape=[1, 1, 1, 20])


def pieces(n):
    x = n.input([1, 8, 8, 24])
    a = n.same(B.SLICE, [x, n.ints([0, 1, 2, 0]), n.ints([1, 4, 5, 24])], options("SliceOptions"), shape=[1, 4, 5, 24])
    b = n.same(B.STRIDED_SLICE, [x, n.ints([0, 0, 0, 8]), n.ints([1, 4, 5, 24]), n.ints([1, 1, 1, 1])],
               options("StridedSliceOptions", beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0),
               shape=[1, 4, 5, 16])
    c = n.same(B.CONCATENATION, [a, b], options("ConcatenationOptions", axis=3, fusedActivationFunction=NO_CHANGE),
               shape=[1, 4, 5, 40])
    n.conv(n.same(B.PAD, [c, n.ints([[0, 0], [1, 1], [2, 0], [0, 0]])], options("PadOptions"), shape=[1, 6, 7, 40]), 8, 3,
           padding=VALID)


def turned(n):
    for order in ((1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)):
        x = n.conv(n.input([1, 5, 7, 20]), 24)
        axes = [0] + [i + 1 for i in order]
        shape = [n.shape(x)[i] for i in axes]
        n.conv(n.same(B.TRANSPOSE, [x, n.ints(axes)], options("TransposeOptions"), 1, shape=shape), 8)


def conv16(n):
    n.depthwise(n.conv(n.input([1, 8, 8, 12], 0.0005), 20, 3, act=RELU))


def add16(n):
    x = add(n, n.input([1, 6, 6, 16], 0.001), n.input([1, 6, 6, 16], 0.0007), scale=0.0018)
    x = add(n, x, n.input([1, 6, 6, 16], 0.001), "Mul", 0.001)
    n.same(B.LEAKY_RELU, [x], options("LeakyReluOptions", alpha=0.2), 2, 0.0011, 0)


def tables16(n):
    x = n.same(B.TANH, [n.input([1, 8, 8, 4], 0.0004)], scale=1 / 32768, zero=0)
    n.same(B.LOGISTIC, [x], scale=1 / 32768, zero=0)


def pool16(n):
    n.pool(n.pool(n.input([1, 9, 9, 20], 0.001), B.MAX_POOL_2D, 3, 2, SAME), B.AVERAGE_POOL_2D, 2, 1)


def leaky16(n):
    n.same(B.LEAKY_RELU, [n.input([1, 6, 6, 16], 0.001)], options("LeakyReluOptions", alpha=0.3))


def softmax16(n):
    n.softmax(n.input([4, 30], 0.0003))


NETWORKS = [conv1x1, conv3x3s2, conv_dilated, conv_large, dw3x3, dw_multiplier, maxpool, avgpool, add2, addconst, multiply,
            minmax, fc, tables, bigweights, softmax_mix, softmax_rows, residual, resize, resize_bilinear, transposed, mean,
            u85_resize_corners, u85_resize_smaller, pieces, turned, conv16, add16, tables16, pool16, leaky16, softmax16]


def spec(d):
    return "x".join(str(e) for e in d["shape"]) + "x" + np.dtype(d["dtype"]).name


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def run(model, path, values):
    """The outputs of the reference kernels, in files beside the model."""
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    lines = []
    for k, d in enumerate(interpreter.get_input_details()):
        value = values(k, d)
        interpreter.set_tensor(d["index"], value)
        write("%s.in%d" % (path, k), value.tobytes())
        lines.append("in " + spec(d))
    interpreter.invoke()
    for k, d in enumerate(interpreter.get_output_details()):
        value = interpreter.get_tensor(d["index"])
        write("%s.ref%d" % (path, k), value.tobytes())
        lines.append("out " + spec(d))
        if len(set(value.ravel().tolist())) < min(8, value.size // 2):
            raise SystemExit("%s: output %d has few different values" % (path, k))
    write(path + ".spec", "".join(line + "\n" for line in lines).encode())


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for make in NETWORKS:
        name = make.__name__
        if names and name not in names:
            continue
        net = Net(name, np.int16 if name.endswith("16") else np.int8)
        make(net)
        model = net.bytes()
        path = os.path.join(folder, name)
        write(path + ".tflite", model)
        run(model, path, lambda k, d: net.values[k])


if __name__ == "__main__":
    main()
