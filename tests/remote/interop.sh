#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The client of Apache TVM from PyPI, unchanged, with our server. scripts/interop-generate --venv-only 0.27 installs it.

. tests/build/tap.sh
. tests/build/server.sh
. tests/build/tvm.sh

needs_x86_64 "the recorded library is"
needs_tvm REMOTE DSO TVM_FFI_COMPAT ERROR_MESSAGES

"$TENON_COMMAND" rpc serve --listen 127.0.0.1:0 --key board --folder "$scratch" 2> "$scratch/log" &
server=$!
trap 'kill $server 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

port_of "$scratch/log" $server || { echo "not ok 1 - the server listens"; echo 1..1; exit 1; }
# the cases, in TAP: one process, because TVM takes a second to start
timeout 600 "$python" tests/remote/interop.py "$port" tests/remote/data "$TENON_BUILD/tests/remote/hostile.so"
