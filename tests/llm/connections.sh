#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Connections of tenon-serve: slow clients, ambiguous headers, clients that end their side; the file of its key

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "the client is for this machine"
for option in LLM_SERVE JSON TVM_FFI_COMPAT ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
case $(uname -m) in
x86_64) ;;
*) skip "the recorded model is for x86-64" ;;
esac
need python3

server=
trap '[ -z "$server" ] || kill $server 2> "$scratch/kill"; rm -rf "$scratch"' EXIT

"$TENON_BUILD/tenon-serve" tests/llm/data/bytes --port 0 --connections 16 2> "$scratch/log" &
server=$!
tries=0
until port=$(sed -n 's,.* is at http://127.0.0.1:\([0-9]*\)/v1$,\1,p' "$scratch/log") && [ -n "$port" ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] && kill -0 $server || { cat "$scratch/log"; echo "not ok 1 - the server listens"; echo 1..1; exit 1; }
	sleep 0.1
done
timeout 600 python3 tests/llm/connections.py "$port"
status=$?

echo secret > "$scratch/key"
chmod 644 "$scratch/key"
"$TENON_BUILD/tenon-serve" tests/llm/data/bytes --port 0 --key-file "$scratch/key" 2> "$scratch/said"
code=$?
if [ $code = 3 ] && grep -q "chmod 600 $scratch/key" "$scratch/said"; then
	echo "ok 7 - a key that other users can read is refused with the remedy"
else
	sed 's/^/# /' "$scratch/said"
	echo "not ok 7 - a key that other users can read is refused with the remedy"
	status=1
fi
echo 1..7
exit $status
