# SPDX-License-Identifier: MIT
"""Puts Tenon in the place of TVM's runtime in a process of Python.

TVM compiles; what it compiled is exported as a library, and everything that the library does happens in the worker.
Import this before tvm, and call install() after it.
"""

import os
import shutil
import sys
import tempfile

import tvm_ffi

from link import Kept, KeptFunction, NotExpressible, Worker

# global functions of TVM's runtime, which a test may call by themselves
RUNTIME_NAMES = ("vm.builtin.", "tvm.contrib.sort.", "tvm.contrib.random.")
# modules that hold compiled code and run in the process that compiled it
RUNNABLE_KINDS = ("llvm", "static_library", "library", "c")

_find_global = tvm_ffi.get_global_func
_register = tvm_ffi.register_global_func
_registered = {}
_state = {"worker": None, "notes": []}


def worker():
    return _state["worker"]


def notes():
    """What could not be expressed since the last call."""
    taken, _state["notes"] = _state["notes"], []
    return taken


def not_expressible(reason):
    _state["notes"].append(reason)
    raise NotExpressible(reason)


def register_global_func(func_name, f=None, override=False):
    if callable(func_name):
        f, func_name = func_name, func_name.__name__

    def register(function):
        result = _register(func_name, function, override)
        _registered[func_name] = function
        if worker():
            worker().register(func_name, function)
        return result

    return register(f) if f is not None else register


def get_global_func(name, allow_missing=False):
    if not worker() or not str(name).startswith(RUNTIME_NAMES):
        return _find_global(name, allow_missing)
    found = worker().find_global(name)
    if found is None and not allow_missing:
        raise ValueError(f"Cannot find global function {name}")
    return found


# modules of Python take these by name when they are imported, so they are replaced first
for _module in (tvm_ffi, tvm_ffi.registry):
    _module.register_global_func = register_global_func
    _module.get_global_func = get_global_func


class TenonModule(Kept):
    """A module in the worker. `stock` makes TVM's own module of the same file, for questions about how it was made."""

    stock = None
    __class__ = property(lambda self: sys.modules["tvm"].runtime.Module)

    @property
    def imports(self):
        return worker().imports(self)

    def get_function(self, name, query_imports=False):
        function = worker().find(self, name, query_imports)
        if function is None:
            raise AttributeError(f"Module has no function '{name}'")
        return function

    def implements_function(self, name, query_imports=False):
        return worker().find(self, name, query_imports) is not None

    def __getitem__(self, name):
        return self.get_function(name)

    def __call__(self, *args):
        return self.get_function("main", True)(*args)

    def time_evaluator(self, *_, **__):
        not_expressible("time_evaluator, which takes a function of the same process")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.stock and hasattr(tvm_ffi.Module, name) or name == "imports_":
            return getattr(self.stock(), name)
        return self.get_function(name)


def install(program):
    import tvm
    from tvm import relax
    from tvm.runtime import Executable, Module

    def make_tensor(shape, dtype):
        return tvm.runtime.empty(shape, str(dtype))

    state = _state["worker"] = Worker(program, make_tensor)
    state.registered.update(_registered)
    # a library of TVM's tests has these, and not its runtime: they stay here, as what tests register in Python
    for name in tvm_ffi.registry.list_global_func_names():
        if name.startswith("testing."):
            state.registered.setdefault(name, _find_global(name))
    state.kinds["ffi.Module"] = TenonModule
    state.exporting = False
    state.not_expressible = not_expressible
    folder = tempfile.mkdtemp(prefix="tenon-suite-")
    stock = {"jit": Executable.jit, "load": tvm.runtime.load_module, "vm": relax.VirtualMachine.__init__}
    stock["export"] = Module.export_library
    stock["item"], stock["get"], stock["call"] = Module.__getitem__, Module.get_function, Module.__call__
    count = iter(range(1 << 30))

    def export(module, **options):
        path = os.path.join(folder, f"{next(count)}.so")
        if module.kind == "relax.VMExecutable" and not module.imports:
            # a program that calls no compiled function: TVM writes a library only if there is code to link
            module.import_module(empty_library())
        try:
            Module.export_library(module, path, **options)
        except Exception as error:
            not_expressible(f"a module that TVM does not export: {str(error)[:300]}")
        return path

    def export_library(self, *args, **options):
        # TVM asks the module that it made, which need not run
        state.exporting = True
        try:
            return stock["export"](self, *args, **options)
        finally:
            state.exporting = False

    def empty_library():
        nothing = tvm.tirx.PrimFunc([], tvm.tirx.Evaluate(0)).with_attr("global_symbol", "does_nothing")
        return tvm.tirx.build(tvm.IRModule({"does_nothing": nothing}), target="llvm")

    def load(path, stock_module):
        module = state.load(path)
        module.stock = stock_module
        return module

    def jit(self, *, fcompile=None, addons=None, force_recompile=False, **options):
        if self._jitted_mod is None or force_recompile:
            path = export(self.mod, fcompile=fcompile, addons=addons, **options)
            self._jitted_mod = load(path, lambda: stock["load"](path))
        return self._jitted_mod

    def of_module(module):
        """The module in the worker for one that TVM would run in this process."""
        known = module.__dict__.get("on_tenon")
        if known is None:
            known = module.__dict__["on_tenon"] = load(export(module), lambda: module)
        return known

    def load_module(path):
        path = os.fspath(path)
        if not path.endswith(".so"):
            return stock["load"](path)
        copy = os.path.join(folder, f"{next(count)}.so")
        shutil.copy(path, copy)
        return load(copy, lambda: stock["load"](copy))

    def is_runnable(module):
        if state.exporting or type(module) is TenonModule:
            return False
        return tvm_ffi.Module.kind.fget(module) in RUNNABLE_KINDS

    def get_function(self, name, query_imports=False):
        if is_runnable(self):
            return of_module(self).get_function(name, query_imports)
        return stock["get"](self, name, query_imports)

    def get_item(self, name):
        return of_module(self)[name] if is_runnable(self) else stock["item"](self, name)

    def call(self, *args):
        return of_module(self)(*args) if is_runnable(self) else stock["call"](self, *args)

    def make_machine(self, rt_mod, device, memory_cfg=None):
        if isinstance(rt_mod, Module) and type(rt_mod) is not TenonModule and rt_mod.kind != "rpc":
            rt_mod = of_module(rt_mod)
        elif isinstance(rt_mod, Executable):
            rt_mod = rt_mod.jit()
        devices = device if isinstance(device, list | tuple) else [device]
        if type(rt_mod) is TenonModule and any(d.dlpack_device_type() != 1 for d in devices):
            not_expressible(f"a machine on {devices[0]}")
        stock["vm"](self, rt_mod, device, memory_cfg)

    Executable.jit = jit
    Module.export_library = export_library
    tvm.runtime.load_module = tvm.runtime.module.load_module = load_module
    Module.__getitem__, Module.get_function, Module.__call__ = get_item, get_function, call
    relax.VirtualMachine.__init__ = make_machine
    return state


__all__ = ["Kept", "KeptFunction", "install", "notes", "worker"]
