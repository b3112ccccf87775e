# SPDX-License-Identifier: MIT
"""pip install ./python: with libtenon as pkg-config finds it, or as it was built in ../build or the folder TENON_BUILD."""

import os
import subprocess
import sys
import sysconfig
from glob import glob
from pathlib import Path

import setuptools
from setuptools import Extension, setup

TREE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TENON_BUILD", TREE / "build")).resolve()
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
# The limited API of 3.12 has all that is needed: one build for all later versions. Free-threaded ones have such an API from 3.15 on,
# for which setuptools can build from 84.2 on; older ones build for this version of Python alone.
KNOWS_ABI3T = tuple(map(int, setuptools.__version__.split(".")[:2])) >= (84, 2)
LIMITED = sys.version_info >= (3, 15) and KNOWS_ABI3T if FREE_THREADED else sys.version_info >= (3, 12)
MACRO = ("Py_TARGET_ABI3T", "0x030f0000") if FREE_THREADED else ("Py_LIMITED_API", "0x030c0000")

# the extensions, and the libraries that they are built with; those on libraries that are missing are left out
LIBRARIES = {"_core": "tenon", "_link": "tenon-link", "_llm": "tenon-llm"}


def pkg_config(*options):
    try:
        return subprocess.run(["pkg-config", *options], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None


# beside an installed libtenon, no library of the tree is used
INSTALLED = "TENON_BUILD" not in os.environ and pkg_config("--modversion", "tenon")


def installed_library(name):
    version = pkg_config("--modversion", name)
    return version and (
        version[0],
        {
            "extra_compile_args": pkg_config("--cflags", name),
            "extra_link_args": pkg_config("--libs", name)
            + [f"-Wl,-rpath,{path}" for path in pkg_config("--variable=libdir", name)],
        },
    )


def built_library(name):
    # by the name that programs load it by: "make python" makes no lib*.so
    files = {needed: glob(f"{BUILD}/lib{needed}.so.[0-9]") for needed in (name, "tenon")}
    return all(files.values()) and (
        os.path.realpath(files[name][0]).rsplit(".so.", 1)[1],
        {
            "include_dirs": [str(TREE / "include")],
            "extra_objects": [file for found in files.values() for file in found],
            "extra_link_args": [f"-Wl,-rpath,{BUILD}"],
        },
    )


def library(name):
    """Version of a library, and how an extension is built with it; None or False where it is missing."""
    return installed_library(name) if INSTALLED else built_library(name)


def sources_of(extension):
    """Files of _link begin with link_, those of _llm with llm_; all others are of _core."""
    files = {name: glob(f"src/{name[1:]}_*.c") for name in LIBRARIES if name != "_core"}
    files["_core"] = set(glob("src/*.c")).difference(*files.values())
    return sorted(files[extension])


os.chdir(Path(__file__).resolve().parent)
FOUND = {extension: how for extension, name in LIBRARIES.items() if (how := library(name))}
if "_core" not in FOUND:
    sys.exit(
        "libtenon is not found: install it (pkg-config must find tenon.pc; PKG_CONFIG_PATH says where that is), or "
        "build it in the tree by make, or name its build folder in TENON_BUILD"
    )
setup(
    version=FOUND["_core"][0],
    ext_modules=[
        Extension(
            f"tenon.{extension}",
            sources_of(extension),
            depends=sorted(glob("src/*.h")),
            define_macros=[MACRO] if LIMITED else [],
            py_limited_api=LIMITED,
            **how,
        )
        for extension, (_, how) in FOUND.items()
    ],
    options={"bdist_wheel": {"py_limited_api": "cp315" if FREE_THREADED else "cp312"}} if LIMITED else {},
)
