#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The examples that are installed for programs to start from: each is short, and does what it says.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "the data of these examples is for this machine"
# what lives as long as the program is left to the system, to keep the examples short
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
examples=$TENON_BUILD/examples
data=tests/interop/data

is_short()
{
	for file in examples/*.c; do
		[ "$(wc -l < "$file")" -lt 80 ] || { echo "$file has $(wc -l < "$file") lines"; return 1; }
	done
}

# prints WORDS PROGRAM ARGUMENT...: the last line is as expected
prints()
{
	expected=$1 program=$2
	shift 2
	"$examples/$program" "$@" > "$scratch/out" 2> "$scratch/err" || { cat "$scratch/err"; return 1; }
	tail -n 1 "$scratch/out" | grep -qxe "$expected" || { cat "$scratch/out"; return 1; }
}

fails_with_words()
{
	! "$examples/$1" /nowhere.so > "$scratch/out" 2> "$scratch/err" && grep -q 'nowhere\.so' "$scratch/err"
}

has_option()
{
	grep -qsE "^CONFIG_$1=[ym]" "$TENON_BUILD/include/config/auto.conf"
}

# with OPTION WHAT COMMAND...: a case that needs an option of this build
with()
{
	option=$1
	shift
	if has_option "$option"; then
		it "$@"
	else
		cases=$((cases + 1))
		echo "ok $cases - $1 # SKIP needs CONFIG_$option"
	fi
}

# a client of this tree pings the example's server
serves_a_client()
{
	address=unix:$scratch/board
	# what a line quotes is not to reach a terminal as escapes
	"$examples/board" "$(printf 'no\033[31m:x')" > "$scratch/out" 2>&1 && return 1
	grep -q 'no?\[31m:x: ' "$scratch/out" || return 1
	"$examples/board" "$address" > "$scratch/out" 2>&1 &
	server=$!
	tries=0
	until "$TENON_COMMAND" rpc ping "$address" > "$scratch/ping" 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] && sleep 0.1 || break
	done
	cat "$scratch/ping"
	kill "$server" && wait "$server" && [ "$tries" -lt 100 ]
}

# a launcher and a kernel, which become one file
links_a_module()
{
	"$examples/link" "$scratch/vecadd.so" examples/link/vecadd.c examples/link/vecadd.cl=opencl > "$scratch/out" 2>&1 ||
		{ cat "$scratch/out"; return 1; }
	cat "$scratch/out"
	grep -q '^compiling examples/link/vecadd\.c$' "$scratch/out" && grep -q '^ *opencl of vecadd\.cl: 1 functions' "$scratch/out"
}

it "each example has less than 80 lines" is_short
with TVM_LEGACY "a function is called" prints '0.5 1.5 2.5 ... 1023.5' call \
	"$data/tvm-0.18/host_vecadd/lib.so" vecadd
with DSO "a file that is missing is named" fails_with_words call
with DSO "so it is by the program for two devices" fails_with_words two_devices
with GRAPH_EXECUTOR "a graph runs" prints '[0-9.e -]*' model "$data/tvm-0.18/graph_mlp/graph.so"
with GRAPH_EXECUTOR "a graph runs in static arrays" prints '[0-9.e-]* \.\.\.' static_memory \
	"$data/tvm-0.18/graph_mlp/graph.so"
with AOT_EXECUTOR "so does code compiled ahead of time" prints '[0-9.e-]* \.\.\.' static_memory \
	"$data/tvm-0.18/aot_mlp/aot_packed.so"
with RELAX_VM "a Relax model runs" prints '[0-9.e -]*' model "$data/tvm-0.27.0.post1/model_mlp/model.so"
it "a module kind of one's own is loaded and called" prints 42 module_kind
with LLM "a language model replies" prints '[1-9][0-9]* tokens of prompt, 100 of reply' chat tests/llm/data/bytes
if command -v "${CC:-cc}" > /dev/null; then
	with LINK "a module is linked and shown" links_a_module
fi
[ ! -x "$TENON_COMMAND" ] || with REMOTE "a board is served" serves_a_client
with DEVICE_CPU "two processes share a buffer" prints 'the other process wrote 2a2a2a2a' share_buffer cpu:0
with DEVICE_CPU "an event loop drives a device" prints 'job 4 is done' event_loop cpu:0
if [ -x "$TENON_COMMAND" ] && "$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0'; then
	with GRAPH_EXECUTOR "a model has two runs in flight" prints '16 runs, 2 in flight' two_in_flight \
		"$data/tvm-0.18/graph_mlp_opencl/graph.so" opencl:0
fi
finish
