# SPDX-License-Identifier: MIT
"""Small networks of TensorFlow Lite, with inputs and the outputs of LiteRT's own kernels: tflite_networks.py FOLDER

Needs ai-edge-litert, flatbuffers and numpy. Each network has one input, and an output for each operator, so that
rounding does not add up. Writes NAME.tflite, NAME.x.npy, NAME.y0.npy …; with FILE.tflite behind FOLDER, inputs and
outputs of that file, of runs between which variables are kept: FILE.RUN.x.npy, FILE.RUN.y0.npy ….
"""

import re
import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

B = s.BuiltinOperator
TYPES = {"float32": s.TensorType.FLOAT32, "float16": s.TensorType.FLOAT16, "int32": s.TensorType.INT32, "int8": s.TensorType.INT8,
         "uint8": s.TensorType.UINT8, "int64": s.TensorType.INT64, "bool": s.TensorType.BOOL}  # fmt: skip
NONE, RELU, RELU6 = 0, 1, 3
SAME, VALID = 0, 1
RUNS = 12
KERNELS = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
folder = Path(sys.argv[1])


class Network:
    """A graph with one input; of 8 bits, all tensors are quantized."""

    def __init__(self, name, dtype, shape, low=-2.0, high=2.0):
        self.name, self.dtype, self.small = name, dtype, dtype in ("int8", "uint8")
        self.numbers = np.random.default_rng(5)
        self.model, self.graph = s.ModelT(), s.SubGraphT()
        self.model.version, self.model.buffers, self.model.operatorCodes = 3, [s.BufferT()], []
        self.graph.tensors, self.graph.operators, self.graph.outputs = [], [], []
        self.low, self.high = low, high
        self.x = self.tensor(shape, *self.scale(low, high), name="x in put")
        self.graph.inputs = [self.x]

    def scale(self, low, high):
        """Scale and zero point for values between two numbers."""
        if not self.small:
            return None, 0
        scale = max((high - low) / 255, 1e-6)
        least = np.iinfo(self.dtype).min
        return scale, int(np.clip(round(least - low / scale), least, least + 255))

    def tensor(self, shape, scale=None, zero=0, dtype=None, data=None, axis=0, name=""):
        t, q = s.TensorT(), s.QuantizationParametersT()
        dtype = dtype or self.dtype
        t.shape, t.type, t.name = list(shape), TYPES[dtype], name or f"t{len(self.graph.tensors)}"
        if data is not None:
            buffer = s.BufferT()
            buffer.data = np.frombuffer(np.asarray(data, dtype).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            t.buffer = len(self.model.buffers) - 1
        if scale is not None:
            q.scale = [float(one) for one in np.atleast_1d(scale)]
            q.zeroPoint, q.quantizedDimension = [int(zero)] * len(q.scale), axis
            t.quantization = q
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def integers(self, values, dtype="int32"):
        return self.tensor(np.shape(values), dtype=dtype, data=values)

    def weights(self, shape, axis):
        """Weights with a scale for each output, and their bias."""
        outputs = shape[axis]
        if not self.small:
            return (self.tensor(shape, data=self.numbers.uniform(-1, 1, shape)),
                    self.tensor([outputs], data=self.numbers.uniform(-1, 1, outputs)))  # fmt: skip
        several = self.dtype == "int8"
        scales = self.numbers.uniform(0.004, 0.008, outputs if several else 1)
        low, high = (-127, 128) if several else (0, 256)
        data = self.numbers.integers(low, high, shape)
        zero = 0 if several else 120
        of_sums = scales * self.scale(self.low, self.high)[0]
        bias = self.numbers.integers(-300, 300, outputs)
        return self.tensor(shape, scales, zero, data=data, axis=axis), self.tensor([outputs], of_sums, dtype="int32", data=bias)

    def op(self, name, inputs, shape, options=None, low=-4.0, high=4.0, how=None, dtype=None, output=True, **values):
        """An operator; its output is one of the network's."""
        code, operator = s.OperatorCodeT(), s.OperatorT()
        code.builtinCode = getattr(B, name)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
        self.model.operatorCodes.append(code)
        operator.opcodeIndex, operator.inputs = len(self.model.operatorCodes) - 1, list(inputs)
        if options:
            operator.builtinOptionsType = getattr(s.BuiltinOptions, options)
            operator.builtinOptions = getattr(s, options + "T")()
            for key, value in values.items():
                setattr(operator.builtinOptions, key, value)
        shapes = shape if isinstance(shape[0], (list, tuple)) else [shape]
        scaled = (None, 0) if dtype and dtype != self.dtype else how or self.scale(low, high)
        operator.outputs = [self.tensor(one, *scaled, dtype=dtype) for one in shapes]
        self.graph.operators.append(operator)
        if output:
            self.graph.outputs += operator.outputs
        return operator.outputs[0]

    def interpreter(self):
        """One of what was written; it names operators that it has in another version only."""
        self.model.subgraphs = [self.graph]
        while True:
            builder = flatbuffers.Builder(1024)
            builder.Finish(self.model.Pack(builder), b"TFL3")
            content = bytes(builder.Output())
            (folder / f"{self.name}.tflite").write_bytes(content)
            try:
                return Interpreter(model_content=content, experimental_op_resolver_type=KERNELS)
            except ValueError as error:
                other = re.search(r"opcode '(\w+)' version '(\d+)'", str(error))
                if not other or int(other[2]) > 8:
                    raise
                for code in self.model.operatorCodes:
                    if code.builtinCode == getattr(B, other[1]):
                        code.version = int(other[2]) + 1

    def save(self):
        run = self.interpreter()
        run.allocate_tensors()
        shape = self.graph.tensors[self.x].shape
        if self.small:
            limits = np.iinfo(self.dtype)
            x = self.numbers.integers(limits.min, limits.max + 1, shape).astype(self.dtype)
        else:
            x = self.numbers.uniform(self.low, self.high, shape).astype(self.dtype)
        run.set_tensor(run.get_input_details()[0]["index"], x)
        run.invoke()
        np.save(folder / f"{self.name}.x.npy", x)
        for place, detail in enumerate(run.get_output_details()):
            np.save(folder / f"{self.name}.y{place}.npy", run.get_tensor(detail["index"]))


def windows(dtype):
    n = Network(f"windows-{dtype}", dtype, [1, 9, 12, 6])
    w, b = n.weights([10, 3, 3, 6], 0)
    n.op("CONV_2D", [n.x, w, b], [1, 5, 6, 10], "Conv2DOptions", -6, 6, padding=SAME, strideH=2, strideW=2, fusedActivationFunction=RELU6)
    w, b = n.weights([8, 3, 2, 6], 0)
    n.op("CONV_2D", [n.x, w, b], [1, 5, 11, 8], "Conv2DOptions", -6, 6, padding=VALID, strideH=1, strideW=1, dilationHFactor=2)
    w, b = n.weights([1, 3, 3, 6], 3)
    n.op("DEPTHWISE_CONV_2D", [n.x, w, b], [1, 9, 12, 6], "DepthwiseConv2DOptions", -5, 5, padding=SAME, strideH=1, strideW=1,
         depthMultiplier=1, fusedActivationFunction=RELU)  # fmt: skip
    w, b = n.weights([1, 2, 3, 12], 3)
    n.op("DEPTHWISE_CONV_2D", [n.x, w, b], [1, 4, 5, 12], "DepthwiseConv2DOptions", -5, 5, padding=VALID, strideH=2, strideW=2, depthMultiplier=2)
    w, b = n.weights([4, 3, 3, 6], 0)
    n.op("TRANSPOSE_CONV", [n.integers([1, 18, 24, 4]), w, n.x, b], [1, 18, 24, 4], "TransposeConvOptions", -8, 8, padding=SAME, strideH=2, strideW=2)
    around = n.op("PAD", [n.x, n.integers([[0, 0], [0, 1], [0, 1], [0, 0]])], [1, 10, 13, 6], "PadOptions", how=n.scale(-2, 2))
    w, b = n.weights([6, 3, 3, 6], 0)
    n.op("CONV_2D", [around, w, b], [1, 4, 6, 6], "Conv2DOptions", -6, 6, padding=VALID, strideH=2, strideW=2)
    same = n.scale(-2, 2)
    for pad in (SAME, VALID):
        rows, columns = (5, 6) if pad == SAME else (4, 5)
        for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            n.op(name, [n.x], [1, rows, columns, 6], "Pool2DOptions", how=same, padding=pad, strideH=2, strideW=2, filterHeight=2, filterWidth=3)
    for how in ({}, {"alignCorners": True}, {"halfPixelCenters": True}):
        n.op("RESIZE_BILINEAR", [n.x, n.integers([13, 24])], [1, 13, 24, 6], "ResizeBilinearOptions", how=same, **how)
        n.op("RESIZE_NEAREST_NEIGHBOR", [n.x, n.integers([18, 20])], [1, 18, 20, 6], "ResizeNearestNeighborOptions", how=same, **how)
    n.op("MEAN", [n.x, n.integers([1, 2])], [1, 6], "ReducerOptions", how=n.scale(-1, 1))
    flat = n.op("RESHAPE", [n.x, n.integers([9, 72])], [9, 72], how=same)
    w, b = n.weights([7, 72], 0)
    n.op("FULLY_CONNECTED", [flat, w, b], [9, 7], "FullyConnectedOptions", -9, 9, fusedActivationFunction=RELU)
    n.save()


def elements(dtype):
    n = Network(f"elements-{dtype}", dtype, [2, 3, 4, 5])
    shape = [2, 3, 4, 5]
    other = n.tensor([5], *n.scale(-1, 1), data=n.numbers.integers(1, 120, 5) if n.small else n.numbers.uniform(0.5, 1, 5))
    for name, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        n.op(name, [n.x, other], shape, options, fusedActivationFunction=RELU)
        n.op(name, [n.x, n.x], shape, options)
    for name in ("MAXIMUM", "MINIMUM"):
        n.op(name, [n.x, n.x], shape, "MaximumMinimumOptions", how=n.scale(-2, 2))
    small = np.iinfo(dtype).min if n.small else 0
    n.op("LOGISTIC", [n.x], shape, how=(1 / 256, small) if n.small else None)
    n.op("TANH", [n.x], shape, how=(1 / 128, small + 128) if n.small else None)
    n.op("SOFTMAX", [n.x], shape, "SoftmaxOptions", how=(1 / 256, small) if n.small else None, beta=1.0)
    for name in ("RELU", "RELU6"):
        n.op(name, [n.x], shape, how=n.scale(-2, 2))
    n.op("LEAKY_RELU", [n.x], shape, "LeakyReluOptions", alpha=0.2)
    n.op("HARD_SWISH", [n.x], shape, "HardSwishOptions", -1, 2)
    if dtype != "uint8":
        n.op("ABS", [n.x], shape, how=n.scale(-2, 2))
    if n.small:
        n.op("QUANTIZE", [n.x], shape, "QuantizeOptions", -1, 3)
        n.op("DEQUANTIZE", [n.x], shape, "DequantizeOptions", dtype="float32")
    else:
        positive = n.op("SQUARE", [n.x], shape)
        for name in ("SQRT", "RSQRT", "LOG"):
            n.op(name, [positive], shape)
        for name in ("EXP", "SIN", "COS", "NEG", "FLOOR", "CEIL", "ROUND", "ELU"):
            n.op(name, [n.x], shape)
        for how in (True, False):
            n.op("GELU", [n.x], shape, "GeluOptions", approximate=how)
        n.op("DIV", [n.x, other], shape, "DivOptions")
        n.op("FLOOR_DIV", [n.x, other], shape, "FloorDivOptions")
        n.op("SQUARED_DIFFERENCE", [n.x, other], shape, "SquaredDifferenceOptions")
        n.op("PRELU", [n.x, other], shape)
        n.op("L2_NORMALIZATION", [n.x], shape, "L2NormOptions")
        n.op("LOG_SOFTMAX", [n.x], shape, "LogSoftmaxOptions")
        n.op("POW", [positive, other], shape, "PowOptions")
        n.op("CUMSUM", [n.x, n.integers(2)], shape, "CumsumOptions", reverse=True)
        n.op("BATCH_MATMUL", [n.x, n.x], [2, 3, 4, 4], "BatchMatMulOptions", adjY=True)
        less = n.op("LESS", [n.x, other], shape, "LessOptions", dtype="bool", output=False)
        unlike = n.op("LOGICAL_NOT", [less], shape, "LogicalNotOptions", dtype="bool", output=False)
        n.op("SELECT_V2", [unlike, n.x, other], shape, "SelectV2Options")
        whole = n.op("CAST", [n.x], shape, "CastOptions", inDataType=TYPES["float32"], outDataType=TYPES["int32"], dtype="int32")
        n.op("CAST", [whole], shape, "CastOptions", inDataType=TYPES["int32"], outDataType=TYPES["float32"])
        half = n.tensor([5], dtype="float16", data=n.numbers.uniform(0, 1, 5))
        n.op("ADD", [n.x, n.op("DEQUANTIZE", [half], [5], "DequantizeOptions", output=False)], shape, "AddOptions")
        for name in ("SUM", "REDUCE_MIN", "REDUCE_PROD"):
            n.op(name, [n.x, n.integers([-1, 0])], [1, 3, 4, 1], "ReducerOptions", keepDims=True)
        n.op("ARG_MIN", [n.x, n.integers(-1)], [2, 3, 4], "ArgMinOptions", outputType=TYPES["int64"], dtype="int64")
    n.op("REDUCE_MAX", [n.x, n.integers([2])], [2, 3, 5], "ReducerOptions", how=n.scale(-2, 2))
    n.op("ARG_MAX", [n.x, n.integers(1)], [2, 4, 5], "ArgMaxOptions", outputType=TYPES["int32"], dtype="int32")
    n.save()


def moves(dtype):
    n = Network(f"moves-{dtype}", dtype, [2, 4, 6, 8])
    same = n.scale(-2, 2)

    def move(name, inputs, shape, options=None, **values):
        return n.op(name, inputs, shape, options, how=same, **values)

    move("TRANSPOSE", [n.x, n.integers([0, 2, 3, 1])], [2, 6, 8, 4], "TransposeOptions")
    one = move("EXPAND_DIMS", [n.x, n.integers(1)], [2, 1, 4, 6, 8], "ExpandDimsOptions")
    move("SQUEEZE", [one], [2, 4, 6, 8], "SqueezeOptions", squeezeDims=[1])
    move("CONCATENATION", [n.x, n.x], [2, 4, 12, 8], "ConcatenationOptions", axis=-2)
    n.op("CONCATENATION", [n.x, n.op("NEG", [n.x], [2, 4, 6, 8], output=False) if not n.small else n.x], [2, 4, 6, 16],
         "ConcatenationOptions", how=same, axis=3)  # fmt: skip
    move("PACK", [n.x, n.x], [2, 4, 2, 6, 8], "PackOptions", valuesCount=2, axis=2)
    move("UNPACK", [n.x], [[2, 6, 8]] * 4, "UnpackOptions", num=4, axis=1)
    move("SPLIT", [n.integers(2), n.x], [[2, 4, 3, 8]] * 2, "SplitOptions", numSplits=2)
    move("SPLIT_V", [n.x, n.integers([3, -1]), n.integers(-1)], [[2, 4, 6, 3], [2, 4, 6, 5]], "SplitVOptions", numSplits=2)
    move("SLICE", [n.x, n.integers([0, 1, 2, 0]), n.integers([-1, 2, 3, -1])], [2, 2, 3, 8], "SliceOptions")
    places = [n.integers([0, -1, 1, 7]), n.integers([0, 0, -1, 0]), n.integers([1, 1, 2, -3])]
    move("STRIDED_SLICE", [n.x, *places], [2, 2, 3], "StridedSliceOptions", beginMask=0, endMask=1 | 8, shrinkAxisMask=2)
    move("PAD", [n.x, n.integers([[0, 0], [1, 2], [0, 1], [2, 0]])], [2, 7, 7, 10], "PadOptions")
    move("MIRROR_PAD", [n.x, n.integers([[0, 0], [1, 2], [0, 1], [2, 0]])], [2, 7, 7, 10], "MirrorPadOptions", mode=0)
    move("GATHER", [n.x, n.integers([3, 0])], [2, 4, 2, 8], "GatherOptions", axis=2)
    move("TILE", [n.x, n.integers([1, 2, 1, 1])], [2, 8, 6, 8], "TileOptions")
    move("DEPTH_TO_SPACE", [n.x], [2, 8, 12, 2], "DepthToSpaceOptions", blockSize=2)
    move("SPACE_TO_DEPTH", [n.x], [2, 2, 3, 32], "SpaceToDepthOptions", blockSize=2)
    move("BROADCAST_TO", [one, n.integers([2, 3, 4, 6, 8])], [2, 3, 4, 6, 8], "BroadcastToOptions")
    filled = n.tensor([1], *same, data=[0.5] if not n.small else [7])
    move("PADV2", [n.x, n.integers([[0, 0], [1, 2], [0, 1], [2, 0]]), filled], [2, 7, 7, 10], "PadV2Options")
    n.save()


def custom():
    """An operator that nothing here knows; no interpreter reads it."""
    n = Network("custom", "float32", [1, 4])
    n.op("CUSTOM", [n.x], [1, 4])
    n.model.operatorCodes[0].customCode, n.model.subgraphs = "unknown", [n.graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(n.model.Pack(builder), b"TFL3")
    (folder / "custom.tflite").write_bytes(bytes(builder.Output()))


def runs_of(path):
    """Inputs and outputs of a file, of some runs; small integers are those of a quiet room to a network that listens."""
    run = Interpreter(model_path=str(path), experimental_op_resolver_type=KERNELS)
    run.allocate_tensors()
    numbers = np.random.default_rng(6)
    detail = run.get_input_details()[0]
    for number in range(RUNS):
        if detail["dtype"] == np.float32:
            x = numbers.uniform(-1, 1, detail["shape"]).astype("float32")
        else:
            x = numbers.integers(-128, -100, detail["shape"]).astype(detail["dtype"])
        run.set_tensor(detail["index"], x)
        run.invoke()
        np.save(folder / f"{path.stem}.{number}.x.npy", x)
        for place, one in enumerate(run.get_output_details()):
            np.save(folder / f"{path.stem}.{number}.y{place}.npy", run.get_tensor(one["index"]))


if len(sys.argv) > 2:
    for file in sys.argv[2:]:
        runs_of(Path(file))
else:
    for dtype in ("float32", "int8", "uint8"):
        for build in (windows, elements, moves):
            build(dtype)
    custom()
