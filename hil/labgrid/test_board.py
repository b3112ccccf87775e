# SPDX-License-Identifier: MIT
"""A test of labgrid's pytest plug-in: a suite on the board of the environment.

pytest --lg-env hil/labgrid/qemu.yaml hil/labgrid/test_board.py
"""

import os

import pytest


@pytest.fixture(scope="module")
def board(target):
    """The board, switched on, with a shell. Its driver is found by name, since the environment file loads its module."""
    power = target.get_driver("QEMUDriver", activate=False)
    target.activate(power)
    power.on()
    driver = target.get_driver("TenonDriver")
    yield driver
    target.deactivate(driver)
    power.off()


def test_a_suite_passes(board, tmp_path):
    suite = tmp_path / "suite"
    suite.write_text('#!/bin/sh\necho 1..2\necho "ok 1 - $TENON_SEED"\necho "ok 2 - device # SKIP none"\n')
    board.put(suite, "suite")
    result = board.run_suite("suite", seed=7)
    assert result.passed and result.cases == [("7", "pass"), ("device", "skip")], result


def test_a_failure_and_a_broken_plan_are_seen(board, tmp_path):
    suite = tmp_path / "bad"
    suite.write_text('#!/bin/sh\necho 1..3\necho "ok 1 - fine"\necho "not ok 2 - equal"\nexit 1\n')
    board.put(suite, "bad")
    result = board.run_suite("bad")
    assert not result.passed and result.status == 1
    assert [verdict for _, verdict in result.cases] == ["pass", "fail", "fail"]


def test_a_suite_that_hangs_is_stopped(board, tmp_path):
    suite = tmp_path / "hangs"
    suite.write_text('#!/bin/sh\necho 1..1\nsleep 1000\n')
    board.put(suite, "hangs")
    result = board.run_suite("hangs", timeout=2)
    assert not result.passed and result.status in (137, 124)


@pytest.mark.skipif("TENON_SUITE" not in os.environ, reason="TENON_SUITE names no program")
def test_a_program(board):
    board.put(os.environ["TENON_SUITE"], "program")
    result = board.run_suite("program", timeout=300)
    assert result.passed, result.lines
