#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile RapidOCR's networks for read.py: compile.py NETWORKS FOLDER, where tests/compile/prepare put the networks.

Writes finds.so, turns.so, reads.so, and characters.txt, the names of what the last one tells apart.
"""

import platform
import re
import subprocess
import sys
from pathlib import Path

import onnx

COMPILER = Path(__file__).resolve().parents[2] / "compile" / "tenon-compile"
# file of the network, and height and width of a picture
NETWORKS = {
    "finds": ("ch_PP-OCRv4_det_infer.onnx", (640, 640)),
    "turns": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", (48, 192)),
    "reads": ("ch_PP-OCRv4_rec_infer.onnx", (48, 480)),
}


def processor():
    """The option that names the better code of this machine, if it has it."""
    if platform.machine() != "x86_64":
        return []
    flags = re.search("^flags.*", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return ["--processor", "v3"] if flags and {"avx2", "fma", "bmi2"} <= set(flags[0].split()) else []


def main():
    models, folder = Path(sys.argv[1]) / "rapidocr_onnxruntime" / "models", Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for name, (file, (height, width)) in NETWORKS.items():
        words = [models / file, "-o", folder / f"{name}.so", "--shape", f"x=1,3,{height},{width}", *processor()]
        subprocess.run([sys.executable, COMPILER, *words], check=True)
    properties = onnx.load(models / NETWORKS["reads"][0]).metadata_props
    characters = next(one.value for one in properties if one.key == "character")
    (folder / "characters.txt").write_text(characters.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
