# SPDX-License-Identifier: MIT
"""Libraries that tvm-ffi's own Python builder makes from C++ and from C."""

import inspect
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import tvm_ffi
import tvm_ffi.cpp

from .case import In, Out, Suite

SOURCES = Path(__file__).resolve().parent / "sources"
SCALARS = ["add_ints", "scale_float", "negate", "maybe", "echo", "raise_value_error", "raise_index_error"]
STRINGS = ["greet", "first_word", "text_length", "bytes_sum"]
ARRAYS = ["count_to", "array_sum", "shape_product"]
MAPS = ["map_value"]
FUNCTIONS = ["call_with", "adder"]
SMALL = ["-Os", "-ffunction-sections", "-fdata-sections"]


class FfiSuite(Suite):
    def __init__(self, root):
        super().__init__(root, f"tvm-ffi-{tvm_ffi.__version__}", {"tvm_ffi_version": tvm_ffi.__version__})
        self.loaded = {}

    def load(self, path):
        """Load once and keep: an object that outlives its library crashes tvm-ffi."""
        if path not in self.loaded:
            self.loaded[path] = tvm_ffi.load_module(str(path))
        return self.loaded[path]

    def function(self, module, name):
        return getattr(module, name) if hasattr(module, name) else module.get_function(name)

    def tensor(self, array):
        return tvm_ffi.from_dlpack(array.copy())

    def empty(self, shape, dtype):
        return tvm_ffi.from_dlpack(np.zeros(shape, dtype))

    def numpy(self, tensor, dtype):
        return np.from_dlpack(tensor)


def builder_takes_c():
    build = getattr(tvm_ffi.cpp, "build", None)
    return build is not None and "sources" in inspect.signature(build).parameters


def build_library(case, source, functions, file="lib.so", cflags=()):
    """Build gen/sources/<source> with the builder: inline for C++, by file for C where the version can."""
    with tempfile.TemporaryDirectory() as work:
        include = tvm_ffi.libinfo.find_include_path()
        dlpack = tvm_ffi.libinfo.find_dlpack_include_path()
        quiet = [f"-ffile-prefix-map={include}=include", f"-ffile-prefix-map={work}=.", *SMALL, *cflags]
        text = (SOURCES / source).read_text()
        if source.endswith(".c") and not builder_takes_c():
            # the builder of the first versions takes C++ only: it gets the compiled object to link
            made = Path(work) / "plain.o"
            subprocess.run(["cc", "-O2", "-fPIC", f"-I{include}", f"-I{dlpack}", *quiet, "-c",
                            str(SOURCES / source), "-o", str(made)], check=True)
            path = tvm_ffi.cpp.build_inline("lib", cpp_sources="", functions=[], extra_ldflags=[str(made)],
                                            build_directory=work)
            case.note("this version's builder takes C++ only: the C object was handed to its linker line")
        elif source.endswith(".c"):
            copy = Path(work) / source
            copy.write_text(text)
            path = tvm_ffi.cpp.build("lib", sources=[str(copy)], extra_cflags=quiet,
                                     build_directory=work)
        else:
            path = tvm_ffi.cpp.build_inline("lib", cpp_sources=text, functions=functions, extra_cflags=quiet,
                                            extra_ldflags=["-Wl,--gc-sections"], build_directory=work)
        shutil.copy(path, case.path(file))
    case.added(file)


def cpp_scalars(case):
    build_library(case, "scalars.cc", SCALARS)
    case.call("lib.so", "add_ints", [40, 2], returns=42)
    case.call("lib.so", "add_ints", [2**62, 2**61], returns=2**62 + 2**61)
    case.call("lib.so", "scale_float", [2.5, 4.0], returns=10.0)
    case.call("lib.so", "scale_float", [2.5, 4], returns=10.0)
    case.call("lib.so", "negate", [True], returns=False)
    case.call("lib.so", "maybe", [True], returns=7)
    case.call("lib.so", "echo", [5], returns=5)
    case.call("lib.so", "raise_value_error", [7], fails="a ValueError: refused at 7")
    case.call("lib.so", "raise_index_error", ["seven"], fails="an IndexError: no item seven")
    case.call("lib.so", "add_ints", [1], fails="too few arguments")
    case.call("lib.so", "add_ints", [1, "text"], fails="string where an int is wanted")


def cpp_strings(case):
    build_library(case, "strings.cc", STRINGS)
    case.call("lib.so", "greet", ["you"], returns="hello, you")
    for text in ("tenon joint", "seven77 joints", "eight888 joints"):
        case.call("lib.so", "first_word", [text], returns=text.split()[0])
    case.call("lib.so", "text_length", [""], returns=0)
    case.call("lib.so", "text_length", ["a text longer than small strings are"], returns=36)
    case.call("lib.so", "text_length", [3], fails="int where a string is wanted")


def cpp_arrays(case):
    build_library(case, "arrays.cc", ARRAYS)
    case.call("lib.so", "array_sum", [3], fails="int where an array is wanted")
    case.note("functions for an embedding program: count_to(3) is [0,1,2]; array_sum; shape_product")


def cpp_maps(case):
    build_library(case, "maps.cc", MAPS)
    case.call("lib.so", "map_value", [3, "key"], fails="int where a map is wanted")
    case.note("functions for an embedding program: map_value({key: value}, key) is value")


def cpp_functions(case):
    build_library(case, "functions.cc", FUNCTIONS)
    case.call("lib.so", "call_with", [3, 4], fails="int where a function is wanted")
    case.note("functions for an embedding program: adder(k)(x) is x + k; call_with(f, x) is f(x)")


def cpp_tensors(case):
    build_library(case, "tensors.cc", ["add_one", "elements", "same", "ramp"])
    x = case.rng.standard_normal(16).astype("float32")
    case.call("lib.so", "add_one", [In(x), Out(x + np.float32(1))])
    case.call("lib.so", "elements", [In(np.zeros((3, 5, 2), "int8"))], returns=30)
    case.call("lib.so", "ramp", [3, 4], returns=(np.arange(12, dtype="float32") / 2).reshape(3, 4))
    case.call("lib.so", "same", [In(x)], returns=x)
    case.call("lib.so", "add_one", [In(x.astype("float64")), Out(None, (16,), "float32")], fails="a TypeError: dtype")
    case.call("lib.so", "add_one", [In(x), Out(None, (8,), "float32")], fails="a ValueError: lengths differ")
    case.call("lib.so", "add_one", [In(x.reshape(4, 4)), Out(None, (16,), "float32")], fails="an InternalError: ndim")


def cpp_env_alloc(case):
    """TVM's runtime has no allocator until a framework brings one: the peer is not asked to run this."""
    build_library(case, "env_alloc.cc", ["doubled"])
    x = case.rng.standard_normal((2, 3)).astype("float32")
    case.call("lib.so", "doubled", [In(x)], returns=x * np.float32(2), run=False)


def cpp_metadata(case):
    build_library(case, "strings.cc", {name: f"what {name} does" for name in STRINGS},
                  cflags=["-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1"])
    case.call("lib.so", "greet", ["you"], returns="hello, you")
    module = case.suite.load(case.path("lib.so"))
    case.meta["metadata"] = {name: module.get_function_metadata(name) for name in STRINGS}
    case.meta["doc"] = {name: module.get_function_doc(name) for name in STRINGS}


def c_plain(case):
    build_library(case, "plain.c", [])
    x = case.rng.standard_normal(8).astype("float32")
    case.call("lib.so", "add_int", [40, 2], returns=42)
    case.call("lib.so", "add_int", [40, 2.5], fails="float where an int is wanted")
    case.call("lib.so", "nothing", [])
    case.call("lib.so", "twice", [In(x), Out(x * np.float32(2))])
    case.call("lib.so", "hello", [], returns="hello from C")
    case.call("lib.so", "call_global", [21], fails="a LookupError: fixture.give is not registered")
    tvm_ffi.register_global_func("fixture.give", lambda k: 2 * k, override=True)
    case.call("lib.so", "call_global", [21], returns=42, cls="other")


CASES = [
    ("cpp_scalars", "typed C++ functions on numbers; errors with a kind", cpp_scalars, False),
    ("cpp_strings", "typed C++ functions on strings and bytes", cpp_strings, False),
    ("cpp_arrays", "typed C++ functions on arrays and shapes", cpp_arrays, True),
    ("cpp_maps", "a typed C++ function on a map", cpp_maps, True),
    ("cpp_functions", "typed C++ functions that take and return functions", cpp_functions, True),
    ("cpp_tensors", "typed C++ functions on tensors; one returned", cpp_tensors, False),
    ("cpp_env_alloc", "a tensor from TVMFFIEnvTensorAlloc", cpp_env_alloc, True),
    ("cpp_metadata", "metadata and documentation functions beside each function", cpp_metadata, True),
    ("c_plain", "plain C: ints, a tensor, a string, a global function", c_plain, False),
]


def build(root):
    suite = FfiSuite(root)
    for name, about, make, optional in CASES:
        suite.build(name, about, make, optional)
    suite.done()
