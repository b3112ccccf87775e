# SPDX-License-Identifier: MIT
"""Tests for pytest with the plug-in of the package; beside.sh runs them."""

import tenon
from cases import TVM
from tenon.pytest_plugin import assert_close


def test_device(tenon_device, tenon_load):
    module = tenon_load(TVM / "host_vecadd/lib.so")
    assert "vecadd" in module.functions and tenon_device == tenon.Device("cpu")


def test_close():
    assert_close(tenon.tensor([1.0, float("nan"), float("inf")]), [1.0000001, float("nan"), float("inf")])


def test_differs():
    assert_close(tenon.tensor([[1.0, 2.0], [3.0, 4.0]]), [[1.0, 3.0], [3.0, 6.0]])
