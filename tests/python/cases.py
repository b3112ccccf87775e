# SPDX-License-Identifier: MIT
"""What the cases of this folder share: where files are, files of numpy without numpy, and TAP."""

import ast
import os
import sys
import traceback
from pathlib import Path

import tenon

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TENON_BUILD", SOURCE / "build"))
COMMAND = os.environ.get("TENON_COMMAND", str(BUILD / "tenon"))
DATA = SOURCE / "tests/interop/data"
TVM = DATA / "tvm-0.27.0.post1"
FFI = DATA / "tvm-ffi-0.1.15.post2"
TAKES = BUILD / "tests/python/takes.so"


class Skip(Exception):
    """A case that cannot run here, and why."""


def need(option):
    """Skip a case without an option of the build."""
    if option not in [name.split("=")[0] for name in tenon.configuration()]:
        raise Skip(f"needs CONFIG_{option}")


def gil_is_there():
    """Whether one thread of Python runs at a time."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


def need_module(name):
    """A module of Python that not every machine has."""
    try:
        return __import__(name)
    except ImportError:
        raise Skip(f"{name} is not installed") from None


def read_npy(path):
    """The tensor of a file of numpy."""
    data = Path(path).read_bytes()
    assert data[:6] == b"\x93NUMPY" and data[6] == 1, path
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode())
    names = {"<f4": "float32", "<i4": "int32", "<i8": "int64", "<f8": "float64", "|i1": "int8", "|u1": "uint8"}
    assert not header["fortran_order"], path
    return tenon.from_buffer(data[10 + size :], names[header["descr"]], header["shape"])


def raises(kind, function, *args, **named):
    """Call a function that must raise an exception; returns it."""
    try:
        function(*args, **named)
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def flat(items):
    """The numbers of nested lists."""
    return [number for item in items for number in flat(item)] if isinstance(items, list) else [items]


def close(a, b, within=1e-4):
    """Test whether two tensors have nearly the same elements."""
    a, b = flat(a.tolist()), flat(b.tolist())
    return len(a) == len(b) and all(abs(x - y) <= within + within * abs(y) for x, y in zip(a, b))


def cases_of(module):
    """Functions of a module whose names are sentences, in the order of the file."""
    found = [f for f in vars(module).values() if callable(f) and getattr(f, "__module__", "") == module.__name__]
    found = [f for f in found if hasattr(f, "__code__") and not f.__name__.startswith("_")]
    return sorted(found, key=lambda f: f.__code__.co_firstlineno)


def run(modules):
    """Run the cases of modules, and print TAP; the status to end with."""
    failures, number = 0, 0
    for module in modules:
        for case in cases_of(module):
            number += 1
            sentence = case.__name__.replace("_", " ")
            try:
                case()
                print(f"ok {number} - {sentence}", flush=True)
            except Skip as reason:
                print(f"ok {number} - {sentence} # SKIP {reason}", flush=True)
            except Exception:
                failures += 1
                print(f"not ok {number} - {sentence}", flush=True)
                print("# " + traceback.format_exc().rstrip().replace("\n", "\n# "), flush=True)
    print(f"1..{number}")
    return 1 if failures else 0
