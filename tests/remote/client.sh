#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The command as a client: of our server, and of TVM's server from PyPI, unchanged.

. tests/build/tap.sh
. tests/build/server.sh

[ -z "${EMULATOR:-}" ] || skip "the recorded models are for this machine"
case $(uname -m) in
x86_64) ;;
*) skip "the recorded models are for x86-64" ;;
esac
for option in REMOTE REMOTE_CLIENT DSO TVM_FFI_COMPAT TVM_LEGACY GRAPH_EXECUTOR AOT_EXECUTOR RELAX_VM ERROR_MESSAGES JSON; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" ||
		skip "CONFIG_$option is off"
done
tenon=$TENON_COMMAND
data=tests/interop/data
old=$data/tvm-0.18
new=$data/tvm-0.27.0.post1
pids=
trap 'kill $pids 2> "$scratch/kill"; wait 2> /dev/null; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

"$tenon" rpc serve --listen 127.0.0.1:0 --key board --folder "$scratch" 2> "$scratch/log" &
pids=$!
port_of "$scratch/log" $pids || exit
ours=127.0.0.1:$port/board
ours_port=$port

# runs ADDRESS FOLDER FILE ARGUMENT...: the outputs are as recorded
equal()
{
	"$tenon" run "$@" > "$scratch/out" 2> "$scratch/err" && grep -q 'expected: equal' "$scratch/out" ||
		{ cat "$scratch/out" "$scratch/err"; return 1; }
}

model()
{
	address=$1 file=$2 input=$3 output=$4
	shift 4
	equal "$file" --remote "$address" --input "$input" --expect "@$output" --rtol 1e-4 --atol 1e-5 "$@"
}

function_runs()
{
	equal "$1/host_vecadd/lib.so" --remote "$2" --function vecadd --input "@$1/host_vecadd/c0_in0.npy" \
		--input "@$1/host_vecadd/c0_in1.npy" --output "$3xfloat32" --expect "@$1/host_vecadd/c0_out2.npy"
}

named_device()
{
	equal "$old/graph_mlp/graph.so" --device "rpc://127.0.0.1:$ours_port/cpu:0?key=board" \
		--input "x=@$old/graph_mlp/in_x.npy" --expect "@$old/graph_mlp/out0.npy" --rtol 1e-4
}

plain()
{
	TENON_REMOTE_PLAIN=1 model "$@"
}

measured()
{
	"$tenon" bench "$old/graph_mlp/graph.so" --remote "$1" --runs 5 --json > "$scratch/out" &&
		grep -q '"median":' "$scratch/out" &&
		"$tenon" bench "$new/model_mlp/model.so" --remote "$1" --repeat 5 > "$scratch/out" &&
		grep -q 'parameters 7.5 KiB' "$scratch/out" || { cat "$scratch/out"; return 1; }
}

# a run there and a run here print the same, names of outputs too
same_text()
{
	for model in "$old/graph_mlp/graph.so" "$new/model_mlp/model.so"; do
		input=x=1x32xfloat32=ones
		[ "$model" = "$old/graph_mlp/graph.so" ] || input=x=3x16xfloat32=ones
		"$tenon" run "$model" --input "$input" > "$scratch/here" &&
			"$tenon" run "$model" --input "$input" --remote "$1" > "$scratch/there" &&
			cmp "$scratch/here" "$scratch/there" || return
	done
}

# the kernels that a file has are read here
asks_for_the_device()
{
	exits 5 'has kernels for opencl: add --device opencl:0' "$tenon" bench "$new/model_mlp_opencl/model.so" --remote "$1" &&
		exits 5 'kernels for opencl: add --device opencl:0' "$tenon" run "$new/opencl_vecadd/lib.so" --remote "$1" \
			--input 64xfloat32=ones --input 64xfloat32=ones --output 64xfloat32 &&
		exits 2 'as a trial, --input x=3x16xfloat32=random:1' "$tenon" run "$new/model_mlp/model.so" --remote "$1"
}

devices_are_listed()
{
	"$tenon" devices --remote "$1" > "$scratch/out" && grep -q '^cpu:0' "$scratch/out" &&
		"$tenon" devices --remote "$1" --json | grep -q '"cpu:0"'
}

# exits CODE WORDS COMMAND...
exits()
{
	code=$1 words=$2
	shift 2
	"$@" > "$scratch/out" 2> "$scratch/err"
	[ $? -eq "$code" ] && grep -q "$words" "$scratch/err" || { cat "$scratch/err"; return 1; }
}

verbs()
{
	"$tenon" rpc ping "$1" --count 3 > "$scratch/out" && grep -q 'round trips' "$scratch/out" &&
		"$tenon" rpc functions "$1" | grep -qx 'tvm.rpc.server.upload' &&
		"$tenon" rpc upload "$1" "$old/graph_mlp/graph.so" | grep -q 'it arrived'
}

upload()
{
	"$tenon" rpc upload "$1" "$2" > "$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
}

# the server keeps a file when the session that brought it is over, and the command does not wait for that
is_kept()
{
	tries=0
	until upload "$1" "$2" && grep -q 'had it' "$scratch/out"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

# each command is a session of its own
file_is_sent_once()
{
	dd if=/dev/urandom of="$scratch/model.bin" bs=1024 count=3000 2> "$scratch/log.dd"
	cp "$scratch/model.bin" "$scratch/renamed.bin"
	upload "$ours" "$scratch/model.bin" && ! grep -q 'had it' "$scratch/out" &&
		is_kept "$ours" "$scratch/model.bin" &&
		upload "$ours" "$scratch/renamed.bin" && grep -q 'had it' "$scratch/out" &&
		printf x >> "$scratch/model.bin" && upload "$ours" "$scratch/model.bin" && ! grep -q 'had it' "$scratch/out"
}

# the server removes the folder of a session when its files are in the cache; it copies them when nothing else runs: a busy machine
# takes minutes
all_is_kept()
{
	tries=0
	while find "$scratch" -name 'session-*' | grep -q .; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || return 1
		sleep 0.1
	done
}

# sessions end while the files of another are copied: at most as many as may wait
files_are_kept_together()
{
	uploads=
	all_is_kept || return
	for i in 1 2 3 4; do
		dd if=/dev/urandom of="$scratch/together.$i" bs=1024 count=8000 2> "$scratch/log.dd"
	done
	for i in 1 2 3 4; do
		"$tenon" rpc upload "$ours" "$scratch/together.$i" > "$scratch/out.$i" 2>&1 &
		uploads="$uploads $!"
	done
	for upload in $uploads; do
		wait $upload || return 1
	done
	all_is_kept || return
	for i in 1 2 3 4; do
		upload "$ours" "$scratch/together.$i" && grep -q 'had it' "$scratch/out" || return 1
	done
}

cache_has_a_quota()
{
	# the server of the call before wrote its port there
	rm -f "$scratch/log.cache"
	"$tenon" rpc serve --listen 127.0.0.1:0 --folder "$scratch" --cache-size "$1" 2> "$scratch/log.cache" &
	server=$!
	pids="$pids $server"
	port_of "$scratch/log.cache" $server || return
	upload "127.0.0.1:$port" "$scratch/renamed.bin" && upload "127.0.0.1:$port" "$scratch/renamed.bin"
	result=$?
	kill $server
	wait $server
	[ $result -eq 0 ] && ! grep -q 'had it' "$scratch/out"
}

# the keeper of files reads a folder that only the session's processes see
memory_is_kept()
{
	rm -f "$scratch/log.cache"
	mkdir "$scratch/in-memory"
	"$tenon" rpc serve --listen 127.0.0.1:0 --folder "$scratch/in-memory" --folder-in-memory 2> "$scratch/log.cache" &
	server=$!
	pids="$pids $server"
	port_of "$scratch/log.cache" $server && is_kept "127.0.0.1:$port" "$scratch/renamed.bin"
	result=$?
	kill $server
	wait $server
	[ $result -eq 0 ] && [ -z "$(ls "$scratch/in-memory")" ]
}

device_is_absent()
{
	exits 4 'no device' "$tenon" run "$old/graph_mlp/graph.so" --remote "$ours" --device hexagon:0
}

# a device whose driver does not start there; the reason comes from the server
device_fails()
{
	OCL_ICD_VENDORS=$scratch/none VK_ICD_FILENAMES=$scratch/none VK_DRIVER_FILES=$scratch/none \
		"$tenon" rpc serve --listen 127.0.0.1:0 --folder "$scratch" 2> "$scratch/log.fails" &
	server=$!
	port_of "$scratch/log.fails" $server &&
		exits 4 "has no device $1: ." "$tenon" run "$old/graph_mlp/graph.so" --remote "127.0.0.1:$port" --device "$1"
	result=$?
	# the folder of a session that is about to end would stay
	all_is_kept
	kill $server
	wait $server
	return $result
}

it "ours: a function of TVM 0.18" function_runs "$old" "$ours" 1024
it "ours: a function of TVM 0.27" function_runs "$new" "$ours" 128
it "ours: a graph" model "$ours" "$old/graph_mlp/graph.so" "x=@$old/graph_mlp/in_x.npy" "$old/graph_mlp/out0.npy"
it "ours: ahead-of-time code" model "$ours" "$old/aot_mlp/aot_packed.so" "x=@$old/aot_mlp/in_x.npy" "$old/aot_mlp/out0.npy"
it "ours: a Relax model of TVM 0.18" model "$ours" "$old/relax_mlp/vm.so" "@$old/relax_mlp/n5_in_x.npy" "$old/relax_mlp/n5_out0.npy"
it "ours: a Relax model of TVM 0.27" model "$ours" "$new/model_mlp/model.so" "x=@$new/model_mlp/r0_x.npy" "$new/model_mlp/r0_out0.npy"
it "ours, request by request: a graph" plain "$ours" "$old/graph_mlp/graph.so" "x=@$old/graph_mlp/in_x.npy" "$old/graph_mlp/out0.npy"
it "ours: a device by name" named_device
it "ours: a model is measured" measured "$ours"
it "ours: the same text as here" same_text "$ours"
it "ours: a file with kernels asks for a device" asks_for_the_device "$ours"
it "ours: devices" devices_are_listed "$ours"
it "ours: an absent device" device_is_absent
for device in opencl vulkan; do
	if grep -qsiE "^CONFIG_DEVICE_$device=[ym]" "$TENON_BUILD/include/config/auto.conf"; then
		it "ours: the reason of a device that does not open: $device" device_fails $device:0
	else
		skip_case "ours: the reason of a device that does not open: $device" "the device is not in this build"
	fi
done
it "ours: ping, functions, upload" verbs "$ours"
it "ours: a file is sent once" file_is_sent_once
it "ours: files of sessions that end together are sent once" files_are_kept_together
if unshare -rm true 2> "$scratch/words"; then
	it "ours: a file that was in a folder in memory is sent once" memory_is_kept
else
	skip_case "ours: a file that was in a folder in memory is sent once" "user namespaces are not allowed here"
fi
it "ours: a file larger than the cache is sent again" cache_has_a_quota 1
it "ours: without a cache, files are sent again" cache_has_a_quota 0
it "a wrong key" exits 4 'another key' "$tenon" rpc ping "127.0.0.1:$ours_port/other"
it "no server" exits 4 'cannot connect' "$tenon" rpc ping 127.0.0.1:1
it "no address" exits 2 'no address' "$tenon" rpc ping nonsense
it "an input that is wrong" exits 5 'dimension' "$tenon" run "$old/graph_mlp/graph.so" --remote "$ours" --input 'x=3xfloat32=ones'

# stops BYTES COMMAND...: a server that is silent after so many bytes ends the command; its address is in $at
stops()
{
	rm -f "$scratch/log.silent"
	python3 tests/remote/silent_server.py "$ours_port" "$1" 2> "$scratch/log.silent" &
	silent=$!
	shift
	port_of "$scratch/log.silent" $silent || return 1
	at=127.0.0.1:$port/board
	"$@" > "$scratch/out" 2>&1
	status=$?
	kill $silent
	wait $silent 2> "$scratch/why"
	cat "$scratch/out"
	[ $status -ne 0 ] && [ $status -ne 124 ] && grep -qE 'not a byte passed for 1 s|within the time limit' "$scratch/out"
}
silent_ping() { timeout 100 "$tenon" rpc ping "$at" --timeout 1; }
silent_functions() { timeout 100 "$tenon" rpc functions "$at" --timeout 1; }
silent_devices() { timeout 100 "$tenon" devices --remote "$at" --timeout 1; }
silent_run() { timeout 100 "$tenon" run "$old/graph_mlp/graph.so" --remote "$at?silence=1000" --input x=@$old/graph_mlp/in_x.npy; }

if command -v python3 > "$scratch/out"; then
	# within the handshake, behind it, and within the first reply
	it "a server that stops in the handshake: ping" stops 12 silent_ping
	it "a server that stops: ping" stops 55 silent_ping
	it "a server that stops: functions" stops 55 silent_functions
	it "a server that stops within a length: devices" stops 60 silent_devices
	it "a server that stops: a run" stops 55 silent_run
else
	skip_case "a server that stops" "python3 is not installed"
fi

# ---- TVM's server of 0.18: recorded, wants the bytes that the real one took

# recorded_18 NAME STATUS WORDS COMMAND...: the address is in $at
recorded_18()
{
	name=$1 want=$2 words=$3
	shift 3
	rm -f "$scratch/log.18"
	python3 tests/remote/recorded_server.py "tests/remote/data/tvm-0.18/our_client_$name" > "$scratch/log.18" 2>&1 &
	player=$!
	port_of "$scratch/log.18" $player || { kill $player; return 1; }
	at=127.0.0.1:$port/board
	"$@" > "$scratch/out" 2>&1
	status=$?
	# it waits for the rest of the recording unless the client has sent it
	wait $player
	played=$?
	cat "$scratch/out" "$scratch/log.18"
	[ $status -eq "$want" ] && [ $played -eq 0 ] && grep -q "$words" "$scratch/out"
}

ping_18() { "$tenon" rpc ping "$at" --count 3; }
devices_18() { "$tenon" devices --remote "$at"; }
graph_18()
{
	"$tenon" run "$old/graph_mlp/graph.so" --remote "$at" --input "x=@$old/graph_mlp/in_x.npy" \
		--expect "@$old/graph_mlp/out0.npy" --rtol 1e-4
}
function_18()
{
	"$tenon" run "$old/host_vecadd/lib.so" --remote "$at" --function vecadd --input "@$old/host_vecadd/c0_in0.npy" \
		--input "@$old/host_vecadd/c0_in1.npy" --output 1024xfloat32 --expect "@$old/host_vecadd/c0_out2.npy"
}
calls_18() { "$tenon" rpc call "$at" "$@"; }

if command -v python3 > "$scratch/out"; then
	it "TVM 0.18's server, recorded: ping" recorded_18 ping 0 'TVM 0.8 to 0.20' ping_18
	it "TVM 0.18's server, recorded: devices" recorded_18 devices 0 '^cpu:0' devices_18
	it "TVM 0.18's server, recorded: a function" recorded_18 function 0 'expected: equal' function_18
	it "TVM 0.18's server, recorded: a graph" recorded_18 graph 0 'expected: equal' graph_18
	it "TVM 0.18's server, recorded: a tensor that comes back" recorded_18 view 4 'does not own' \
		calls_18 testing.echo 2xint64=ones
	it "TVM 0.18's server, recorded: an error without a text" recorded_18 error 5 'no text' \
		calls_18 rpc.test.except 2xint64=ones
	it "TVM 0.18's server, recorded: a function that is missing" recorded_18 missing 5 'no.such.function' \
		calls_18 no.such.function
else
	skip_case "TVM 0.18's server, recorded" "python3 is not installed"
fi

# ---- by way of a tracker
asks_tracker()
{
	"$tenon" rpc ping "rpc+tracker://$1?key=handed" --count 3 > "$scratch/out" 2> "$scratch/err" && grep -q 'key server:' "$scratch/out" ||
		{ cat "$scratch/out" "$scratch/err"; return 1; }
}

# a client that comes while another has the only server is served when that one leaves
waits_for_the_server()
{
	"$tenon" rpc ping "rpc+tracker://$1?key=handed" --count 20000 > "$scratch/first" 2>&1 &
	first=$!
	asks_tracker "$1" && wait $first || { cat "$scratch/first"; return 1; }
}

if grep -qs '^CONFIG_REMOTE=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	"$tenon" rpc tracker --listen 127.0.0.1:0 2> "$scratch/log.tracker" &
	pids="$pids $!"
	port_of "$scratch/log.tracker" $! || exit
	tracker=127.0.0.1:$port
	"$tenon" rpc serve --listen 127.0.0.1:0 --key handed --tracker "$tracker" --folder "$scratch" 2> "$scratch/log.handed" &
	pids="$pids $!"
	port_of "$scratch/log.handed" $! || exit
	it "a tracker: a server of a key" asks_tracker "$tracker"
	it "a tracker: a server that another has" waits_for_the_server "$tracker"
	it "a tracker: a model" model "rpc+tracker://$tracker?key=handed" "$new/model_mlp/model.so" \
		"x=@$new/model_mlp/r0_x.npy" "$new/model_mlp/r0_out0.npy"
	it "a tracker: no server is free in time" exits 4 'no server' timeout 100 \
		"$tenon" rpc ping "rpc+tracker://$tracker?key=nobody&wait=1000"
	it "a tracker: no key" exits 2 'needs the key' "$tenon" rpc ping "rpc+tracker://$tracker"
else
	skip_case "a tracker" "CONFIG_REMOTE is off"
fi

# ---- TVM's server
venv=${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python
case $venv in
/*) ;;
*) venv=$PWD/$venv ;;
esac
reason=
[ -x "$venv" ] || reason="$venv is missing: scripts/interop-generate --venv-only 0.27"
[ -n "$reason" ] || "$venv" -c 'import tvm, cloudpickle' 2> /dev/null || reason="TVM's server needs cloudpickle"
if [ -n "$reason" ]; then
	cases=$((cases + 1))
	echo "ok $cases - TVM's server # SKIP $reason"
	finish
	exit
fi
"$venv" tests/remote/stock_server.py board > "$scratch/stock" 2>&1 &
pids="$pids $!"
port_of "$scratch/stock" $! || exit
stock=127.0.0.1:$port/board
# what data/README.md says: a recording is made, and played to the client that was recorded
is_recorded_and_played()
{
	stock_port=${stock#127.0.0.1:}
	python3 tests/remote/record.py "${stock_port%/*}" "$scratch/recorded" > "$scratch/log.relay" 2>&1 &
	relay=$!
	port_of "$scratch/log.relay" $relay &&
		"$tenon" rpc ping "127.0.0.1:$port/board" --count 3 || { cat "$scratch/log.relay"; kill $relay; return 1; }
	wait $relay || return 1
	python3 tests/remote/recorded_server.py "$scratch/recorded" > "$scratch/log.played" 2>&1 &
	player=$!
	port_of "$scratch/log.played" $player &&
		"$tenon" rpc ping "127.0.0.1:$port/board" --count 3 || { cat "$scratch/log.played"; kill $player; return 1; }
	wait $player || { cat "$scratch/log.played"; return 1; }
}

it "TVM's server: a session is recorded and played" is_recorded_and_played
it "TVM's server: a function" function_runs "$new" "$stock" 128
it "TVM's server: a Relax model" model "$stock" "$new/model_mlp/model.so" "x=@$new/model_mlp/r0_x.npy" "$new/model_mlp/r0_out0.npy"
it "TVM's server: devices" devices_are_listed "$stock"
it "TVM's server: ping, functions, upload" verbs "$stock"
it "TVM's server: a wrong key" exits 4 'another key' "$tenon" rpc ping "${stock%/*}/other"
finish
