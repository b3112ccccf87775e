# SPDX-License-Identifier: MIT
"""Callables with global names, and kinds of modules."""

from tenon import _core

_LOADERS = "ffi.Module.load_from_bytes."


def register(name, function=None, *, replace=False):
    """Give a callable a global name, by which compiled code finds it; also as a decorator. Returns the callable."""
    if function is not None:
        return _core.register(name, function, replace=replace)
    return lambda decorated: _core.register(name, decorated, replace=replace)


def make_module(functions, kind="python", data=None):
    """Make a module of callables: functions has them by their names. With data, bytes, it can be saved."""
    return _core.make_module(kind, dict(functions), data)


def module_kind(kind, load=None, *, replace=False):
    """Register the loader of a kind of modules; also as a decorator. Returns the loader.

    It is called with the bytes of a module, and returns a mapping from names to callables, or a tenon.Module. Files that are
    opened from now on may have modules of this kind. It must trust the bytes as little as the file.
    """
    if load is None:
        return lambda decorated: module_kind(kind, decorated, replace=replace)

    def loader(data):
        loaded = load(data)
        return loaded if isinstance(loaded, _core.Module) else make_module(loaded, kind, data)

    _core.register(_LOADERS + kind, loader, replace=replace)
    return load
