# SPDX-License-Identifier: MIT
"""A case in a module and beside it: inputs, and the outputs that the network gives for them."""

import hashlib
import struct
import zipfile

import numpy

from .errors import CompileError, first_line
from .inputs import quoted


# how much what Tenon computes may differ
RTOL, ATOL = 1e-3, 1e-4

# codes of dtypes in DLPack
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


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


def expected(network, arrays, constants):
    """What the network gives, some of whose inputs are constants; a reason why it does not run is an error."""
    try:
        outputs = outputs_of(network, {**arrays, **constants})
    except Exception as error:  # both raise whatever they like
        raise CompileError(f"--case: the network does not run: {first_line(error)}") from error
    for name, value in [*arrays.items(), *zip((output.name for output in network.graph.output), outputs)]:
        if numpy.asarray(value).dtype.kind not in CODES:
            raise CompileError(f"--case: {name} is {numpy.asarray(value).dtype}, of which no case is kept")
    return outputs


def write(module, arrays, outputs):
    """Write model.case/input0.npy …, output0.npy …; the options of "tenon run" that compare."""
    folder = module.with_suffix(".case")
    folder.mkdir(exist_ok=True)
    words = []
    for number, (name, array) in enumerate(arrays.items()):
        numpy.save(folder / f"input{number}.npy", array)
        words += ["--input", f"{quoted(name)}=@{folder / f'input{number}.npy'}"]
    for number, array in enumerate(outputs):
        numpy.save(folder / f"output{number}.npy", array)
        words += ["--expect", f"@{folder / f'output{number}.npy'}"]
    return [*words, "--rtol", str(RTOL), "--atol", str(ATOL)]


def packed_string(data):
    return struct.pack("<Q", len(data)) + data


def packed_values(values):
    """Names and arrays as a module has them (docs/modules.md)."""
    parts = [struct.pack("<Q", len(values))]
    for name, value in values:
        array = numpy.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(value.shape)
        kind = struct.pack("<BBHII", CODES[array.dtype.kind], 8 * array.itemsize, 1, 0, array.ndim)
        parts += [packed_string(name.encode()), kind, struct.pack(f"<{array.ndim}Q", *array.shape)]
        parts.append(packed_string(array.tobytes()))
    return b"".join(parts)


def section(folder, name, arrays, outputs):
    """A source that puts the case into the module, as "tenon link --case" does, for "tenon run --self-test"."""
    values = packed_values(list(arrays.items())) + packed_values([("", numpy.asarray(value)) for value in outputs])
    cases = struct.pack("<Q", 1) + packed_string(name.encode()) + struct.pack("<ddQ", RTOL, ATOL, 0) + values
    record = struct.pack("<I", 1) + hashlib.sha256(cases).digest() + cases
    (folder / "cases").write_bytes(packed_string(record))
    path = str(folder / "cases").replace("\\", "\\\\").replace('"', '\\"')
    text = f'.pushsection .tenon.cases,"",%progbits\n.incbin "{path}"\n.popsection\n'
    source = folder / "cases.c"
    lines = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    source.write_text(f'__asm__("{lines}");\n', encoding="utf-8")
    return str(source)
