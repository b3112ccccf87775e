# SPDX-License-Identifier: MIT
"""Runs a server of Apache TVM, of either generation, with the functions of its tests: stock_server.py KEY"""

import os
import signal
import sys
import time


def register():
    """Called in the process of a server, which has none of this module's names."""
    import numpy as np
    import tvm

    if hasattr(tvm, "register_func"):
        def add(name, f):
            tvm.register_func(name, f, override=True)
        array = tvm.nd.array
    else:
        import tvm_ffi

        def add(name, f):
            tvm_ffi.register_global_func(name, f, override=True)
        array = tvm.runtime.tensor

    def fails(text):
        raise ValueError(text)

    add("testing.echo", lambda x: x)
    add("rpc.test.addone", lambda x: x + 1)
    add("rpc.test.strcat", lambda name, x: f"{name}:{x}")
    add("rpc.test.except", fails)
    add("rpc.test.add_to", lambda x: tvm.runtime.convert(lambda y: x + y))
    add("rpc.test.zeros", lambda: array(np.zeros(10, "float32")))


def descendants(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(child) for child in file.read().split()]
    except OSError:
        children = []
    return sum((descendants(child) for child in children), children)


def end(*_):
    """A server that is ended leaves its workers behind."""
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(0)


if __name__ == "__main__":
    from tvm import rpc

    signal.signal(signal.SIGTERM, end)

    first = 20000 + os.getpid() % 20000
    server = rpc.Server("127.0.0.1", first, first + 500, key=sys.argv[1], server_init_callback=register)
    print(f"listening on 127.0.0.1:{server.port}", flush=True)
    while True:
        time.sleep(1)
