#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random files of parameters by their packages of PyPI, and by tenon params: equal bit for bit."""

import subprocess
import sys
from pathlib import Path

import gguf
import numpy
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize
from safetensors.numpy import load_file, save_file

BLOCKS = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q4_K, Type.Q5_K, Type.Q6_K]
TWO_SCALES = (Type.Q4_1, Type.Q5_1, Type.Q4_K, Type.Q5_K)
NUMBERS = ["float64", "float32", "float16", "int64", "int32", "int16", "int8"]
MORE = ["uint64", "uint32", "uint16", "uint8", "bool", "complex64"]
SCALES = numpy.array([0, -0.0, 6e-8, 6e-5, 65504, 1e-4], "f2")

command, folder = sys.argv[1], Path(sys.argv[2])


def tenon(*words):
    subprocess.run([command, "params", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def array(random, dtype):
    shape = random.integers(0, 9, random.integers(0, 4))
    return numpy.asarray(random.standard_normal(shape) * 50).astype(dtype)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def extracted(path, *words):
    """The arrays that tenon params makes of a file, by name."""
    to = folder / f"{path.name}-{'-'.join(words)}"
    tenon("extract", path, "-o", to, *words)
    return {file.stem: numpy.load(file) for file in to.iterdir()}


def check_safetensors(random):
    arrays = {f"{name}.{i}": array(random, name) for name in NUMBERS + MORE for i in range(3)}
    path, archive, back = folder / "a.safetensors", folder / "a.npz", folder / "b.safetensors"
    save_file(arrays, path, {"format": "np"})
    numpy.savez(archive, **arrays)
    for source in (path, archive):
        found = extracted(source)
        assert found.keys() == arrays.keys()
        for name, want in arrays.items():
            assert same(found[name], want), f"{source}: {name}"
        for words in ([], ["--align", "64"]):
            tenon("convert", source, back, *words)
            written = load_file(back)
            for name, want in arrays.items():
                assert same(written[name], want), f"{source} converted: {name}"
            back.unlink()


def write_gguf(random, path, alignment):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("tokenizer.ggml.tokens", ["a", "bb", "ä"] * 50)
    writer.add_array("numbers", [1, 2, 3])
    writer.add_custom_alignment(alignment)
    for kind in BLOCKS:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        rows, count = random.integers(1, 9, 2)
        raw = random.integers(0, 256, (rows, count, size), dtype="u1")
        scales = numpy.concatenate([random.standard_normal(60).astype("f2"), SCALES])
        for at in (208,) if kind == Type.Q6_K else (0, 2) if kind in TWO_SCALES else (0,):
            raw[:, :, at : at + 2] = random.choice(scales, (rows, count, 1)).view("u1")
        writer.add_tensor(kind.name, raw.reshape(rows, -1), raw_dtype=kind)
    for name in NUMBERS:
        writer.add_tensor(name, (random.standard_normal((3, 2, 5)) * 50).astype(name))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check_gguf(random, alignment):
    path = folder / f"{alignment}.gguf"
    write_gguf(random, path, alignment)
    for dtype in ("", "float32", "float16"):
        found = extracted(path, *(["--dequantize", dtype] if dtype else []))
        for tensor in gguf.GGUFReader(path).tensors:
            want = numpy.asarray(tensor.data)
            if dtype and tensor.tensor_type in BLOCKS:
                with numpy.errstate(over="ignore"):
                    want = dequantize(want, tensor.tensor_type).astype(dtype)
            assert same(found[tensor.name], want), f"{tensor.name} {dtype}"


for seed in range(2):
    check_safetensors(numpy.random.default_rng(seed))
    check_gguf(numpy.random.default_rng(seed), 32 << seed)
