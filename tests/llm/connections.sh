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

server= other=
trap '[ -z "$server" ] || kill $server $other 2> "$scratch/kill"; rm -rf "$scratch"' EXIT

# listens LOG PROCESS: sets $port once the server says where it is
listens()
{
	tries=0
	until port=$(sed -n 's,.* is at http://[0-9.]*:\([0-9]*\)/v1$,\1,p' "$1") && [ -n "$port" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] && kill -0 "$2" || { cat "$1"; echo "not ok 1 - the server listens"; echo 1..1; exit 1; }
		sleep 0.1
	done
}

echo secret > "$scratch/key"
chmod 600 "$scratch/key"
"$TENON_BUILD/tenon-serve" tests/llm/data/bytes --port 0 --connections 16 2> "$scratch/log" &
server=$!
"$TENON_BUILD/tenon-serve" tests/llm/data/bytes --port 0 --host 0.0.0.0 --key-file "$scratch/key" --body-size 1 --max-tokens 20 \
	2> "$scratch/log-other" &
other=$!
listens "$scratch/log-other" $other
other_port=$port
listens "$scratch/log" $server
timeout 600 python3 tests/llm/connections.py "$port" "$other_port"
status=$?

# ends SIGNAL PROCESS: it ends in order
ends()
{
	kill "-$1" "$2"
	wait "$2"
}

if ends TERM $server && ends INT $other; then
	server=
	echo "ok 12 - a signal ends the server in order"
else
	echo "not ok 12 - a signal ends the server in order"
	status=1
fi
echo 1..12
exit $status
