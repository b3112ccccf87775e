#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random operators of the processor, by LiteRT's reference kernels and by a command that reads frames.

	random_operators.py SEED COUNT FOLDER COMMAND...

runs COMMAND FILE --stream for each model, with the first input as a frame and others as files; what it writes is compared byte for byte. Models that the reference kernels
refuse are not counted. The command may refuse as unsupported what REFUSED says, and nothing else.
"""
import os
import subprocess
import sys

import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from make_operators import Tensor, pack

B, O = s.BuiltinOperator, s.BuiltinOptions
BYTES, QUANTISED = (np.int8, np.uint8), (np.int8, np.uint8, np.int16)
MOVED = QUANTISED + (np.float32, np.int32)
REFUSED = ("they are too far apart", "is out of range")
NAME = "t%d"  # of tensors, as pack() has it


class Draw:
    """One operator of a seed: what it takes, and what it gives."""

    def __init__(self, seed):
        self.r = np.random.default_rng([16, seed])

    def of(self, *choices):
        return choices[self.r.integers(len(choices))]

    def shape(self, least=1, most=5):
        if self.r.random() < 0.1:
            return [int(self.r.integers(1, 600))] + [1] * (least - 1)
        return [int(n) for n in self.r.integers(1, 8, self.r.integers(least, most))]

    def scale(self, least=-20, most=8):
        return float(np.float32(2.0 ** self.r.uniform(least, most)))

    def zero(self, dtype):
        info = np.iinfo(dtype)
        return 0 if dtype == np.int16 else int(self.of(info.min, info.max, 0, self.r.integers(info.min, info.max + 1)))

    def values(self, dtype, shape):
        if dtype == np.float32:
            return self.r.normal(size=shape) * 10.0 ** self.r.integers(-6, 7)
        info = np.iinfo(dtype)
        if self.r.random() < 0.2:
            return self.r.choice([info.min, info.max], shape)
        return self.r.integers(info.min, info.max, shape, endpoint=True)

    def given(self, dtype, shape, scale=None):
        """An input with random contents, and without a scale one that it has by its type."""
        if scale is None and dtype in QUANTISED:
            scale = self.scale()
        return Tensor(dtype, shape, scale, self.zero(dtype) if dtype in QUANTISED else 0, values=self.values(dtype, shape))

    def like(self, tensor, shape):
        return Tensor(tensor.dtype, shape, tensor.scale, tensor.zero)

    def indices(self, values):
        values = np.asarray(values)
        return Tensor(np.int32, list(values.shape), data=values)

    # ---- operators: number, inputs, outputs, kind of options, options

    def quantize(self):
        shape, dtype = self.shape(), self.of(*QUANTISED)
        out = Tensor(dtype, shape, self.scale(), self.zero(dtype))
        if self.r.random() < 0.4:
            values = self.r.normal(size=shape) * self.of(0.1, 100, 30000) * out.scale
            if self.r.random() < 0.3:
                values = (self.r.integers(-300, 300, shape) + 0.5) * out.scale
            return B.QUANTIZE, [Tensor(np.float32, shape, values=values)], [out], 0, None
        given = self.given(self.of(*QUANTISED), shape)
        if self.r.random() < 0.6:
            out.scale = float(np.float32(given.scale * self.of(1, 0.5, 2, 1.001, 2.0 ** self.r.uniform(-8, 8))))
        return B.QUANTIZE, [given], [out], 0, None

    def dequantize(self):
        given = self.given(self.of(*QUANTISED), self.shape())
        return B.DEQUANTIZE, [given], [Tensor(np.float32, given.shape)], 0, None

    def softmax(self):
        dtype, o = self.of(*BYTES), s.SoftmaxOptionsT()
        o.beta = float(self.of(1, 1, 0.1, 3, 17))
        given = self.given(dtype, self.shape(1, 5), self.scale(-22, 7))
        return B.SOFTMAX, [given], [Tensor(dtype, given.shape, 1 / 256, -128 if dtype == np.int8 else 0)], \
            O.SoftmaxOptions, o

    def logistic(self):
        given = self.given(np.int8, self.shape(), self.scale(-30, 5))
        return B.LOGISTIC, [given], [Tensor(np.int8, given.shape, 1 / 256, -128)], 0, None

    def pad(self):
        given = self.given(self.of(*MOVED), self.shape())
        around = self.r.integers(0, 4, [len(given.shape), 2])
        out = self.like(given, [int(n) for n in np.array(given.shape) + around.sum(axis=1)])
        if self.r.random() < 0.5:
            return B.PAD, [given, self.indices(around)], [out], O.PadOptions, s.PadOptionsT()
        filling = Tensor(given.dtype, [1], given.scale, given.zero, data=self.values(given.dtype, [1]))
        return B.PADV2, [given, self.indices(around), filling], [out], O.PadV2Options, s.PadV2OptionsT()

    def concatenation(self):
        first, o = self.given(self.of(*MOVED), self.shape()), s.ConcatenationOptionsT()
        axis = int(self.r.integers(len(first.shape)))
        o.axis = axis - (len(first.shape) if self.r.random() < 0.5 else 0)
        inputs, whole = [first], list(first.shape)
        for extent in self.r.integers(1, 6, self.r.integers(0, 5)):
            shape = list(first.shape)
            shape[axis] = int(extent)
            whole[axis] += int(extent)
            more = self.like(first, shape)
            more.values = np.asarray(self.values(first.dtype, shape), first.dtype)
            inputs.append(more)
        return B.CONCATENATION, inputs, [self.like(first, whole)], O.ConcatenationOptions, o

    def reshape(self):
        given = self.given(self.of(*MOVED), self.shape())
        shape = [int(n) for n in self.r.permutation(given.shape)] + [1] * int(self.r.integers(0, 3))
        asked = list(shape)
        if self.r.random() < 0.5:
            asked[self.r.integers(len(asked))] = -1
        return B.RESHAPE, [given, self.indices(asked)], [self.like(given, shape)], O.ReshapeOptions, s.ReshapeOptionsT()

    def transpose(self):
        given = self.given(self.of(*MOVED), self.shape())
        order = self.r.permutation(len(given.shape))
        return B.TRANSPOSE, [given, self.indices(order)], [self.like(given, [given.shape[i] for i in order])], \
            O.TransposeOptions, s.TransposeOptionsT()

    def slice(self):
        given = self.given(self.of(*MOVED), self.shape())
        begin = [int(self.r.integers(n)) for n in given.shape]
        size = [int(self.r.integers(1, n - b + 1)) for n, b in zip(given.shape, begin)]
        asked = [-1 if b + z == n and self.r.random() < 0.5 else z for n, b, z in zip(given.shape, begin, size)]
        return B.SLICE, [given, self.indices(begin), self.indices(asked)], [self.like(given, size)], O.SliceOptions, \
            s.SliceOptionsT()

    def squeeze(self):
        shape, o = self.shape(), s.SqueezeOptionsT()
        at = int(self.r.integers(len(shape) + 1))
        given = self.given(self.of(*MOVED), shape[:at] + [1] + shape[at:])
        o.squeezeDims = [at - (len(shape) + 1 if self.r.random() < 0.5 else 0)]
        return B.SQUEEZE, [given], [self.like(given, shape)], O.SqueezeOptions, o

    def expand_dims(self):
        given = self.given(self.of(*MOVED), self.shape())
        at = int(self.r.integers(len(given.shape) + 1))
        axis = at - (len(given.shape) + 1 if self.r.random() < 0.5 else 0)
        return B.EXPAND_DIMS, [given, self.indices([axis])], [self.like(given, given.shape[:at] + [1] + given.shape[at:])], \
            O.ExpandDimsOptions, s.ExpandDimsOptionsT()

    def any(self):
        return self.of(self.quantize, self.quantize, self.dequantize, self.softmax, self.softmax, self.logistic, self.pad,
                       self.concatenation, self.reshape, self.transpose, self.slice, self.squeeze, self.expand_dims)()


def interpret(model, inputs):
    """What the reference kernels give; nothing if they refuse the model."""
    try:
        run = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        run.allocate_tensors()
    except (RuntimeError, ValueError):
        return b""
    for d, t in zip(run.get_input_details(), inputs):
        run.set_tensor(d["index"], t.values)
    run.invoke()
    return b"".join(run.get_tensor(d["index"]).tobytes() for d in run.get_output_details())


def reference(model, inputs):
    """The same from a process of its own: of some models the kernels say abort()."""
    given, taken = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(taken, "wb") as f:
            f.write(interpret(model, inputs))
        os._exit(0)
    os.close(taken)
    with os.fdopen(given, "rb") as f:
        out = f.read()
    os.waitpid(child, 0)
    return out


def compare(seed, folder, command):
    """0 if both agree, 1 if the command refuses what it may, 2 if the reference kernels refuse; else why they do not."""
    builtin, inputs, outputs, kind, options = Draw(seed).any()
    takes, gives = list(range(len(inputs))), [len(inputs)]
    fed = [t for t in inputs if t.values is not None]
    model = pack([(builtin, takes, gives, kind, options)], inputs + outputs,
                 [i for i in takes if inputs[i].values is not None], gives)
    want = reference(model, fed)
    if not want:
        return 2
    path = os.path.join(folder, "random.tflite")
    with open(path, "wb") as f:
        f.write(model)
    others = []
    for number, t in enumerate(fed[1:], 1):
        with open("%s.%d" % (path, number), "wb") as f:
            f.write(t.values.tobytes())
        shape = "x".join(str(n) for n in t.shape)
        others += ["--input", "%s=%sx%s=@%s.%d" % (NAME % number, shape, t.dtype.__name__, path, number)]
    ran = subprocess.run(command + [path, "--stream"] + others, input=fed[0].values.tobytes(), capture_output=True,
                         check=False)
    if ran.returncode:
        said = ran.stderr.decode()
        return 1 if any(text in said for text in REFUSED) else said
    if ran.stdout == want:
        return 0
    return "%d bytes, want %d" % (len(ran.stdout), len(want)) if len(ran.stdout) != len(want) else \
        "%d of %d bytes differ" % (sum(a != b for a, b in zip(ran.stdout, want)), len(want))


def main():
    first, count, folder, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    counts = [0, 0, 0]
    wrong = 0
    for seed in range(first, first + count):
        result = compare(seed, folder, command)
        if isinstance(result, int):
            counts[result] += 1
            continue
        wrong += 1
        print("seed %d: operator %d: %s" % (seed, Draw(seed).any()[0], result))
    print("%d equal, %d refused as unsupported, %d refused by the reference kernels, %d wrong" % (*counts, wrong))
    return 1 if wrong or counts[0] < count * 3 // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
