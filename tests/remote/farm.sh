#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Trackers, proxies, servers and clients of Apache TVM from PyPI, unchanged, with ours, in the pairs that meet in a farm.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "TVM is for this machine"
for option in REMOTE REMOTE_TRACKER DSO TVM_FFI_COMPAT ERROR_CONTEXT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only 0.27 installs TVM"
"$python" -c 'import tornado, cloudpickle' 2> "$scratch/log" || skip "TVM's tracker needs tornado and cloudpickle in $python"
case $(uname -m) in
x86_64) ;;
*) skip "the recorded library is for x86-64" ;;
esac

trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
# the cases, in TAP: one process, because TVM takes a second to start
timeout 900 "$python" tests/remote/farm.py "$TENON_COMMAND" tests/remote/data "$scratch"
