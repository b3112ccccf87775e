# SPDX-License-Identifier: MIT
"""Open what tenon link made in TVM: open_in_tvm.py MODULE KERNEL NUMBERS

TVM from PyPI has no OpenCL, so this stands in for its loader: it checks the payload and returns
KERNEL, a host library with a function of the kernel's name.
"""
import sys

import numpy
import tvm
import tvm_ffi

module, kernel, numbers = sys.argv[1:]
payloads = []


@tvm_ffi.register_global_func("ffi.Module.load_from_bytes.opencl")
def load(payload):
    payloads.append(bytes(payload))
    return tvm_ffi.load_module(kernel)


m = tvm_ffi.load_module(module)
assert len(payloads) == 1 and payloads[0].startswith(b"\x02" + bytes(7) + b"cl"), payloads
a = tvm.runtime.tensor(numpy.arange(8, dtype="float32"))
b = tvm.runtime.tensor(numpy.ones(8, dtype="float32"))
out = tvm.runtime.tensor(numpy.zeros(8, dtype="float32"))
m["vecadd"](a, b, out)
want = numpy.array([float(n) for n in numbers.split(",")], dtype="float32")
assert (out.numpy() == want).all(), out.numpy()
try:
    m["vecadd"](a, b)
except ValueError as e:
    assert "no tensor" in str(e), e
else:
    raise AssertionError("a missing argument was not noticed")
print(tvm.__version__, out.numpy())
