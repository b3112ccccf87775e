# SPDX-License-Identifier: MIT
"""The extensions on libraries beside libtenon, which are imported on first use."""

import importlib

from tenon import _core

_LIBRARIES = {"_link": ("libtenon-link", "CONFIG_LINK"), "_llm": ("libtenon-llm", "CONFIG_LANGUAGE_MODELS, CONFIG_TOOL and CONFIG_DSO")}


def extension(name, what):
    """Import an extension; the error names what needs it, the library, and how to get it."""
    full = f"tenon.{name}"
    try:
        return importlib.import_module(full)
    except ImportError as error:
        library, option = _LIBRARIES[name]
        if isinstance(error, ModuleNotFoundError) and error.name == full:
            remedy = f"this package was built without it: build Tenon with {option}, and then the package again"
        else:
            remedy = f"install it ({error})"
        raise _core.UnsupportedError(f"{what} needs {library}; {remedy}") from error
