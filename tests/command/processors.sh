#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A module with code for several processors: the best that this machine has the features of runs

. tests/build/tap.sh
need "${CC%% *}"
for option in DSO FAST_CALLS; do
	grep -qs "^CONFIG_$option=y" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command is not there, or not of this machine"

# takes LEVEL: which code runs; 1 is the code for all processors
takes()
{
	"$TENON_COMMAND" run "$scratch/module.so" --function which --output 1xfloat32 --expect "1xfloat32=$1"
}

# the words of /proc/cpuinfo, where the kernel names the features of x86-64
machine_has()
{
	for feature in "$@"; do
		grep -qs "^flags.* $feature\\( \\|\$\\)" /proc/cpuinfo || return 1
	done
}

best=1
if [ "$(uname -m)" = x86_64 ]; then
	! machine_has sse4_2 popcnt ssse3 || best=2
	! machine_has sse4_2 avx2 bmi1 bmi2 f16c fma abm movbe || best=3
	! { [ $best = 3 ] && machine_has avx512f avx512bw avx512cd avx512dq avx512vl; } || best=4
	! { [ $best = 4 ] && machine_has avx512_vnni; } || best=5
fi

it "the module is built" sh -c '$CC -shared -fPIC -O1 -Iinclude -o "$1" tests/command/processors.c' sh "$scratch/module.so"
it "this machine takes its best, number $best" takes $best
for key in 2:v2 3:v3 4:v4 5:v4_avx512vnni; do
	level=${key%:*}
	export TENON_PROCESSOR=x86_64_${key#*:}
	if [ $level -le $best ]; then
		it "x86_64_${key#*:} is taken when it is asked for" takes $level
	else
		it "x86_64_${key#*:}, which this machine lacks, is not taken" takes 1
	fi
done
export TENON_PROCESSOR=x86_64
it "a level that the module lacks is the code for all" takes 1
finish
