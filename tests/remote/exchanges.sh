#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The exchanges of TVM's protocol: clients and servers of TVM, unchanged, with each other and with our server, values
# compared. client.sh has the rows of our client, replay_test those of a recorded client of TVM 0.18, farm.sh and
# tracker_test those of trackers, farm.sh and proxy_test those of proxies. What no pair of peers can do is listed at
# the end with its reason.
#
# TENON_TVM_LEGACY names a Python that has TVM 0.8 to 0.20: its client and server then take part.

. tests/build/tap.sh
. tests/build/server.sh
. tests/build/tvm.sh

needs_x86_64 "the recorded libraries are"
needs_tvm REMOTE DSO TVM_LEGACY TVM_FFI_COMPAT ERROR_MESSAGES
"$python" -c 'import tvm, cloudpickle' 2> "$scratch/log" || skip "TVM's server needs cloudpickle in $python"

server= hop=
trap 'kill $server $hop 2> "$scratch/kill"; wait; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
: > "$scratch/all"
number=1

# start COMMAND...: a server
start()
{
	# the log of the server before has its port
	rm -f "$scratch/log"
	"$@" > "$scratch/log" 2>&1 &
	server=$!
	port_of "$scratch/log" $server
}

# row CLIENT SERVER NAME LIBRARY: the cases of a client and a server
row()
{
	timeout 600 "$1" tests/remote/exchanges.py "$port" board "$3" tests/remote/data "$4" $number > "$scratch/row" 2> "$scratch/words"
	grep -E '^(ok|not ok|#)' "$scratch/row"
	cat "$scratch/row" >> "$scratch/all"
	number=$((number + $(grep -cE '^(ok|not ok)' "$scratch/row")))
	# a client that died has fewer cases
	if ! grep -q ': timeout$' "$scratch/row"; then
		sed 's/^/# /' "$scratch/words"
		echo "not ok $number - the client of this row ended early"
		number=$((number + 1))
		echo 'not ok' >> "$scratch/all"
	fi
}

end()
{
	kill $server
	wait $server 2> "$scratch/kill"
	server=
}

library=$TENON_BUILD/tests/remote/exchange_functions.so
start "$TENON_COMMAND" rpc serve --listen 127.0.0.1:0 --key board --folder "$scratch" || exit 1
export TENON_SERVER_PID=$server
row "$python" ours "our server" "$library"
[ -z "${TENON_TVM_LEGACY:-}" ] || row "$TENON_TVM_LEGACY" ours "our server" "$library"
# a server of TVM passes sessions on to it
hop=$server
export TENON_HOP=$port
start "$python" tests/remote/stock_server.py board || exit 1
row "$python" stock "TVM 0.27's server" -
end
if [ -n "${TENON_TVM_LEGACY:-}" ]; then
	start "$TENON_TVM_LEGACY" tests/remote/stock_server.py board || exit 1
	row "$TENON_TVM_LEGACY" stock "TVM's older server" -
	end
fi

# cannot PAIR REASON
cannot()
{
	echo "ok $number - $1 # SKIP $2" | tee -a "$scratch/all"
	number=$((number + 1))
}
cannot "TVM 0.18's recorded client, TVM 0.27's server" "that server reads the encoding of its own version alone"
cannot "TVM 0.27's client, TVM 0.18's recorded server" "that client writes the encoding of its own version alone"
cannot "TVM 0.18's recorded client, TVM 0.18's recorded server" "both are the same recording"
cannot "our client: both generations" "it takes that of the server"
cannot "our client: hop" "it names no constructor of a session"
cannot "our client: tracker" "it goes to a board; TVM's client, or labgrid, asks for one"

echo "# client, server: exchanges"
awk '/^(not )?ok/ && !/# SKIP/ { line = $0; sub(/^(not )?ok [0-9]+ - /, "", line); split(line, part, ": ")
	if (!(part[1] in n)) order[++rows] = part[1]
	if (/^ok/) n[part[1]] = n[part[1]] " " part[2] ","; else n[part[1]] = n[part[1]] " " part[2] " FAILED," }
	END { for (i = 1; i <= rows; i++) print "# " order[i] ":" n[order[i]] }' "$scratch/all" | sed 's/,$//'
echo "1..$((number - 1))"
! grep -q '^not ok' "$scratch/all"
