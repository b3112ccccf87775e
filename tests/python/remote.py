# SPDX-License-Identifier: MIT
"""Sessions with the server of RPC."""

import os
import subprocess
import tempfile
import time

import tenon
from cases import COMMAND, TVM, Skip, close, need, raises, read_npy


class _Server:
    def __enter__(self):
        need("REMOTE_CLIENT")
        need("REMOTE")
        if not os.access(COMMAND, os.X_OK):
            raise Skip("the command is not built")
        self.folder = tempfile.TemporaryDirectory()
        self.address = f"unix:{self.folder.name}/server"
        self.process = subprocess.Popen(
            [COMMAND, "rpc", "serve", "--listen", self.address, "--folder", self.folder.name],
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while not os.path.exists(self.address[5:]) and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.address

    def __exit__(self, *details):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def a_module_and_a_model_run_on_a_server():
    with _Server() as address, tenon.connect(address, connect_timeout=20) as session:
        session.ping()
        module = session.load(TVM / "host_vecadd/lib.so")
        device = session.device("cpu:0")
        folder = TVM / "host_vecadd"
        a, b = (read_npy(folder / f"c0_in{i}.npy").to(device) for i in (0, 1))
        out = tenon.empty(a.shape, a.dtype, device)
        module.vecadd(a, b, out)
        assert close(out.to("cpu"), read_npy(folder / "c0_out2.npy"))
        session.upload("note", b"some bytes")
        assert session.download("note") == b"some bytes" and session.facts["requests"] > 0
        raises(tenon.NotFoundError, session.function, "no.such.function")
        folder = TVM / "model_mlp"
        model = session.load(folder / "model.so", function="forward")
        assert close(model(read_npy(folder / "r0_x.npy")).to("cpu"), read_npy(folder / "r0_out0.npy"))
        model.close()
    raises(tenon.UsageError, session.ping)


def an_address_without_a_server_is_an_error():
    need("REMOTE_CLIENT")
    assert "/nowhere" in str(raises(OSError, tenon.connect, "unix:/nowhere/server", connect_timeout=1))
    raises(ValueError, tenon.connect, "nonsense:::", connect_timeout=1)
