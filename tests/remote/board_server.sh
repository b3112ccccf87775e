#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon-rpc-server, one static file of musl's: small enough for a board, and the client of the common build uses it

. tests/build/tap.sh
. tests/build/server.sh
. tests/build/inner_make.sh
need musl-gcc strip

[ -z "${EMULATOR:-}" ] || skip "the server is built for this machine"
for option in REMOTE_CLIENT DEVICE_MORTISE ERROR_MESSAGES; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
kernels=$TENON_BUILD/device/host/tests/mortise/kernels.elf
[ -e "$kernels" ] || skip "$kernels is missing"

limit=327680
folder=$(kept board-server)
# musl's own headers have none of the kernel's
headers='-idirafter /usr/include'
server=
trap '[ -z "$server" ] || kill "$server" 2> "$scratch/kill"; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
export TMPDIR="$scratch"

build_it()
{
	inner_make -s O="$folder" boardconfig && inner_make -s O="$folder" CC="${launcher}musl-gcc" \
		CPPFLAGS="-Werror $headers" JSMN_CFLAGS="$headers" board-server
}

is_static()
{
	! readelf -lW "$folder/tenon-rpc-server" | grep INTERP && ! readelf -dW "$folder/tenon-rpc-server" | grep NEEDED
}

small_enough()
{
	bytes=$(wc -c < "$folder/tenon-rpc-server.stripped")
	echo "$bytes bytes, at most $limit"
	[ "$bytes" -gt 0 ] && [ "$bytes" -le $limit ]
}

starts()
{
	"$folder/tenon-rpc-server.stripped" --listen 127.0.0.1:0 --key board 2> "$scratch/log" &
	server=$!
	port_of "$scratch/log" $server || return
	board=127.0.0.1:$port/board
}

lists_its_device()
{
	"$TENON_COMMAND" devices --remote "$board" > "$scratch/out" && cat "$scratch/out" && grep -q '^mortise:0' "$scratch/out"
}

# the kernel counts from 6 where it is loaded
runs_a_kernel()
{
	cp "$kernels" "$scratch/kernels.mortise" &&
		"$TENON_COMMAND" run "$scratch/kernels.mortise" --remote "$board" --device mortise:0 --function count \
			--output 1xuint32 > "$scratch/out" && cat "$scratch/out" && grep -q 'uint32 = \[6\]' "$scratch/out"
}

copies_tensors()
{
	"$TENON_COMMAND" rpc ping "$board" --count 20 && "$TENON_COMMAND" rpc upload "$board" "$folder/tenon-rpc-server"
}

refuses_shared_objects()
{
	cp "$kernels" "$scratch/library.so"
	not "$TENON_COMMAND" run "$scratch/library.so" --remote "$board" --function f > "$scratch/out" 2>&1 &&
		cat "$scratch/out" && [ -s "$scratch/out" ]
}

ends()
{
	kill "$server" && wait "$server"
	status=$?
	server=
	left=$(find "$scratch" -name 'tenon-rpc-*')
	echo "status $status, left: $left"
	[ $status -eq 0 ] && [ -z "$left" ]
}

it "musl-gcc builds the server without a warning" build_it
it "it is one file that needs no library" is_static
it "it has at most 320 KiB" small_enough
echo "# tenon-rpc-server: $(cat "$folder/tenon-rpc-server.stripped" 2> "$scratch/words" | wc -c) bytes"
it "it starts" starts
it "the client finds its device" lists_its_device
it "the client runs a kernel on it" runs_a_kernel
it "the client measures round trips, and uploads a file" copies_tensors
it "a shared object is an error in a sentence" refuses_shared_objects
it "it still runs kernels" runs_a_kernel
it "it ends, and leaves no file" ends
finish
