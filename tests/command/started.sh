#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that are started in unusual ways: without descriptors 0 to 2, with a small stack

. tests/build/tap.sh

has()
{
	grep -qs "^CONFIG_$1=[ym]" "$TENON_BUILD/include/config/auto.conf"
}

[ -x "$TENON_COMMAND" ] || skip "the command is not built"
tenon=$TENON_COMMAND
model=$PWD/tests/llm/data/bytes/model.so

# the file that the command opens gets no standard descriptor, and the lost output is an error
trace_without_output()
{
	"$tenon" chat "$model" --message hi --max-tokens 3 --quiet --trace "$scratch/t.json" >&- 2> "$scratch/why" < /dev/null
	status=$?
	cat "$scratch/why"
	[ $status -eq 3 ] && head -c 40 "$scratch/t.json" | grep -q '^{"displayTimeUnit"'
}

# numbers PROGRAM: what it has open as 0, 1 and 2
without_descriptors()
{
	"$@" <&- >&- 2>&- &
	pid=$!
	n=0
	until [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$1")" ] || [ $n -ge 100 ]; do
		n=$((n + 1))
		sleep 0.05
	done
	for fd in 0 1 2; do
		n=0
		# the dynamic linker has its libraries open there, one after the other, before main() is reached
		until [ "$(readlink "/proc/$pid/fd/$fd")" = /dev/null ] || [ $n -ge 100 ]; do
			n=$((n + 1))
			sleep 0.05
		done
		readlink "/proc/$pid/fd/$fd"
	done > "$scratch/fds"
	kill -KILL "$pid"
	wait "$pid"
	cat "$scratch/fds"
	[ "$(sort -u "$scratch/fds")" = /dev/null ]
}

small_stack()
{
	(ulimit -s 128 && "$tenon" "$@" > "$scratch/out" 2>&1 < /dev/null)
	status=$?
	tail -n 5 "$scratch/out"
	[ $status -lt 100 ]
}

case $(uname -m)-${EMULATOR:-} in
x86_64-)
	if has LLM && has TRACE && has TVM_FFI_COMPAT; then
		it "a chat without standard output does not print to its trace" trace_without_output
	fi
	;;
esac
if has REMOTE && [ -z "${EMULATOR:-}" ] && [ -d /proc/self/fd ]; then
	it "a server without descriptors has /dev/null for each" without_descriptors "$tenon" rpc serve --listen 127.0.0.1:0
fi
if has LLM_SERVE && [ -x "$TENON_BUILD/tenon-serve" ] && [ -z "${EMULATOR:-}" ] && [ "$(uname -m)" = x86_64 ]; then
	it "so has tenon-serve" without_descriptors "$TENON_BUILD/tenon-serve" "$model" --port 0
fi
if (ulimit -s 128) 2> /dev/null && [ -z "${EMULATOR:-}" ] && [ -z "${SAN:-}" ]; then
	it "tenon doctor works with a stack of 128 KiB" small_stack doctor
	it "tenon doctor --board too" small_stack doctor --board
	it "tenon devices too" small_stack devices
	it "tenon inspect too" small_stack inspect "$model"
	it "tenon verify too" small_stack verify "$model"
else
	skip_case "commands work with a stack of 128 KiB" "the limit of the stack cannot be set here"
fi
finish
