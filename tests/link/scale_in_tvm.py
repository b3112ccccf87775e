# SPDX-License-Identifier: MIT
"""Parameters in a module: scale_in_tvm.py writes scale.npz; scale_in_tvm.py MODULE calls it in TVM"""
import sys

import numpy

parameters = {"weight": numpy.float32([1, 10, 100]), "bias": numpy.float32([0.5]), "unused": numpy.arange(4)}
if len(sys.argv) == 1:
    numpy.savez("scale.npz", **parameters)
    sys.exit()

import tvm
import tvm_ffi

# the function outlives the module
scale = tvm_ffi.load_module(sys.argv[1])["scale"]
out = tvm.runtime.tensor(numpy.zeros(3, dtype="float32"))
scale(tvm.runtime.tensor(numpy.float32([0, 1, 2])), out)
assert (out.numpy() == numpy.float32([0.5, 10.5, 200.5])).all(), out.numpy()

found = tvm_ffi.load_module(sys.argv[1])["get_const_var_tensor"]()
assert sorted(found) == sorted(parameters), found
for name, value in parameters.items():
    assert (found[name].numpy() == value).all(), name
print(tvm.__version__, out.numpy())
