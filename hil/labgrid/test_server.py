# SPDX-License-Identifier: MIT
"""A test of labgrid's pytest plug-in: "tenon rpc serve" on a board, and clients here. TENON names the command of one.

pytest --lg-env hil/labgrid/ssh.yaml hil/labgrid/test_server.py
"""

import os
import subprocess

import pytest
from labgrid.driver import ExecutionError

TENON = os.environ.get("TENON", "tenon")


@pytest.fixture
def board(target):
    driver = target.get_driver("TenonDriver")
    yield driver
    target.deactivate(driver)


def ask(port):
    return subprocess.run(
        [TENON, "rpc", "ping", f"127.0.0.1:{port}", "--count", "3"], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_client_reaches_the_server_of_the_board(board, target):
    address = board.start_server()
    with target.get_driver("SSHDriver").forward_local_port(int(address.rpartition(":")[2])) as port:
        answer = ask(port)
        assert answer.returncode == 0, answer.stderr
        board.stop_server()
        assert ask(port).returncode != 0


def test_the_python_package_runs_a_function_on_the_board(board, target):
    tenon = pytest.importorskip("tenon")
    address = board.start_server()
    with target.get_driver("SSHDriver").forward_local_port(int(address.rpartition(":")[2])) as port:
        with tenon.connect(f"127.0.0.1:{port}", connect_timeout=60) as session:
            session.upload("numbers.bin", b"\1\2\3")
            assert session.download("numbers.bin") == b"\1\2\3"
            there = tenon.tensor([1.0, 2.0, 3.0]).to(session.device("cpu:0"))
            assert there.copy().to("cpu").tolist() == [1.0, 2.0, 3.0]


def test_the_server_ends_with_the_driver(board, target):
    board.start_server()
    server = board._server
    target.deactivate(board)
    _, _, status = target.get_driver("SSHDriver").run(f"kill -0 {server}")
    assert status != 0


def test_a_server_that_cannot_start_says_why(board):
    address = board.start_server()
    second = type(board)(board.target, name="second", tenon=board.tenon)
    board.target.activate(second)
    with pytest.raises(ExecutionError) as caught:
        second.start_server(listen=address)
    assert "Address already in use" in "".join(caught.value.stdout)
    board.target.deactivate(second)
