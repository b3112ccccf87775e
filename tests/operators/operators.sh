#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Small functions for each Relax operator: TVM from PyPI compiles and runs them, and so do we.

. tests/build/tap.sh
. tests/build/tvm.sh

needs_x86_64 "TVM's wheel is"
needs_tvm TOOL DSO TVM_FFI_COMPAT RELAX_VM LANGUAGE_MODELS ERROR_MESSAGES

timeout 1800 "$python" tests/operators/operators.py "$TENON_COMMAND" "$scratch/operators"
