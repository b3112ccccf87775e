# SPDX-License-Identifier: MIT
"""Run modules and models that Apache TVM or tenon-compile compiled, on the processor and on devices.

    import tenon

    module = tenon.load("vecadd.so")
    module.vecadd(a, b, sum)

    model = tenon.load("network.so", device="opencl:0")
    scores = model(image).numpy()

Tensors are exchanged with numpy, PyTorch and other libraries by DLPack, without a copy; numpy is not needed.
"""

from tenon import _core
from tenon._core import (
    ArgumentTypeError,
    ArgumentValueError,
    CallError,
    DeadlineError,
    Device,
    DeviceError,
    DType,
    Error,
    FileError,
    FormatError,
    Function,
    Module,
    NotFoundError,
    Object,
    OutOfMemoryError,
    Pointer,
    Queue,
    Recording,
    Shape,
    Tensor,
    Timeline,
    UnsupportedError,
    UsageError,
    configuration,
    devices,
    empty,
    from_buffer,
    from_dlpack,
    function,
    functions,
    load_bytes,
    load_module,
    set_current_device,
    system_module,
    unregister,
    version,
    wrap,
)
from tenon._language import LanguageModel, Reply
from tenon._linking import inspect, link, sign, unpack, verify
from tenon._model import Model, Operator, Port, Ports, Session, connect, load
from tenon._registering import make_module, module_kind, register

_core.check_interpreter()

__version__ = version()

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "CallError",
    "DType",
    "DeadlineError",
    "Device",
    "DeviceError",
    "Error",
    "FileError",
    "FormatError",
    "Function",
    "LanguageModel",
    "Model",
    "Module",
    "NotFoundError",
    "Object",
    "Operator",
    "OutOfMemoryError",
    "Pointer",
    "Port",
    "Ports",
    "Queue",
    "Recording",
    "Reply",
    "Session",
    "Shape",
    "Tensor",
    "Timeline",
    "UnsupportedError",
    "UsageError",
    "configuration",
    "connect",
    "devices",
    "empty",
    "from_buffer",
    "from_dlpack",
    "function",
    "functions",
    "inspect",
    "link",
    "load",
    "load_bytes",
    "load_module",
    "make_module",
    "module_kind",
    "register",
    "set_current_device",
    "sign",
    "system_module",
    "tensor",
    "unpack",
    "unregister",
    "verify",
    "version",
    "wrap",
]


def __getattr__(name):
    """Classes of errors that called code raised, such as tenon.KeyError: below CallError and KeyError. Pickle needs their names."""
    try:
        return _core.call_class(name)
    except LookupError:
        raise AttributeError(f"module 'tenon' has no attribute {name!r}") from None


def tensor(data, dtype=None, device=None):
    """Make a tensor of a number or of nested lists, or a copy of an array.

    Without a dtype, lists of int become int64, of float float32, and of bool bool.
    """
    from tenon import _elements

    return _elements.tensor(data, dtype, device)
