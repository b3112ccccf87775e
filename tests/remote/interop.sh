#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The client of Apache TVM from PyPI, unchanged, with our server. scripts/interop-generate --venv-only 0.27 installs it.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "TVM is for this machine"
for option in REMOTE DSO TVM_FFI_COMPAT ERROR_CONTEXT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
python=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
[ -x "$python" ] || skip "$python is missing: scripts/interop-generate --venv-only 0.27 installs TVM's client"
# uploaded libraries are for x86-64
case $(uname -m) in
x86_64) ;;
*) skip "the recorded library is for x86-64" ;;
esac

"$TENON_COMMAND" rpc serve --listen 127.0.0.1:0 --key board --folder "$scratch" 2> "$scratch/log" &
server=$!
trap 'kill $server 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

listens()
{
	tries=0
	until port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$scratch/log") && [ -n "$port" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] && kill -0 $server || { cat "$scratch/log"; return 1; }
		sleep 0.1
	done
}

listens || { echo "not ok 1 - the server listens"; echo 1..1; exit 1; }
# the cases, in TAP: one process, because TVM takes a second to start
timeout 600 "$python" tests/remote/interop.py "$port" tests/remote/data "$TENON_BUILD/tests/remote/hostile.so"
