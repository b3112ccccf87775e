#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a model in two processes of a cluster of Ray: cluster.py MODEL [FUNCTION]; needs pip install ray numpy."""

import sys

import numpy
import tenon.ray

path, *function = sys.argv[1:]
options = {"function": function[0]} if function else {}
port = tenon.load(path, **options).inputs[0]
inputs = (numpy.full(port.shape, number, port.dtype) for number in range(100))
with tenon.ray.Actors(path, ["cpu:0", "cpu:0"], **options) as actors:
    for number, output in enumerate(actors.map(inputs)):
        print(number, output.ravel()[:4])
