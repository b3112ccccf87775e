# SPDX-License-Identifier: MIT
"""The error that the command prints in a line."""


class CompileError(Exception):
    """Something that the user can act on: a wrong argument, or a file that cannot be compiled."""


class NotCompiled(CompileError):
    """TVM does not compile what it imported."""


def of_type(value, kind, path, key):
    """A value of a file that has to be of a type of Python's; a whole number may stand for a float."""
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise CompileError(f"{path}: {key} is of type {type(value).__name__}, expected {kind.__name__}")
    return value


def first_line(error):
    """The kind of an exception, and the first line of its text."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = type(error).__name__
    return f"{kind}: {lines[0]}" if lines else kind
