#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which extensions of the processor host code needs, and the message where the machine lacks one

. tests/build/tap.sh
need "${CC%% *}"
for option in DSO LINK JSON; do
	grep -qs "^CONFIG_$option=y" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command is not there, or not of this machine"

# build NAME OPTION...: a module, by $compiler if that is set
build()
{
	name=$1
	shift
	${compiler:-$CC} -shared -fPIC -O1 -Iinclude "$@" -o "$scratch/$name.so" tests/command/instructions.c
}

# needs NAME PATTERN: the lines of the module match
needs()
{
	"$TENON_COMMAND" verify --cpu "$scratch/$1.so" > "$scratch/out" 2>&1
	cat "$scratch/out"
	grep -q "host code: needs $2" "$scratch/out"
}

# warns_of STATUS PATTERN COMMAND...: it exits so, and its output matches
warns_of()
{
	status=$1 pattern=$2
	shift 2
	"$@" > "$scratch/out" 2>&1
	got=$?
	cat "$scratch/out"
	echo "status $got"
	[ $got = "$status" ] && grep -q -- "$pattern" "$scratch/out"
}

silent_of()
{
	warns_of "$@" && ! grep -q "warning:" "$scratch/out"
}

it "a module is built" build plain
it "a signal that was sent ends the command" warns_of 132 "" "$TENON_COMMAND" run "$scratch/plain.so" --function sent
it "and explains no instruction" not grep "illegal instruction" "$scratch/out"
it "a function that stops itself ends with SIGILL" warns_of 132 "SIGILL" "$TENON_COMMAND" run "$scratch/plain.so" --function trap
case $(uname -m) in
x86_64)
	it "the message names file and function" grep -q "plain.so: function __tvm_ffi_trap: illegal instruction" "$scratch/out"
	it "and says that this is no lack of the processor" grep -q "stops itself" "$scratch/out"

	vectors="-O3 -fno-trapping-math -ffast-math"
	# shellcheck disable=SC2086
	{
		it "AVX2 is built" build avx2 $vectors -mavx2
		it "and found" needs avx2 'x86-64-v3 (.*avx'
		it "FMA is built" build fma $vectors -mfma
		it "and found" needs fma 'x86-64-v3 (.*fma'
		it "AVX-512 is built" build avx512 $vectors -mavx512f -mavx512vl -mprefer-vector-width=512
		it "and found" needs avx512 'x86-64-v4 (.*avx512f'
		it "AMX is built" build amx -mamx-tile -mamx-int8
		it "and found" needs amx 'x86-64+amx-tile+amx-int8'
		it "code for a level is built" build levels '-DKEYS="x86_64_v4 x86_64_v3 x86_64_v4_avx512vnni"' -O3
		it "and told from code for all" needs levels 'x86-64; .*x86-64-v3 (.*fma.* x86-64-v4+avx512vnni (.*avx512vnni'
		it "stripped of local symbols, too" strip "$scratch/levels.so"
		it "it is told" needs levels 'x86-64; .*x86-64-v3 (.*fma.* x86-64-v4+avx512vnni (.*avx512vnni'
	}
	it "tenon inspect tells it, too" sh -c '"$TENON_COMMAND" inspect --json "$1" | grep -q "\"needs\":.\"x86-64-v4\""' sh "$scratch/avx512.so"
	if [ -n "$SAN" ]; then
		pass "# SKIP qemu-x86_64 is too slow for a command with a sanitizer"
	elif command -v qemu-x86_64 > /dev/null; then
		lesser="qemu-x86_64 -cpu Nehalem"
		# shellcheck disable=SC2086
		{
			it "a lesser machine is warned" warns_of 4 "warning: this machine has x86-64-v2 and lacks .*fma (1 function: __tvm_ffi_vectors)" \
				$lesser "$TENON_COMMAND" verify --cpu "$scratch/fma.so"
			it "by tenon inspect, too" warns_of 0 "warning: this machine has x86-64-v2" $lesser "$TENON_COMMAND" inspect "$scratch/fma.so"
			it "but not of code that it would not take" silent_of 0 "no fault" $lesser "$TENON_COMMAND" verify --cpu "$scratch/levels.so"
			it "it runs into the message" warns_of 132 "fma.so: function __tvm_ffi_vectors: illegal instruction (SIGILL): it needs .*, which this machine lacks. It has x86-64-v2: " \
				$lesser "$TENON_COMMAND" run "$scratch/fma.so" --function vectors
		}
	else
		pass "# SKIP qemu-x86_64 is not installed"
	fi
	;;
esac
if command -v aarch64-linux-gnu-gcc > /dev/null; then
	compiler=aarch64-linux-gnu-gcc
	it "aarch64 without extensions is built" build arm
	it "and nothing is found" needs arm 'armv8-a$'
	it "dot products are built" build dot -march=armv8.2-a+dotprod
	it "and found" needs dot 'armv8-a+dotprod (dotprod)$'
	it "SVE is built" build sve -O3 -ffast-math -march=armv8.2-a+sve
	it "and found" needs sve 'armv8-a+sve (sve)$'
	[ "$(uname -m)" = aarch64 ] || it "a machine of another kind is not warned" silent_of 0 "no fault" "$TENON_COMMAND" verify --cpu "$scratch/sve.so"
fi
finish
