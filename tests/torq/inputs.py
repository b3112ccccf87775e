#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# inputs.py SEED FOLDER SHAPE...: write FOLDER/in0.npy, in1.npy, … of random numbers: inputs.py 1 . 1x64xint32; of 1xint32<33
# they are from 0 to 32; those of floats are a normal distribution's
import sys

import numpy

seed, folder, *shapes = sys.argv[1:]
random = numpy.random.default_rng(int(seed))
for i, shape in enumerate(shapes):
    shape, _, end = shape.partition("<")
    *extents, dtype = shape.split("x")
    extents = [int(n) for n in extents]
    if dtype.startswith("float"):
        values = random.standard_normal(extents, dtype)
    else:
        limits = numpy.iinfo(dtype)
        # sums of two do not overflow
        begin, end = (0, int(end)) if end else (limits.min // 2, limits.max // 2)
        values = random.integers(begin, end, extents, dtype)
    numpy.save(f"{folder}/in{i}.npy", values)
