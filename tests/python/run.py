# SPDX-License-Identifier: MIT
"""Run the cases of modules of this folder: run.py calls tensors ... Prints TAP."""

import sys

import cases

sys.exit(cases.run([__import__(name) for name in sys.argv[1:]]))
