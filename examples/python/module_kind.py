#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kind of module in Python, as examples/module_kind.c is one in C: module_kind.py

Modules of the kind "scaler" are a number, with a function that multiplies by it. One is linked into a file here, which any
program can open in which the kind has a loader.
"""

import struct
import tempfile
from pathlib import Path

import tenon


@tenon.module_kind("scaler")
def load_scaler(data):
    (factor,) = struct.unpack("<I", data)
    return {"scale": lambda number: number * factor}


def main():
    print(tenon.load_bytes("scaler", struct.pack("<I", 7)).scale(6))

    with tempfile.TemporaryDirectory() as folder:
        part, file = Path(folder, "seven.bin"), Path(folder, "seven.so")
        part.write_bytes(struct.pack("<I", 7))
        tenon.link([(part, "scaler")], file, allow_unknown=True)
        module = tenon.load(file)
        print(module.kind, module.scale(5))


main()
