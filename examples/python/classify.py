#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tell the type of files by Magika, a pretrained network, as examples/magika/classify does: classify.py FILE..."""

import sys
from pathlib import Path

import tenon

MAGIKA = Path(__file__).resolve().parents[1] / "magika"
# bytes of the beginning and of the end of a file, and what fills up short ones
PART, FILL = 1024, 256


def network_input(path):
    data = Path(path).read_bytes()
    first = data[:4096].lstrip()[:PART]
    last = data[-4096:].rstrip()[-PART:]
    row = list(first) + [FILL] * (PART - len(first)) + [FILL] * (PART - len(last)) + list(last)
    return tenon.tensor([row], "int32")


def main(paths):
    labels = (MAGIKA / "labels.txt").read_text().splitlines()
    model = tenon.load(MAGIKA / "cpu.so", params=MAGIKA / "magika.params")
    for path in paths:
        (scores,) = model(network_input(path)).tolist()
        best = sorted(range(len(scores)), key=scores.__getitem__)[-3:]
        print(f"{path}: " + ", ".join(f"{labels[i]} {100 * scores[i]:.1f} %" for i in reversed(best)))


main(sys.argv[1:])
