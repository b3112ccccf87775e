#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# inputs.py SEED FOLDER SHAPE...: write FOLDER/in0.npy, in1.npy, … of random numbers: inputs.py 1 . 1x64xint32
import sys

import numpy

seed, folder, *shapes = sys.argv[1:]
random = numpy.random.default_rng(int(seed))
for i, shape in enumerate(shapes):
    *extents, dtype = shape.split("x")
    limits = numpy.iinfo(dtype)
    # sums of two do not overflow
    values = random.integers(limits.min // 2, limits.max // 2, [int(n) for n in extents], dtype)
    numpy.save(f"{folder}/in{i}.npy", values)
