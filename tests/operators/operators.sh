#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Small functions for each Relax operator: TVM from PyPI compiles and runs them, and so do we.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "TVM is for this machine"
for option in TOOL DSO TVM_FFI_COMPAT RELAX_VM LANGUAGE_MODELS ERROR_CONTEXT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
case $(uname -m) in
x86_64) ;;
*) skip "TVM's wheel is for x86-64" ;;
esac
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only 0.27 installs TVM"

# TVM takes CC for the name of a program, and here it may be several words
unset CC
timeout 1800 "$python" tests/operators/operators.py "$TENON_COMMAND" "$scratch/operators"
