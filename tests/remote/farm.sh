#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Trackers, proxies, servers and clients of Apache TVM from PyPI, unchanged, with ours, in the pairs that meet in a farm.

. tests/build/tap.sh
. tests/build/tvm.sh

needs_x86_64 "the recorded library is"
needs_tvm REMOTE DSO TVM_FFI_COMPAT ERROR_MESSAGES
"$python" -c 'import tornado, cloudpickle' 2> "$scratch/log" || skip "TVM's tracker needs tornado and cloudpickle in $python"

trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
# the cases, in TAP: one process, because TVM takes a second to start
timeout 900 "$python" tests/remote/farm.py "$TENON_COMMAND" tests/remote/data "$scratch"
