#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random histories of key-value caches and recurrent states: TVM from PyPI makes and plays them, and so do we.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "TVM is for this machine"
for option in DSO TVM_FFI_COMPAT RELAX_VM LANGUAGE_MODELS JSON ERROR_CONTEXT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
case $(uname -m) in
x86_64) ;;
*) skip "the models are for x86-64" ;;
esac
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only 0.27 installs TVM"
calls=$TENON_BUILD/tests/llm/calls
[ -x "$calls" ] || skip "$calls is not built"
device=
"$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0' && device='--device opencl'

# TVM takes CC for the name of a program, and here it may be several words
unset CC
# shellcheck disable=SC2086
timeout 1800 "$python" tests/llm/histories.py "$calls" "$scratch/histories" --steps 60 --seed "${SEED:-1}" $device
