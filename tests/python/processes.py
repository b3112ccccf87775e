# SPDX-License-Identifier: MIT
"""The package in a process with several interpreters, in one that forks, and in one that ends while threads use it."""

import os
import signal
import subprocess
import sys
import threading
import traceback

import tenon
from cases import TVM, Skip, need

VECADD = TVM / "host_vecadd/lib.so"


def _interpreters():
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            return __import__(name)
        except ImportError:
            pass
    raise Skip("this Python has no module for interpreters")


def another_interpreter_is_refused():
    interpreters = _interpreters()
    code = "try:\n import tenon\nexcept ImportError as error:\n assert 'interpreter' in str(error), error\nelse:\n raise SystemError"
    # from 3.13 on, those that share the GIL are "legacy"
    legacy = ("legacy",) if sys.version_info >= (3, 13) else ()
    for kind in {(), legacy}:
        other = interpreters.create(*kind)
        failure = interpreters.run_string(other, code)
        assert failure is None, failure
        interpreters.destroy(other)
    assert tenon.wrap(lambda x: x + 1)(2) == 3


def a_child_runs_functions():
    vecadd = tenon.load(VECADD).vecadd
    stop = threading.Event()

    def work():
        while not stop.is_set():
            a = tenon.empty(128)
            vecadd(a, a, a)

    thread = threading.Thread(target=work)
    thread.start()
    child = os.fork()
    if not child:
        # it must not go on with the cases of its parent, nor wait for a lock without end
        try:
            signal.alarm(60)
            a = tenon.tensor([1.0] * 128)
            vecadd(a, a, a)
            if a.tolist()[0] == 2:
                os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    stop.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def threads_may_run_while_python_ends():
    need("DEVICE_NULL")
    code = """
import sys, threading, tenon
class Last:
    def __del__(self):
        tenon.empty(3)
        self.call()
last = Last()
last.call = tenon.wrap(lambda: 1)
sys.last = last
sys.kept = [tenon.load(sys.argv[1]), tenon.from_buffer(bytearray(8)), tenon.Device("null:0").queue()]
tenon.register("test.kept", last.call)
def work():
    while True:
        last.call()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
"""
    subprocess.run([sys.executable, "-c", code, VECADD], check=True, timeout=120)
