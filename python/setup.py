# SPDX-License-Identifier: MIT
"""pip install ./python: with libtenon as pkg-config finds it, or as it was built in ../build or the folder TENON_BUILD."""

import os
import subprocess
import sys
import sysconfig
from glob import glob
from pathlib import Path

from setuptools import Extension, setup

TREE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TENON_BUILD", TREE / "build")).resolve()
# the limited API of 3.12 has all that is needed: one build for all later versions
LIMITED = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")


def pkg_config(*options):
    try:
        return subprocess.run(["pkg-config", *options, "tenon"], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None


def library():
    """Version of the library, and how an extension is built with it."""
    version = pkg_config("--modversion")
    if "TENON_BUILD" not in os.environ and version:
        return version[0], {
            "extra_compile_args": pkg_config("--cflags"),
            "extra_link_args": pkg_config("--libs") + [f"-Wl,-rpath,{path}" for path in pkg_config("--variable=libdir")],
        }
    if not (BUILD / "libtenon.so").exists():
        sys.exit(
            "libtenon is not found: install it (pkg-config must find tenon.pc; PKG_CONFIG_PATH says where that is), or "
            "build it in the tree by make, or name its build folder in TENON_BUILD"
        )
    name = os.path.realpath(BUILD / "libtenon.so")
    return name.rsplit(".so.", 1)[1], {
        "include_dirs": [str(TREE / "include")],
        "library_dirs": [str(BUILD)],
        "libraries": ["tenon"],
        "extra_link_args": [f"-Wl,-rpath,{BUILD}"],
    }


VERSION, FOUND = library()
os.chdir(Path(__file__).resolve().parent)
setup(
    version=VERSION,
    ext_modules=[
        Extension(
            "tenon._core",
            sorted(glob("src/*.c")),
            depends=sorted(glob("src/*.h")),
            define_macros=[("Py_LIMITED_API", "0x030c0000")] if LIMITED else [],
            py_limited_api=LIMITED,
            **FOUND,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp312"}} if LIMITED else {},
)
