#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon-serve with OpenAI's client from PyPI

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "the client is for this machine"
for option in LLM_SERVE JSON TVM_FFI_COMPAT ERROR_MESSAGES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
case $(uname -m) in
x86_64) ;;
*) skip "the recorded model is for x86-64" ;;
esac
. tests/llm/clients.sh

echo board > "$scratch/key"
chmod 600 "$scratch/key"
server= hasty=
trap 'kill $server $hasty 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

# listens LOG PROCESS: sets $port once the server says where it is
listens()
{
	tries=0
	until port=$(sed -n 's,.* is at http://127.0.0.1:\([0-9]*\)/v1$,\1,p' "$1") && [ -n "$port" ]; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] && kill -0 "$2" || { cat "$1"; echo "not ok 1 - the server listens"; echo 1..1; exit 1; }
		sleep 0.1
	done
}

"$TENON_BUILD/tenon-serve" tests/llm/data/bytes --port 0 --requests 12 --body-size 64 --key-file "$scratch/key" \
	2> "$scratch/log" &
server=$!
"$TENON_BUILD/tenon-serve" tests/llm/data/bytes --port 0 --request-timeout 1 2> "$scratch/log-hasty" &
hasty=$!
listens "$scratch/log-hasty" $hasty
port_hasty=$port
listens "$scratch/log" $server

timeout 900 "$python" tests/llm/serve.py "$port" "$port_hasty" "$TENON_COMMAND" tests/llm/data/bytes
status=$?
# the last case: the plan has counted it
kill -TERM $server
wait $server
code=$?
if [ $code = 0 ]; then
	echo "ok 15 - SIGTERM ends the server"
else
	echo "not ok 15 - SIGTERM ends the server"
	sed 's/^/# /' "$scratch/log"
	echo "# exit $code"
fi
exit $status
