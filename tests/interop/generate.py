#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the interop data with the peer that this Python environment has: Apache TVM, or tvm-ffi alone.

Run through scripts/interop-generate, which makes one environment a pinned version.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=HERE / "data", help="where the suites go")
    out = parser.parse_args().out
    if importlib.util.find_spec("tvm"):
        from gen import tvm_suite as suite
    else:
        from gen import ffi_suite as suite
    suite.build(out)


if __name__ == "__main__":
    main()
