# SPDX-License-Identifier: MIT
"""How long a network takes in ONNX Runtime and in Tenon, one thread each: beside_onnxruntime.py TENON MODEL NETWORK INPUT"""

import json
import subprocess
import sys
import time

import numpy as np
import onnxruntime

tenon, model, network, input_file = sys.argv[1:5]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
feed = {session.get_inputs()[0].name: np.load(input_file)}


def of_onnxruntime():
    times = []
    for _ in range(110):
        begin = time.perf_counter()
        session.run(None, feed)
        times.append(time.perf_counter() - begin)
    return min(times[10:]) * 1e6


def of_tenon():
    command = [tenon, "bench", model, "--input", f"x=@{input_file}", "--runs", "100", "--json"]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)["nanoseconds"]["min"] / 1e3


# in turns, so that another program on the machine slows both
pairs = [(of_tenon(), of_onnxruntime()) for _ in range(3)]
ours, theirs = (min(column) for column in zip(*pairs))
print(f"Tenon with oneDNN {ours:.0f} µs, ONNX Runtime {onnxruntime.__version__} {theirs:.0f} µs, ratio {ours / theirs:.2f}")
