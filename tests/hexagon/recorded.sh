#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Operators that TVM 0.27 compiled for Hexagon (record.py) run on the board that qemu-hexagon runs, as kernels of a module
# whose launchers this machine's processor runs. What is expected is TVM's own code for a processor.

. tests/build/tap.sh
. tests/hexagon/hexagon.sh

[ -z "${EMULATOR:-}" ] || skip "the compiler's modules are for another machine"
recorded=tests/hexagon/recorded
module=$scratch/operators.so

links()
{
	tenon link -o "$module" -I include tests/hexagon/launch.c $recorded/operators.mortise=mortise $recorded/vectors.mortise=mortise
}

# same NAME TYPE OUTPUT [OPTION]...
same()
{
	name=$1 shape=$2
	shift 2
	inputs=
	for input in $recorded/"$name".[0-9].npy; do
		inputs="$inputs --input @$input"
	done
	tenon run "$module" --function "run_$name" --device mortise://hexagon $inputs --output "$shape" \
		--expect "@$recorded/$name.out.npy" "$@" > "$scratch/words" 2>&1 || { cat "$scratch/words"; return 1; }
	grep '^expected: equal' "$scratch/words"
}

refused_elsewhere()
{
	not tenon run "$module" --function run_softmax --device mortise://sim --input @$recorded/softmax.0.npy \
		--output 4x10xfloat32 > "$scratch/words" 2>&1 && cat "$scratch/words" && grep -q 'has code for: hexagon' "$scratch/words"
}

it "tenon link puts launchers and the recorded operators into one file" links
it "a dense layer of float32 is the processor's" same dense 4x8xfloat32 --rtol 1e-5 --atol 1e-6
it "a convolution of float32, with a workspace, is the processor's" same conv2d 1x4x16x16xfloat32 --rtol 1e-5 --atol 1e-6
it "a softmax is the processor's within the rounding of its exponential" same softmax 4x10xfloat32 --rtol 1e-5 --atol 1e-6
it "a dense layer of int8 is the processor's, bit for bit" same dense_int8 4x8xint32 --rtol 0 --atol 0
it "an addition in vectors of HVX is the processor's" same add_hvx 4x32xint32 --rtol 0 --atol 0
if grep -qs "^CONFIG_ERROR_MESSAGES=y" "$TENON_BUILD/include/config/auto.conf"; then
	it "a board with another core refuses them, and says which core they are for" refused_elsewhere
fi
finish
