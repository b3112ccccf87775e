# SPDX-License-Identifier: MIT
"""A case beside a module: inputs, and the outputs that the network gives for them."""

import zipfile

import numpy

from .errors import CompileError, first_line
from .inputs import quoted


def read(path, argument):
    """The array in a file."""
    try:
        array = numpy.load(path)
    except OSError as error:
        raise CompileError(f"{argument}: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise CompileError(f"{argument}: no array of NumPy (.npy)") from error
    if not isinstance(array, numpy.ndarray):
        raise CompileError(f"{argument}: several arrays; save one by numpy.save()")
    return array


def make_inputs(inputs, given):
    """An array for each input: a file's, or random numbers, the same each time."""
    numbers = numpy.random.default_rng(1)
    arrays = {}
    for value in inputs:
        name, shape, dtype = value["name"], value["shape"], numpy.dtype(value["dtype"])
        if name in given:
            array = read(given[name], f"--case {name}={given[name]}")
            if list(array.shape) != shape or array.dtype != dtype:
                raise CompileError(
                    f"--case {name}={given[name]}: has {array.dtype} {array.shape}, not {dtype} {tuple(shape)}"
                )
        elif dtype.kind == "f":
            array = numbers.uniform(-1, 1, shape).astype(dtype)
        else:
            array = numbers.integers(0, 2, shape).astype(dtype)
        arrays[name] = array
    unknown = set(given) - set(arrays)
    if unknown:
        raise CompileError(f"--case {unknown.pop()}: no such input. Inputs: {', '.join(arrays)}")
    return arrays


def outputs_of(network, arrays):
    """What the network gives: by ONNX Runtime if it is installed, else by the reference that comes with onnx."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        return ReferenceEvaluator(network).run(None, arrays)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, arrays)


def write(module, network, arrays):
    """Write model.case/input0.npy …, output0.npy …; the options of "tenon run" that compare."""
    folder = module.with_suffix(".case")
    try:
        outputs = outputs_of(network, arrays)
    except Exception as error:  # both raise whatever they like
        raise CompileError(f"--case: the network does not run: {first_line(error)}") from error
    folder.mkdir(exist_ok=True)
    words = []
    for number, (name, array) in enumerate(arrays.items()):
        numpy.save(folder / f"input{number}.npy", array)
        words += ["--input", f"{quoted(name)}=@{folder / f'input{number}.npy'}"]
    for number, array in enumerate(outputs):
        numpy.save(folder / f"output{number}.npy", array)
        words += ["--expect", f"@{folder / f'output{number}.npy'}"]
    return [*words, "--rtol", "1e-3", "--atol", "1e-4"]
