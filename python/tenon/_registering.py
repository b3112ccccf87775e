# SPDX-License-Identifier: MIT
"""Callables with global names."""

from tenon import _core


def register(name, function=None, *, replace=False):
    """Give a callable a global name, by which compiled code finds it; also as a decorator. Returns the callable."""
    if function is not None:
        return _core.register(name, function, replace=replace)
    return lambda decorated: _core.register(name, decorated, replace=replace)
