#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a streaming network with variables gives when it gets the same input again and again.

make_repeated.py NETWORK.tflite OUT STEPS

Needs numpy and ai-edge-litert. Writes OUT.in and OUT.ref, the output of the last of STEPS runs. The input is the one of some
for which the outputs differ most: of a step alone, or of one without the steps before it, they are others.
"""
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

SEEDS = range(40, 80)


def outputs(network, steps, seed):
    interpreter = Interpreter(network, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    source, result = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    random = np.random.default_rng(seed)
    part = random.random()
    value = np.where(random.random(source["shape"]) < part, -128, 127).astype(source["dtype"])
    found = []
    for _ in range(steps):
        interpreter.set_tensor(source["index"], value)
        interpreter.invoke()
        found.append(interpreter.get_tensor(result["index"]).tobytes())
    return len(set(found)), value.tobytes(), found[-1]


def main():
    network, out, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    count, value, last = max(outputs(network, steps, seed) for seed in SEEDS)
    if count < 4:
        sys.exit(f"{network}: {count} different outputs in {steps} steps")
    for name, data in (".in", value), (".ref", last):
        with open(out + name, "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
