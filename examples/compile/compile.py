#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
import os, sys  # fmt: skip

os.execv(
    sys.executable,
    [sys.executable, os.path.join(os.path.dirname(__file__), "../../compile/tenon-compile"), *sys.argv[1:]],
)
