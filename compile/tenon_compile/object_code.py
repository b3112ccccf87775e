# SPDX-License-Identifier: MIT
"""Object code of kernels for a better processor, which a process of its own generates beside this one."""

import contextlib
import multiprocessing
import shutil
import tempfile
from pathlib import Path

from .errors import CompileError, first_line


class ObjectCode:
    """Code of kernels, by a function that makes them; their names get a key behind them.

    The process ends with this one at the latest.
    """

    def __init__(self, make_kernels, key, target):
        self.key = key
        self._folder = tempfile.TemporaryDirectory()
        self._object, self._error = (Path(self._folder.name) / name for name in ("code.o", "error"))
        # a copy of this process has TVM and the kernels already
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=self._generate, args=(make_kernels, target), daemon=True)
        self._process.start()

    def _generate(self, make_kernels, target):
        import tvm

        try:
            functions = {}
            for variable, function in make_kernels().functions.items():
                name = f"{variable.name_hint}.{self.key}"
                functions[name] = function.with_attr("global_symbol", name)
            tvm.compile(tvm.IRModule(functions), target=target).mod.write_to_file(str(self._object), "o")
        except Exception as error:  # TVM raises whatever its C++ does
            self._object.unlink(missing_ok=True)
            self._error.write_text(first_line(error), encoding="utf-8")

    def stop(self):
        self._process.terminate()
        self._process.join()

    def write_to_file(self, path, _format="o"):
        """Wait for the code, and write it to an object file."""
        self._process.join()
        if self._process.exitcode or not self._object.exists():
            why = f"the process that generates it ended with {self._process.exitcode}"
            with contextlib.suppress(OSError):
                why = self._error.read_text(encoding="utf-8")
            raise CompileError(f"no code for {self.key}: {why}; --processor names others")
        shutil.copyfile(self._object, path)
