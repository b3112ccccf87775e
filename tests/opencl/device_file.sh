#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Kernels in a file of their own: called as they are, and imported by a library of host code.

. tests/build/tap.sh

for option in DEVICE_OPENCL; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
$EMULATOR "$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0' || skip "no OpenCL device"
TENON_CACHE_DIR=
export TENON_CACHE_DIR

cat > "$scratch/dev.cl" <<'END'
// Function: scale
__kernel void scale(__global float *to, __global const float *from, float by)
{
	to[get_global_id(0)] = from[get_global_id(0)] * by;
}
END
cat > "$scratch/dev.tvm_meta.json" <<'END'
{"tvm_version": "0.1.0", "func_info": {"scale": {"name": "", "arg_types": ["handle", "handle", "float32"],
 "launch_param_tags": ["blockIdx.x", "threadIdx.x"]}}}
END

# the arguments, then the extents of the launch: two blocks of four
scale()
{
	$EMULATOR "$TENON_COMMAND" run "$@" --function scale --device opencl:0 --output 8xfloat32 --input 8xfloat32=arange \
		--input 2.5 --input 2 --input 4 --expect 8xfloat32=0,2.5,5,7.5,10,12.5,15,17.5
}

is_refused_alone()
{
	mkdir -p "$scratch/alone"
	cp "$scratch/dev.cl" "$scratch/alone/"
	$EMULATOR "$TENON_COMMAND" run "$scratch/alone/dev.cl" --function scale
	[ $? -eq 3 ]
}

it "a kernel is called by its name" scale "$scratch/dev.cl"
if grep -qs '^CONFIG_DSO=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "a library of host code finds it in what it imports" \
		scale tests/interop/data/tvm-0.27.0.post1/host_vecadd/lib.so --import "$scratch/dev.cl"
fi
it "without the table beside it the file is refused" is_refused_alone
finish
