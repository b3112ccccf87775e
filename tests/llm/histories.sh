#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random histories of key-value caches and recurrent states: TVM from PyPI makes and plays them, and so do we.

. tests/build/tap.sh
. tests/build/tvm.sh

needs_x86_64 "the models are"
needs_tvm DSO TVM_FFI_COMPAT RELAX_VM LANGUAGE_MODELS JSON ERROR_MESSAGES
calls=$TENON_BUILD/tests/llm/calls
[ -x "$calls" ] || skip "$calls is not built"
device=
"$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0' && device='--device opencl'

# shellcheck disable=SC2086
timeout 1800 "$python" tests/llm/histories.py "$calls" "$scratch/histories" --steps 60 --seed "${SEED:-1}" $device
