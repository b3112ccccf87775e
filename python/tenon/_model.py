# SPDX-License-Identifier: MIT
"""Models: named inputs and outputs, runs, profiles. And what opens files, here and on a server."""

import os
from _thread import RLock

from tenon import _core


class Operator:
    """An operator of a model: its name, the function that it calls, and the nanoseconds of a profiled run."""

    __slots__ = ("name", "function", "nanoseconds")

    def __init__(self, name, function, nanoseconds=None):
        self.name = name
        self.function = function
        self.nanoseconds = nanoseconds

    def __repr__(self):
        took = "" if self.nanoseconds is None else f", {self.nanoseconds} ns"
        return f"<tenon.Operator {self.name}{took}>"


class Port:
    """An input or output of a model: its name, dtype and shape, of which None is unknown before a run."""

    __slots__ = ("_model", "_index", "_is_input", "name", "dtype", "shape")

    def __init__(self, model, index, is_input, facts):
        self._model = model
        self._index = index
        self._is_input = is_input
        self.name, self.dtype, self.shape = facts

    def __repr__(self):
        kind = "input" if self._is_input else "output"
        return f"<tenon.Port {kind} {self.name!r} {self.shape} {self.dtype}>"

    @property
    def index(self):
        """Number among the inputs or outputs."""
        return self._index

    @property
    def is_set(self):
        """Whether an input has a value, as a parameter or by set()."""
        return not self._is_input or self._model._core.is_set(self._index)

    @property
    def value(self):
        """The value of an output, without a copy: the next run may overwrite it."""
        if self._is_input:
            raise AttributeError("the library does not give inputs back")
        return self._model._core.output(self._index)

    def set(self, value):
        """Copy a value into an input."""
        self._need_input()
        self._model._core.set_input(self._index, value)

    def bind(self, value):
        """Use a tensor, or an array, as an input without a copy: each run reads its data of then."""
        self._need_input()
        self._model._core.bind_input(self._index, value)

    def _need_input(self):
        if not self._is_input:
            raise AttributeError(f"{self.name!r} is an output")


class Ports:
    """The inputs or the outputs of a model, by name or number; iterating gives the names."""

    __slots__ = ("_model", "_is_input")

    def __init__(self, model, is_input):
        self._model = model
        self._is_input = is_input

    def _facts(self):
        core = self._model._core
        return core.inputs() if self._is_input else core.outputs()

    def __getitem__(self, key):
        facts = self._facts()
        if isinstance(key, int):
            index = key + len(facts) if key < 0 else key
            if not 0 <= index < len(facts):
                raise IndexError(f"the model has {len(facts)} {self._kind()}s")
        else:
            index = next((i for i, (name, _, _) in enumerate(facts) if name == key), None)
            if index is None:
                names = ", ".join(name for name, _, _ in facts[:20])
                raise _core.NotFoundError(f"the model has no {self._kind()} {key!r}; it has: {names}")
        return Port(self._model, index, self._is_input, facts[index])

    def __setitem__(self, key, value):
        self[key].set(value)

    def __contains__(self, key):
        return any(name == key for name, _, _ in self._facts())

    def __iter__(self):
        return iter([name for name, _, _ in self._facts()])

    def __len__(self):
        return len(self._facts())

    def __repr__(self):
        return f"<tenon.Ports {list(self)}>"

    def keys(self):
        """The names."""
        return list(self)

    def values(self):
        """The ports."""
        return [Port(self._model, i, self._is_input, facts) for i, facts in enumerate(self._facts())]

    def items(self):
        """Names and ports."""
        return [(port.name, port) for port in self.values()]

    def _kind(self):
        return "input" if self._is_input else "output"


class Model:
    """A model that is open, on its devices.

    A call sets inputs, runs the model, and returns its output, or a tuple of several. Calls of several threads wait
    for each other; to run a model concurrently, open it once for each thread.
    """

    def __init__(self, module, opener, devices):
        self.module = module
        self.devices = tuple(devices)
        self.inputs = Ports(self, True)
        self.outputs = Ports(self, False)
        self._open = opener
        self._core = opener()
        self._lock = RLock()

    def __repr__(self):
        on = ", ".join(str(device) for device in self.devices) or "cpu:0"
        return f"<tenon.Model {self._core.kind} on {on}>"

    def __reduce__(self):
        raise TypeError("cannot pickle 'tenon.Model' object: give the path of its file, and open it where it shall run")

    def __call__(self, *args, **named):
        with self._lock:
            self._set(args, named)
            self._core.run()
            outputs = tuple(self._result(i) for i in range(len(self.outputs)))
        return outputs[0] if len(outputs) == 1 else outputs

    def main(self, *args, **named):
        """As a call of the model."""
        return self(*args, **named)

    def _set(self, args, named):
        """Set inputs by position, among those that are no parameters, and by name."""
        if args:
            free = [port for port in self.inputs.values() if port.name not in self._params]
            if len(args) > len(free):
                raise _core.ArgumentTypeError(f"the model has {len(free)} inputs, not {len(args)}")
            for port, value in zip(free, args):
                if port.name in named:
                    raise _core.ArgumentTypeError(f"two values for the input {port.name!r}")
                port.set(value)
        for name, value in named.items():
            self.inputs[name].set(value)

    @property
    def _params(self):
        """The names of parameters: inputs that have a value before any was set."""
        names = self.__dict__.get("_params_known")
        if names is None:
            names = self._params_known = frozenset(
                port.name for port in self.inputs.values() if port.is_set
            )
        return names

    def _result(self, index):
        """An output that later runs leave as it is."""
        value = self._core.output(index)
        # machines of Relax give each run its own; other executors write into the same storage again
        return value.copy() if isinstance(value, _core.Tensor) and self._core.kind != "relax" else value

    @property
    def kind(self):
        """The executor: "graph", "aot", "relax", "tflite"."""
        return self._core.kind

    @property
    def params(self):
        """The names of the parameters."""
        return sorted(self._params)

    @property
    def operators(self):
        """The operators in the order of execution; code that was compiled ahead of time has no list of them."""
        return [Operator(name, function) for name, function in self._core.operators()]

    @property
    def memory(self):
        """Bytes that the model uses: params, activations, workspace, and the number of storages."""
        return self._core.memory()

    def run(self):
        """Run the model once, with the inputs that are set; outputs[name].value are the results."""
        with self._lock:
            self._core.run()

    def set_params(self, params):
        """Set parameters: those of a file, or of a mapping of names to tensors."""
        with self._lock:
            self._params  # those of the module
            if isinstance(params, (str, bytes, os.PathLike)):
                before = {port.name for port in self.inputs.values() if port.is_set}
                self._core.set_params(params)
                new = {port.name for port in self.inputs.values() if port.is_set} - before
            else:
                new = set(params)
                for name in params:
                    self.inputs[name].set(params[name])
            self._params_known |= new

    def profile(self, *args, **named):
        """Run once, and return the operators with their times."""
        with self._lock:
            self._set(args, named)
            return [Operator(*row) for row in self._core.profile()]

    def reset(self):
        """Open the model anew: no input is set, and state that it keeps between runs is gone."""
        with self._lock:
            fresh = self._open()
            self._core.close()
            self._core = fresh
            self.__dict__.pop("_params_known", None)

    def close(self):
        """Free the model; outputs stay valid."""
        with self._lock:
            self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.close()


def _device_list(device, read):
    if device is None:
        return []
    several = device if isinstance(device, (list, tuple)) else [device]
    return [read(one) for one in several]


# what tenon_model_open() opens; modules of other kinds have functions to call
_MODEL_KINDS = frozenset(
    (
        "GraphExecutorFactory",
        "GraphRuntimeFactory",
        "AotExecutorFactory",
        "relax.VMExecutable",
        "relax.Executable",
        "tflite",
    )
)


def _is_model(module):
    return module.kind in _MODEL_KINDS


def _check_kernels(module, devices, path):
    """Refuse a device that the module has no kernels for: it would run on the processor instead."""
    has = module.device_types
    for device in devices:
        if device.type != "cpu" and device.type not in has:
            for_what = ", ".join(sorted(has)) or "the processor alone"
            raise _core.DeviceError(f"{os.fspath(path)}: no kernels for {device}; it has code for {for_what}")


def load(path, device=None, *, function=None, graph=None, params=None):
    """Open a file: a Model if it has one, else a Module.

    device: a device or its name, or several of a model; it must exist, and the file must have code for it.
    function: the model in the file, where it has several.
    graph, params: files of a model whose library, graph and parameters are separate.
    """
    devices = _device_list(device, _core.Device)
    module = _core.load_module(path)
    text = None
    if graph is not None:
        with open(graph, "rb") as file:
            text = file.read().decode()
    file_of_params = None if params is None else os.fspath(params)

    def opener():
        return _core.open_model(module, devices, function, text, file_of_params)

    _check_kernels(module, devices, path)
    if text is not None or _is_model(module):
        return Model(module, opener, devices)
    if function is not None or params is not None:
        raise _core.UsageError(f"{os.fspath(path)} is no model, which function and params are for")
    for one in devices:
        if one.type != "cpu":
            _core.set_current_device(one)
    return module


class Session:
    """A session with a server of TVM's RPC: modules and models that run there. End it with close(), or use it in with."""

    def __init__(self, core):
        self._core = core

    @property
    def facts(self):
        """Address, server and requests so far."""
        return self._core.facts

    def ping(self):
        """Send the smallest request and wait for its answer."""
        self._core.ping()

    def load(self, path, device=None, *, function=None):
        """Send a file, compiled for the server's machine, and open it there: a Model if it has one, else a Module."""
        module = self._core.load_module(path)
        devices = _device_list("cpu:0" if device is None else device, self._read_device)
        if not _is_model(_core.inspect_module(path)):
            return module
        return Model(module, lambda: self._core.open_model(module, devices, function), devices)

    def _read_device(self, device):
        return device if isinstance(device, _core.Device) else self._core.device(device)

    def device(self, name):
        """A device of the server, for tensors."""
        return self._core.device(name)

    def function(self, name):
        """A global function of the server."""
        return self._core.function(name)

    def upload(self, name, data):
        """Write a file in the session's folder."""
        self._core.upload(name, data)

    def download(self, name):
        """The bytes of a file of the session's folder."""
        return self._core.download(name)

    def close(self):
        """End the session; the server releases everything."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.close()


def connect(address, *, key=None, secret_file=None, connect_timeout=None, request_timeout=None):
    """Open a session with a server of TVM's RPC: "board:9090", "unix:PATH", "rpc+tracker://HOST:PORT"; timeouts in seconds."""
    return Session(
        _core.connect(
            address,
            key=key,
            secret_file=secret_file,
            connect_timeout=connect_timeout,
            request_timeout=request_timeout,
        )
    )
