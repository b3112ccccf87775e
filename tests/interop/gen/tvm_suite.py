# SPDX-License-Identifier: MIT
"""TVM's own runtime as the peer of a suite."""

import tvm
import tvm_ffi

from . import tvm_device, tvm_host, tvm_packed, tvm_tree
from .case import Suite


class TvmSuite(Suite):
    def __init__(self, root):
        super().__init__(root, f"tvm-{tvm.__version__}",
                         {"tvm_version": tvm.__version__, "tvm_ffi_version": tvm_ffi.__version__})

    def load(self, path):
        return tvm.runtime.load_module(str(path))

    def tensor(self, array):
        t = tvm.runtime.empty(array.shape, str(array.dtype))
        return t.copyfrom(array) if array.size else t

    def empty(self, shape, dtype):
        return tvm.runtime.empty(shape, dtype)

    def numpy(self, tensor, dtype):
        return tensor.numpy()


def build(root):
    suite = TvmSuite(root)
    for name, about, make, optional in tvm_host.CASES + tvm_packed.CASES + tvm_tree.CASES + tvm_device.CASES:
        suite.build(name, about, make, optional)
    suite.done()
