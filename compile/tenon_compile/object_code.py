# SPDX-License-Identifier: MIT
"""Object code of kernels for a better processor, which a process of its own generates beside this one."""

import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from .errors import CompileError, first_line
from .own_process import die_with_parent

MOST_SAID = 65536  # bytes of what a process said that are read


class ObjectCode:
    """Code of kernels, by a function that makes them; their names get a key behind them.

    The process ends with this one at the latest.
    """

    def __init__(self, make_kernels, key, target):
        self.key = key
        self._folder = tempfile.TemporaryDirectory()
        self._object = Path(self._folder.name) / "code.o"
        self._said = os.memfd_create("said")  # what the process prints; no file, since the disk may be full
        # a copy of this process has TVM and the kernels already
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=self._generate, args=(os.getpid(), make_kernels, target), daemon=True)
        self._process.start()

    def _generate(self, parent, make_kernels, target):
        import tvm

        die_with_parent(parent)
        os.dup2(self._said, 2)
        try:
            functions = {}
            for variable, function in make_kernels().functions.items():
                name = f"{variable.name_hint}.{self.key}"
                functions[name] = function.with_attr("global_symbol", name)
            tvm.compile(tvm.IRModule(functions), target=target).mod.write_to_file(str(self._object), "o")
        except Exception as error:  # TVM raises whatever its C++ does
            self._object.unlink(missing_ok=True)
            print(first_line(error), file=sys.__stderr__, flush=True)

    def stop(self):
        self._process.terminate()
        self._process.join()

    def write_to_file(self, path, _format="o"):
        """Wait for the code, and write it to an object file."""
        self._process.join()
        if self._process.exitcode == -signal.SIGKILL:
            raise CompileError(f"no code for {self.key}: the system ended the process that generates it, as it does when memory runs out")
        if self._process.exitcode or not self._object.exists():
            said = os.pread(self._said, MOST_SAID, 0).decode(errors="replace").strip().splitlines()
            why = said[-1] if said else f"the process that generates it ended with {self._process.exitcode}"
            remedy = "TMPDIR names a folder for temporary files" if "No space left" in why else "--processor names others"
            raise CompileError(f"no code for {self.key}: {why}; {remedy}")
        shutil.copyfile(self._object, path)
