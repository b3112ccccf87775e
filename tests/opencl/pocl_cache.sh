#!/bin/sh
# SPDX-License-Identifier: MIT
#
# PoCL reports no device where it cannot write to its cache: the command says so, and what helps.

. tests/build/tap.sh

grep -qs "^CONFIG_DEVICE_OPENCL=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_DEVICE_OPENCL"
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
unset POCL_CACHE_DIR POCL_DEVICES XDG_CACHE_HOME
export TENON_CACHE_DIR=
$EMULATOR "$TENON_COMMAND" devices 2>/dev/null | grep -A1 '^opencl:0' | grep -q PoCL || skip "no device of PoCL"
HOME=/proc/nope $EMULATOR "$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0' && skip "this PoCL needs no cache"

# says WORDS STATUS COMMAND...
says()
{
	words=$1 wanted=$2
	shift 2
	$EMULATOR "$TENON_COMMAND" "$@" > "$scratch/out" 2>&1
	status=$?
	cat "$scratch/out"
	[ "$status" -eq "$wanted" ] && grep -q "$words" "$scratch/out"
}

without_home()
{
	(HOME=/proc/nope says "$@")
}

without_devices()
{
	(POCL_DEVICES=none says "$@")
}

with_a_folder()
{
	mkdir "$scratch/pocl" && (HOME=/proc/nope POCL_CACHE_DIR=$scratch/pocl says "$@")
}

code=tests/interop/data/tvm-0.18/opencl_vecadd/lib.so
it "devices names PoCL and the variable" without_home 'PoCL.*no device.*POCL_CACHE_DIR' 0 devices
it "doctor too" without_home 'warn .*opencl .*PoCL.*no device.*POCL_CACHE_DIR' 0 doctor
it "a run too" without_home 'PoCL.*no device.*POCL_CACHE_DIR' 4 run $code --device opencl:0
it "what they name helps" with_a_folder '^opencl:0' 0 devices
it "another variable that leaves no device is named" without_devices 'PoCL.*no device.*POCL_DEVICES' 0 devices
finish
