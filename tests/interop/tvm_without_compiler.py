# SPDX-License-Identifier: MIT
"""A plug-in for pytest that lets files of TVM's tests be imported without TVM's compiler: what they import of it is a
placeholder, and a test that uses one is skipped."""

import importlib
import importlib.machinery
import os
import sys
import types

import pytest
import tvm
import tvm.testing.env

PARTS = ("tvm.relax", "tvm.s_tir", "tvm.script", "tvm.te", "tvm.tirx", "tvm.topi")
OPERATORS = "add and floordiv ge getitem gt le lt mod mul neg or pow radd rmul rsub sub truediv".split()


def use(name):
    if "(call)" in os.environ.get("PYTEST_CURRENT_TEST", ""):
        pytest.skip(f"needs the compiler: {name}")
    return Absent(name)


class Absent:
    """Anything of the compiler, while a file is imported: a function, a decorator, a class."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return use(f"{self._name}.{name}")

    def __call__(self, *arguments, **named):
        return use(self._name)

    def __iter__(self):
        use(self._name)
        return iter(())

    def __mro_entries__(self, bases):
        return (object,)


for operator in OPERATORS:
    setattr(Absent, f"__{operator}__", lambda self, *others: use(self._name))


class AbsentModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")


def is_absent(name):
    return any(name == part or name.startswith(part + ".") for part in PARTS)


class Finder:
    def find_spec(self, name, path=None, target=None):
        if is_absent(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return AbsentModule(spec.name)

    def exec_module(self, module):
        pass


for loaded in list(filter(is_absent, sys.modules)):
    del sys.modules[loaded]
sys.meta_path.insert(0, Finder())
for part in PARTS:
    setattr(tvm, part.split(".")[1], importlib.import_module(part))
tvm.compile = tvm.build = Absent("tvm.compile")

# this part of relax is the runtime's
from tvm.runtime.vm import VirtualMachine  # noqa: E402

tvm.relax.VirtualMachine = VirtualMachine

# the build flags are in the compiler's library
tvm.testing.env.build_flag_enabled = lambda flag: flag == "USE_RPC"
