# SPDX-License-Identifier: MIT
"""The error that the command prints in a line."""


class CompileError(Exception):
    """Something that the user can act on: a wrong argument, or a file that cannot be compiled."""


def first_line(error):
    """The kind of an exception, and the first line of its text."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = type(error).__name__
    return f"{kind}: {lines[0]}" if lines else kind
