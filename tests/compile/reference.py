# SPDX-License-Identifier: MIT
"""Inputs, and the outputs that ONNX Runtime computes: reference.py NETWORK FOLDER FILE writes those of a network that
classifies files, without FILE those of the first input's shape, 1x3x48x192, filled with random numbers."""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime

network, folder = Path(sys.argv[1]), Path(sys.argv[2])
if len(sys.argv) > 3:
    text = Path(sys.argv[3]).read_bytes().strip()
    x = np.full((1, 2048), 256, "int32")
    beginning, end = text[:1024], text[-1024:]
    x[0, : len(beginning)] = list(beginning)
    x[0, 2048 - len(end) :] = list(end)
    config = json.loads(network.with_name("config.min.json").read_text())
    (folder / "labels.txt").write_text("\n".join(config["target_labels_space"]) + "\n")
else:
    x = np.random.default_rng(1).uniform(-1, 1, (1, 3, 48, 192)).astype("float32")
session = onnxruntime.InferenceSession(network)
np.save(folder / "x.npy", x)
np.save(folder / "y.npy", session.run(None, {session.get_inputs()[0].name: x})[0])
