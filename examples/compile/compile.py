#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The former name of compile/tenon-compile, for scripts that still call it."""

import os, sys  # fmt: skip

os.execv(
    sys.executable,
    [sys.executable, os.path.join(os.path.dirname(__file__), "../../compile/tenon-compile"), *sys.argv[1:]],
)
