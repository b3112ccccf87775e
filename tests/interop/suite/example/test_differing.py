# SPDX-License-Identifier: MIT
"""A test that passes on TVM's runtime alone, so that one sees that a difference is seen."""

import os

import numpy as np
import tvm
from test_agreeing import increment


def test_runtime_is_tvm():
    a = tvm.runtime.tensor(np.zeros(4, "int32"))
    tvm.compile(increment, "llvm")["increment"](a)
    assert a.numpy()[0] == (2 if os.environ["TENON_SUITE_WORKER"] else 1)
