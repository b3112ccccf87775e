#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Kernels of a file are built by several processes, and left in the cache.

. tests/build/tap.sh

for option in DEVICE_OPENCL KERNEL_CACHE DEVICES; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
$EMULATOR "$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0' || skip "no OpenCL device"
TENON_CACHE_DIR=$scratch/cache
export TENON_CACHE_DIR
# the driver's own cache would hide what ours does not keep
POCL_CACHE_DIR=$scratch/pocl
export POCL_CACHE_DIR
mkdir "$POCL_CACHE_DIR"

# kernels FILE NAME...: each multiplies by its number; a name with a dot is not C
kernels()
{
	file=$scratch/$1.cl table=$scratch/$1.tvm_meta.json number=0 comma=
	shift
	: > "$file"
	printf '{"tvm_version": "0.1.0", "func_info": {' > "$table"
	for name; do
		number=$((number + 1))
		printf '// Function: %s\n__kernel void %s(__global float *to, __global const float *from)\n' "$name" "$name" >> "$file"
		printf '{\n\tto[get_global_id(0)] = from[get_global_id(0)] * %s.0f;\n}\n' $number >> "$file"
		printf '%s"%s": {"name": "", "arg_types": ["handle", "handle"], "launch_param_tags": ["blockIdx.x", "threadIdx.x"]}' \
			"$comma" "$name" >> "$table"
		comma=', '
	done
	printf '}}\n' >> "$table"
}

entries()
{
	find "$TENON_CACHE_DIR/opencl" -type f 2>/dev/null | wc -l
}

warm()
{
	$EMULATOR "$TENON_COMMAND" warm "$@"
}

all_are_kept()
{
	warm "$scratch/good.cl" --device opencl:0 --jobs 3 > "$scratch/out" || return
	cat "$scratch/out"
	grep -q '4 kernels ready for opencl:0 after .*, by [13] process' "$scratch/out" && [ "$(entries)" -eq 4 ]
}

a_run_builds_no_other()
{
	$EMULATOR "$TENON_COMMAND" run "$scratch/good.cl" --function third --device opencl:0 --output 8xfloat32 \
		--input 8xfloat32=arange --input 2 --input 4 --expect 8xfloat32=0,3,6,9,12,15,18,21 && [ "$(entries)" -eq 4 ]
}

once_more_in_json()
{
	warm "$scratch/good.cl" --device opencl:0 --json > "$scratch/out" || return
	cat "$scratch/out"
	grep -q '"kernels":[[:space:]]*4' "$scratch/out" && grep -q '"failed":[[:space:]]*0' "$scratch/out" && [ "$(entries)" -eq 4 ]
}

a_bad_one_is_named()
{
	before=$(entries)
	warm "$scratch/bad.cl" --device opencl:0 --jobs 2 > "$scratch/out" 2> "$scratch/err"
	[ $? -eq 5 ] || return
	cat "$scratch/err"
	grep -q 'kernel good\.not .*' "$scratch/err" && [ ! -s "$scratch/out" ] && [ "$(entries)" -eq $((before + 1)) ]
}

# the kernel keeps no exit status of processes whose parent ignores SIGCHLD
a_failure_is_seen_without_sigchld()
{
	env --ignore-signal=CHLD $EMULATOR "$TENON_COMMAND" warm "$scratch/bad.cl" --device opencl:0 --jobs 2 \
		> "$scratch/out" 2> "$scratch/err"
	[ $? -eq 5 ] && [ ! -s "$scratch/out" ]
}

needs_a_cache()
{
	TENON_CACHE_DIR= warm "$scratch/good.cl" --device opencl:0
	[ $? -eq 4 ]
}

# refused STATUS ARGUMENT...
refused()
{
	status=$1
	shift
	warm "$@"
	[ $? -eq "$status" ]
}

# a model's kernels are built from its opening on, before they are measured
a_model_builds_its_kernels()
{
	$EMULATOR "$TENON_COMMAND" bench "$model" --device opencl:0 --runs 1 --warmup 0 > "$scratch/out" || return
	cat "$scratch/out"
	grep -q '^[1-9][0-9]* kernels ready after ' "$scratch/out"
}

it_says_so_in_json()
{
	$EMULATOR "$TENON_COMMAND" bench "$model" --device opencl:0 --runs 1 --warmup 0 --json > "$scratch/out" || return
	cat "$scratch/out"
	[ "$(grep -o '"kernels":[[:space:]]*[1-9]' "$scratch/out" | wc -l)" -eq 2 ]
}

# the compiled code's own words do not say what to do
a_model_for_the_processor_has_none()
{
	relax=tests/interop/data/tvm-0.27.0.post1
	$EMULATOR "$TENON_COMMAND" run $relax/model_mlp/model.so --device opencl:0 --input "@$relax/model_mlp/r0_x.npy" \
		> "$scratch/out" 2> "$scratch/err"
	[ $? -eq 5 ] && grep -q 'model_mlp/model.so has no kernels for opencl:0; .*without --device' "$scratch/err" || return
	$EMULATOR "$TENON_COMMAND" run $relax/model_mlp_opencl/model.so --device opencl:0 \
		--input "@$relax/model_mlp/r0_x.npy" > "$scratch/out" 2> "$scratch/err"
	not grep -q 'has no kernels' "$scratch/err"
}

kernels good first second third fourth
# one file is one program for each kernel, so the other kernel compiles
kernels bad good.not other_kernel
it "all kernels are built and kept" all_are_kept
it "a run finds them" a_run_builds_no_other
if grep -qs '^CONFIG_JSON=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "the result as JSON; nothing is built twice" once_more_in_json
fi
if grep -qs '^CONFIG_ERROR_MESSAGES=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "a kernel that does not compile is named, and the other is built" a_bad_one_is_named
fi
if env --ignore-signal=CHLD true 2> "$scratch/err"; then
	it "a failure is seen where the caller ignores SIGCHLD" a_failure_is_seen_without_sigchld
fi
it "without a cache there is nothing to do" needs_a_cache
it "the processor has no kernels to build" warm "$scratch/good.cl" --device cpu
model=tests/interop/data/tvm-0.18/graph_mlp_opencl/graph.so
if grep -qs '^CONFIG_GRAPH_EXECUTOR=[ym]' "$TENON_BUILD/include/config/auto.conf" &&
	grep -qs '^CONFIG_TVM_LEGACY=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "the kernels of a model are built when it is opened" a_model_builds_its_kernels
	if grep -qs '^CONFIG_JSON=y' "$TENON_BUILD/include/config/auto.conf"; then
		it "which JSON says too" it_says_so_in_json
	fi
fi
if grep -qs '^CONFIG_RELAX_VM=[ym]' "$TENON_BUILD/include/config/auto.conf" && [ -z "$EMULATOR" ] && [ "$(uname -m)" = x86_64 ]; then
	it "a model for the processor that fails on a device has no kernels for it" a_model_for_the_processor_has_none
fi
it "a device is wanted" refused 2 "$scratch/good.cl"
it "a device that is not there is refused" refused 4 "$scratch/good.cl" --device opencl:77
it "so is a file that is not there" refused 3 "$scratch/none.cl" --device opencl:0
finish
