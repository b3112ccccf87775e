# SPDX-License-Identifier: MIT
"""Tests by pytest of a function on a board: the vector addition of examples/link/vecadd_mortise.c, which says how to link it.

TENON_MODULE=vecadd.so pytest -p tenon.pytest_plugin examples/python/test_board.py --tenon-device mortise://sim

"sim" is the firmware on a thread, "rv32" and "rv64" are boards that QEMU emulates; with the name of a board of yours the
tests run there.
"""

import os

import pytest
import tenon
from tenon.pytest_plugin import assert_close

pytestmark = pytest.mark.skipif("TENON_MODULE" not in os.environ, reason="TENON_MODULE names no module")


@pytest.fixture
def vecadd(tenon_load):
    return tenon_load(os.environ["TENON_MODULE"])["vecadd"]


@pytest.mark.parametrize("count", [1, 8, 1000])
def test_numbers_are_added(vecadd, tenon_device, count):
    a, b = tenon.tensor(list(range(count)), "int32"), tenon.tensor([-1] * count, "int32")
    total = tenon.empty(count, "int32", tenon_device)
    vecadd(a.to(tenon_device), b.to(tenon_device), total)
    assert_close(total, [number - 1 for number in range(count)])


def test_vectors_of_two_lengths_are_refused(vecadd, tenon_device):
    a, b = (tenon.empty(count, "int32", tenon_device) for count in (8, 9))
    with pytest.raises(tenon.Error, match="one length"):
        vecadd(a, b, a)


def test_a_call_is_recorded_once_and_runs_often(vecadd, tenon_device):
    with tenon_device.recording() as recording:
        recording.call(vecadd, *(recording.slot(number, 8, "int32") for number in range(3)))
    queue = tenon_device.queue()
    one = tenon.tensor([1] * 8, "int32").to(tenon_device)
    totals = [one] + [tenon.empty(8, "int32", tenon_device) for _ in range(10)]
    for before, after in zip(totals, totals[1:]):
        queue.execute(recording, [before, one, after])
    queue.sync(timeout=60)
    assert_close(totals[-1], [11] * 8)
