#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Drivers that abort, hang, exit and print where they should not, and the command that has to tell

. tests/build/tap.sh

for option in DEVICES DEVICE_CPU DEVICE_OPENCL DEVICE_CUDA DEVICE_VULKAN DSO INSPECT ERROR_MESSAGES JSON TVM_FFI_COMPAT; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
[ -z "$EMULATOR" ] || skip "a command that is run by an emulator cannot start itself"

unruly=$TENON_BUILD/tests/opencl/fake_opencl_unruly.so
nowhere=/nowhere/driver.so
host=tests/interop/data/tvm-0.27.0.post1/host_vecadd/lib.so
kernels=tests/interop/data/tvm-0.27.0.post1/opencl_vecadd/lib.so
export TENON_VULKAN_LIBRARY=$nowhere TENON_CUDA_LIBRARY=$nowhere TENON_CACHE_DIR=
export TENON_OPENCL_LIBRARY="$unruly"

# has TEXT…: each is in what the last command printed
has()
{
	for text in "$@"; do
		grep -q -e "$text" "$scratch/out" || { cat "$scratch/out"; echo "wanted: $text"; return 1; }
	done
}

# command STATUS WORD…: run the command; its output and errors go to files
command_ends()
{
	want=$1
	shift
	"$TENON_COMMAND" "$@" > "$scratch/out" 2> "$scratch/err"
	status=$?
	[ "$status" -eq "$want" ] || { cat "$scratch/out" "$scratch/err"; echo "status $status, want $want"; return 1; }
}

# doctor goes on and says what this driver did
told()
{
	how=$1
	shift
	export UNRULY="$how"
	command_ends 0 doctor --timeout 30 && has "warn  opencl .*$1" '→ .*TENON_BACKENDS=-opencl' 'warn  vulkan' &&
		command_ends 0 devices --timeout 30 && has '^cpu:0' "^opencl  *.*$1" '^vulkan '
}

a_crash()
{
	told abort 'crashed with SIGABRT.*it wrote: words on standard error'
}

a_kill()
{
	told kill 'crashed with SIGKILL.*words on standard error'
}

an_exit()
{
	told exit 'ended the process (exit status 0).*words on standard error' &&
		told _exit 'ended the process (exit status 7).*words on standard error'
}

# the 3 seconds of each must have passed, and not many more
a_hang()
{
	start=$(date +%s)
	UNRULY=hang
	command_ends 0 devices --timeout 3 && has '^opencl .*did not answer within 3 s.*words on standard error' &&
		[ $(($(date +%s) - start)) -lt 60 ]
}

# only the end is kept, without control characters
a_flood()
{
	UNRULY=spew
	command_ends 0 devices --timeout 3 && has '^opencl .*did not answer within 3 s.*and on' &&
		[ "$(wc -c < "$scratch/out")" -lt 8000 ] && ! grep -q "$(printf '\033')" "$scratch/out"
}

a_false_answer()
{
	told answer 'ended the process (exit status 0)'
}

each_api()
{
	UNRULY=abort TENON_VULKAN_LIBRARY=$unruly TENON_CUDA_LIBRARY=$unruly command_ends 0 doctor &&
		has 'warn  opencl .*SIGABRT' 'warn  vulkan .*SIGABRT' 'warn  cuda .*SIGABRT'
}

# it is not waited for
a_process_left_behind()
{
	start=$(date +%s)
	UNRULY=daemon
	command_ends 0 devices && has '^opencl:0  Fake device' && [ $(($(date +%s) - start)) -lt 25 ]
}

prints_are_not_shown()
{
	UNRULY=print
	command_ends 0 devices && has '^opencl:0  Fake device' && ! grep -q 'words on' "$scratch/out" "$scratch/err"
}

# json WORD…: the output is one JSON text and nothing else
is_json()
{
	python3 -c 'import json, sys; json.load(sys.stdin)' < "$scratch/out" || { head -5 "$scratch/out"; return 1; }
}

prints_do_not_reach_json()
{
	for how in print abort exit; do
		export UNRULY="$how"
		command_ends 0 devices --json && is_json && command_ends 0 doctor --json && is_json || return
	done
	UNRULY=print
	command_ends 0 run --json "$host" --function vecadd --device opencl:0 \
		--input 2.5 --expect 2.5 2>/dev/null
	# the driver was opened in the command itself; what is called is of no matter
	! grep -q 'words on\|and more' "$scratch/out"  && grep -q 'words on standard output' "$scratch/err"
}

# opens WORD…: run ends by the driver, and says so
run_explains()
{
	for how in abort exit _exit kill; do
		export UNRULY="$how"
		"$TENON_COMMAND" run "$host" --function vecadd --device opencl:0 > "$scratch/out" 2> "$scratch/err.$how"
		status=$?
		[ "$how" != exit ] || [ "$status" -eq 4 ] || { echo "status $status"; return 1; }
		# it is another process that writes this
		for wait in $(seq 200); do
			grep -q 'tenon: .*opencl:0.*tenon doctor' "$scratch/err.$how" && continue 2
			sleep 0.3
		done
		cat "$scratch/err.$how"
		return 1
	done
}

# without the process that waits for its end
warm_goes_on()
{
	for how in print kill-children; do
		UNRULY=$how TENON_CACHE_DIR=$scratch/cache command_ends 0 warm "$kernels" --device opencl:0 || return
		! grep -q 'the command ended' "$scratch/err" || return
	done
	grep -q 'killed a child' "$scratch/err"
}

a_hang_ends_by_the_timeout()
{
	UNRULY=hang
	command_ends 124 run "$host" --function vecadd --device opencl:0 --timeout 0.5
}

the_processor_needs_none()
{
	UNRULY=abort
	TENON_VULKAN_LIBRARY=$unruly TENON_CUDA_LIBRARY=$unruly
	command_ends 0 run "$host" --function vecadd --input 128xfloat32=ones --input 128xfloat32=ones \
		--output 128xfloat32 &&
		command_ends 0 run "$host" --device cpu:0 --function vecadd --input 128xfloat32=ones \
			--input 128xfloat32=ones --output 128xfloat32 &&
		command_ends 0 inspect --functions "$host"
}

left_out()
{
	UNRULY=abort
	for list in cpu,vulkan '-opencl' ' vulkan  cuda # opencl'; do
		TENON_BACKENDS=$list command_ends 0 doctor && has 'ok    opencl .*left out by TENON_BACKENDS' 'warn  vulkan' &&
			TENON_BACKENDS=$list command_ends 0 devices && has '^opencl .*left out by TENON_BACKENDS' &&
			TENON_BACKENDS=$list command_ends 4 run "$host" --function vecadd --device opencl:0 || return
	done
	for list in '' opencl '-vulkan' 'cuda,opencl'; do
		TENON_BACKENDS=$list command_ends 0 doctor && has 'warn  opencl .*SIGABRT' || return
	done
}

# the processor is always there, and a name that is none is told
a_list_with_a_mistake()
{
	TENON_BACKENDS=vulcan command_ends 0 doctor && has 'warn .*no backend is called "vulcan"' &&
		TENON_BACKENDS=-opnecl command_ends 0 devices && grep -q 'no backend is called "opnecl"' "$scratch/err" &&
		TENON_BACKENDS=vulcan command_ends 4 run "$host" --function vecadd --device opencl:0 &&
		grep -q 'no backend is called "vulcan"' "$scratch/err" &&
		TENON_BACKENDS=vulkan command_ends 0 run "$host" --device cpu --function vecadd --input 128xfloat32=ones \
			--input 128xfloat32=ones --output 128xfloat32 && ! grep -q TENON_BACKENDS "$scratch/err" &&
		TENON_BACKENDS=foo command_ends 0 run "$host" --function vecadd --input 128xfloat32=ones \
			--input 128xfloat32=ones --output 128xfloat32 &&
		[ "$(grep -c 'no backend is called "foo"' "$scratch/err")" = 1 ]
}

the_option_is_for_itself()
{
	command_ends 2 --probe-backend opencl < /dev/null && grep -q 'tenon doctor' "$scratch/err"
}

it "a driver that aborts is told with its last words" a_crash
it "a driver that is killed" a_kill
it "a driver that ends the process" an_exit
it "a driver that hangs is given up" a_hang
it "a driver that writes without end" a_flood
it "a driver that writes to the wrong place" a_false_answer
it "the driver of each API" each_api
it "a process that a driver leaves behind is not waited for" a_process_left_behind
it "what a driver that works prints is not shown" prints_are_not_shown
if command -v python3 >/dev/null 2>&1; then
	it "what drivers print does not get into JSON" prints_do_not_reach_json
fi
it "run says which driver ended it" run_explains
if [ -e /proc/thread-self/children ]; then
	it "warm goes on if a driver ends the process that would say so" warm_goes_on
fi
it "run gives up a driver that hangs, with --timeout" a_hang_ends_by_the_timeout
it "work for the processor touches no driver" the_processor_needs_none
it "a driver that is left out is not touched" left_out
it "a list of drivers with a mistake in it" a_list_with_a_mistake
it "the option that asks a driver is not for people" the_option_is_for_itself
finish
