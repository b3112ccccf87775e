#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a .npz file again with other numbers: change_npz.py FROM TO NAME=NUMBER...

All numbers of the array NAME become NUMBER. Checksums are right again.
"""
import struct
import sys
import zipfile

HEADER = 128    # of an array of few dimensions, as numpy writes it

changes = dict(word.split("=") for word in sys.argv[3:])
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for entry in old.namelist():
        data = old.read(entry)
        number = changes.pop(entry.removesuffix(".npy"), None)
        if number is not None:
            data = data[:HEADER] + struct.pack("<q", int(number)) * ((len(data) - HEADER) // 8)
        new.writestr(entry, data)
if changes:
    sys.exit("no such array: " + ", ".join(changes))
