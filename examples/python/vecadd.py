#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Call a function of a module, on the processor or on a device: vecadd.py LIB [DEVICE]"""

import sys

import tenon

COUNT = 128


def main(path, device="cpu"):
    module = tenon.load(path, device=device)
    a = tenon.tensor([float(i) for i in range(COUNT)], device=device)
    b = tenon.tensor([0.5] * COUNT, device=device)
    total = tenon.empty(COUNT, device=device)
    module.vecadd(a, b, total)
    print(*total.to("cpu").tolist()[:4], "...")


main(*sys.argv[1:])
