#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mips, 32 bits and big-endian: cross-compiled, and run by qemu-user. Debian has no test library for it, so the command is
# the proof: it runs modules of this order, refuses those of the other one, and reads files whose numbers are in either.

. tests/build/tap.sh
. tests/build/inner_make.sh

cross=mips-linux-gnu qemu=qemu-mips
need "$cross-gcc" "$qemu"
folder=$(kept "$cross")
emulator="$qemu /usr/$cross/lib/ld.so.1 --library-path /usr/$cross/lib"
data=tests/interop/data
here=${TENON_COMMAND:-$TENON_BUILD/tenon}

build_it()
{
	rm -f "$folder/tenon"
	options_off "$folder" JSON NPZ LLM_TOKENIZER LLM_SERVE SHARED_LIBRARY LANGUAGE_MODELS REMOTE REMOTE_CLIENT HIL TRACE DNNL_JSON \
		DEVICE_CUDA DEVICE_VULKAN DEVICE_MORTISE &&
		for option in DEVICE_ETHOSU TFLITE_EXECUTOR; do echo "CONFIG_$option=y"; done >> "$folder/.config" &&
		inner_make -s O="$folder" olddefconfig &&
		inner_make O="$folder" CC="$launcher$cross-gcc" AR="$cross-ar" CFLAGS='-O1 -Werror' "$folder/tenon"
}

# tenon ARGUMENT...
tenon()
{
	$emulator "$folder/tenon" "$@"
}

# sums ADD-MODULE: arrays of numpy, which are little-endian, and the result as a file, which numpy reads anywhere
sums()
{
	vecadd=$data/tvm-0.18/host_vecadd
	tenon run "$scratch/$1.so" --function add --input "@$vecadd/c0_in0.npy" --input "@$vecadd/c0_in1.npy" \
		--output "1024xfloat32=>$scratch/sum.npy" --expect "@$vecadd/c0_out2.npy" &&
		tenon run "$scratch/$1.so" --function add --input "@$scratch/sum.npy" --input 1024xfloat32=zeros \
			--output 1024xfloat32 --expect "@$vecadd/c0_out2.npy" &&
		LC_ALL=C grep -a -q "'>f4'" "$scratch/sum.npy"
}

refuses_the_other_order()
{
	"$cross-gcc" -EL -O2 -shared -fPIC -nostdlib -Iinclude tests/build/add_modern.c -o "$scratch/other.so" || return
	tenon run "$scratch/other.so" --function add > "$scratch/words" 2>&1
	status=$?
	cat "$scratch/words"
	[ "$status" -eq 3 ] && grep -q 'made for mips (32-bit, little-endian), this program runs on mips (32-bit, big-endian)' "$scratch/words"
}

# Parameters are little-endian on every machine: files written here and there are the same, and what is read here is right
writes_the_same_params()
{
	set --
	for array in f16 f32 f64 i8 i64 i32_5d bool scalar empty; do
		set -- "$@" "$array=$data/tvm-0.18/params_file/p_$array.npy"
	done
	tenon params from-npy "$@" "$scratch/there.params" &&
		"$here" params from-npy "$@" "$scratch/here.params" && cmp "$scratch/there.params" "$scratch/here.params" &&
		tenon params align "$data/tvm-0.18/params_file/all.params" "$scratch/there.aligned" &&
		"$here" params align "$data/tvm-0.18/params_file/all.params" "$scratch/here.aligned" &&
		cmp "$scratch/there.aligned" "$scratch/here.aligned"
}

reads_params()
{
	tenon params extract "$data/tvm-0.18/params_file/all.params" -o "$scratch/arrays" || return
	for array in f16 f32 f64 i8 u8 i64 i32_5d bool scalar; do
		"$here" params from-npy "p=$scratch/arrays/$array.npy" "$scratch/read.params" >/dev/null &&
			"$here" params from-npy "p=$data/tvm-0.18/params_file/p_$array.npy" "$scratch/want.params" >/dev/null &&
			cmp "$scratch/read.params" "$scratch/want.params" || return
	done
	LC_ALL=C grep -a -q "'>f8'" "$scratch/arrays/f64.npy"
}

says_the_same()
{
	tenon "$@" > "$scratch/there" && "$here" "$@" > "$scratch/here" && diff "$scratch/there" "$scratch/here"
}

it "$cross-gcc builds the command and the library without a warning" build_it
target_cc=$cross-gcc
. tests/build/smoke.sh
it "it reads arrays of the other order, and writes those of its own" sums add_modern
it "it refuses a module of the same machine in the other order" refuses_the_other_order
it "it writes parameters as this machine does" writes_the_same_params
it "it reads parameters, in its own order" reads_params
it "it describes a model as this machine does" says_the_same inspect --model "$data/tvm-0.27.0.post1/model_mlp/model.so"
it "it describes a graph as this machine does" says_the_same inspect --model "$data/tvm-0.18/graph_mlp/graph.so"
# runs FOLDER INPUT OUTPUT: a network for Ethos-U on the functional model
runs()
{
	network=tests/ethosu/data/$1
	tenon run "$network/vela.tflite" --device ethosu://sim --input "$2=@$network/in0.bin" --expect "$3=@$network/ref0.bin"
}

# shapes of the operators of the processor are constants of 32 bits
moves()
{
	for name in pad transpose; do
		tenon run "tests/tflite/data/$name.tflite" --stream < "tests/tflite/data/$name.in" > "$scratch/moved" &&
			cmp "$scratch/moved" "tests/tflite/data/$name.ref" || return
	done
}

it "it runs a convolution on the functional model of Ethos-U" runs u65_conv1x1 1x8x8x16xint8 1x8x8x16xint8
it "it runs softmax there, with tables of 32 bits" runs u65_softmax_mix 1x16x16x3xint8 1x12xint8
it "it runs operators of the processor whose parameters are constants" moves
it "it lists an import tree as this machine does" says_the_same inspect "$data/tvm-0.27.0.post1/opencl_multi/lib.so"
finish
