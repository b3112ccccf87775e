#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon link and unpack, on what the compiler of this build makes

. tests/link/link.sh

devices=$(tenon devices 2>/dev/null)
has_opencl()
{
	echo "$devices" | grep -q '^opencl:0' && grep -qs '^CONFIG_DSO=y' "$TENON_BUILD/include/config/auto.conf"
}

# runs FILE NUMBERS: vecadd of 0 to 7 and ones gives these
runs()
{
	tenon run "$1" --function vecadd --device opencl:0 --input 8xfloat32=arange --input 8xfloat32=ones \
		--output 8xfloat32 --expect "8xfloat32=$2"
}

# ---- linking

links()
{
	link --abi "$1" -o "$1.so" "$example/vecadd.c" "$example/vecadd.cl=opencl" && tenon inspect --functions "$1.so" > "$1.txt" &&
		cat "$1.txt" && grep -q 'vecadd_kernel(handle, handle, handle, int32)' "$1.txt" && grep -q "TVM $2" "$1.txt"
}
it "a launcher and a kernel become a module of TVM 0.22 and later" links modern 0.26
it "and one of TVM 0.8 to 0.19" links legacy 0.8

if has_opencl; then
	it "the module runs" runs modern.so 1,2,3,4,5,6,7,8
	it "so does the older one" runs legacy.so 1,2,3,4,5,6,7,8
fi

links_alike()
{
	mkdir -p elsewhere/tmp && cp "$example"/* elsewhere/ &&
		(cd elsewhere && TMPDIR=$PWD/tmp link -o ../again.so vecadd.cl=opencl vecadd.c && [ -z "$(ls tmp)" ]) &&
		cmp modern.so again.so
}
it "another folder and another order give the same bytes, and nothing is left behind" links_alike

several()
{
	cat > helper.c <<-END
	#include <tenon/launcher.h>
	TENON_LAUNCHER(twice) { int64_t n; if (tenon_launch_integer(call, 0, &n)) return -1; return n == 2 ? 0 : tenon_launch_error("not two"); }
	END
	$CC -fPIC -I "$headers" -c helper.c -o helper.o || return
	link -o several.so "$example/vecadd.c" helper.o "$example/vecadd.cl=opencl" && tenon inspect --functions several.so | tee out &&
		grep -q twice out && grep -q '2 functions' out || return
	grep -qs '^CONFIG_DSO=y' "$TENON_BUILD/include/config/auto.conf" || return 0
	tenon run several.so --function twice --input 2 && ! tenon run several.so --function twice --input 3 2> out &&
		grep 'not two' out && ! tenon run several.so --function twice --input 2.5 2> out && grep 'no integer' out
}
it "objects and launchers are linked together" several

cp "$example/vecadd.cl" other.spv
sed 's/vecadd_kernel/scale/' "$example/vecadd.cl" > scale.cl
sed 's/vecadd_kernel/scale/' "$example/vecadd.tvm_meta.json" > scale.tvm_meta.json
cp "$example/vecadd.cl" other.cl
cp "$example/vecadd.tvm_meta.json" other.tvm_meta.json

two_targets()
{
	link -o two.so "$example/vecadd.c" "$example/vecadd.cl=opencl@fpga0" other.cl=opencl@fpga1 \
		--target-key fpga0=opencl://first --target-key fpga1=opencl://second && tenon unpack two.so two.d &&
		cat two.d/manifest.json && grep -q fpga0 two.d/manifest.json && grep -q opencl://second two.d/manifest.json &&
		cmp two.d/vecadd.cl "$example/vecadd.cl" && cmp two.d/other.cl other.cl &&
		tenon link -o two.again.so two.d/manifest.json && cmp two.so two.again.so
}
it "two targets of one kind have programs of their own" two_targets

nested()
{
	link -o nested.so "$example/vecadd.c" "$example/vecadd.cl=opencl" scale.cl=opencl --import vecadd.cl:scale.cl &&
		tenon inspect nested.so | tee out && grep -q '^  └─ opencl' out && grep -q '^     └─ opencl' out
}
it "an import is given another place" nested

# a header of SPIR-V, which is all that is read of it here
printf '\003\002\043\007\000\000\001\000\000\000\000\000\001\000\000\000\000\000\000\000' > scale.spv
spirv()
{
	link --abi "$1" -o "spirv.$1.so" one.c scale.spv=vulkan && tenon inspect --functions "spirv.$1.so" | tee out &&
		grep -q 'scale(handle' out && tenon verify "spirv.$1.so" && tenon unpack "spirv.$1.so" "spirv.$1" &&
		[ -e "spirv.$1/scale.vulkan" ] && tenon link -o again.so "spirv.$1/manifest.json" && cmp again.so "spirv.$1.so"
}
echo 'int answer(void); int answer(void) { return 42; }' > one.c
if grep -qs '^CONFIG_DEVICE_VULKAN=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "a SPIR-V program is linked" spirv modern
	it "and for older versions in their form" spirv legacy
fi
it "a program of something else is no SPIR-V" refused 3 'no little-endian SPIR-V program' one.c other.spv=vulkan

quoted()
{
	mkdir -p 'a "b\ c' && cp "$example"/* 'a "b\ c/' && TMPDIR="$PWD/a \"b\\ c" link -o quoted.so 'a "b\ c/vecadd.c' \
		'a "b\ c/vecadd.cl=opencl' && cmp quoted.so modern.so
}
it "folders may have spaces, quotes and backslashes" quoted

# ---- refusals

cp one.c two.c
echo 'int answer(void); __attribute__((weak)) int answer(void) { return 43; }' > weak.c
echo 'int broken(' > broken.c
it "a symbol that two define is refused" refused 3 'one.c and two.c both define answer: make it static' one.c two.c
it "a weak symbol that would be merged is refused by name" refused 3 'one.c and weak.c both define answer, one of them weakly' one.c weak.c
it "unless that is wanted" link -o weak.so one.c weak.c --allow weak
it "what the compiler refuses is refused" refused 5 'broken.c: ' broken.c
it "an unknown kind is refused" refused 4 'no loader for modules of kind "opencil"' one.c scale.cl=opencil
it "unless it is wanted" link -o unknown.so one.c scale.cl=npu --allow unknown
it "an older module cannot hold it" refused 4 'cannot hold an unknown kind' --abi legacy one.c scale.cl=npu --allow unknown
it "a program of another kind is refused" refused 3 'not a program of kind "cuda", whose files end in .ptx' one.c scale.cl=cuda
cp one.c one.payload
it "a payload that is text is refused" refused 3 'not a payload of kind "opencl"' one.c one.payload=opencl
cp scale.cl alone.cl
it "a missing table of kernels is named" refused 3 'alone.tvm_meta.json' one.c alone.cl=opencl
it "kernels of one name for one target are refused" refused 3 'both have a kernel "vecadd_kernel" for "opencl"' \
	one.c "$example/vecadd.cl=opencl" other.cl=opencl
it "a cycle is refused" refused 3 '' one.c "$example/vecadd.cl=opencl" scale.cl=opencl \
	--import vecadd.cl:scale.cl --import scale.cl:vecadd.cl
it "a tree without root is refused" refused 3 'there is no root' "$example/vecadd.cl=opencl" scale.cl=opencl \
	--import vecadd.cl:scale.cl --import scale.cl:vecadd.cl
it "two roots are refused" refused 3 'both imported by nothing' "$example/vecadd.cl=opencl" scale.cl=opencl
it "an import of an unknown file is refused" refused 3 'no file is called "scale"' one.c scale.cl=opencl --import one.c:scale
it "a key that no file has is refused" refused 3 '--target-key dsp: no file has this key' one.c scale.cl=opencl --target-key dsp=opencl:0
it "two files of one name are refused" refused 3 'two files are called vecadd.cl' one.c "$example/vecadd.cl=opencl" \
	elsewhere/vecadd.cl=opencl
it "a missing file is refused" refused 3 'nowhere.cl' one.c nowhere.cl=opencl
it "a file without kind is refused" refused 2 'scale.cl=opencl' one.c scale.cl
it "no output is refused" not link one.c
compiler=$CC
CC=/no/such/compiler
it "a missing compiler is named" refused 4 'set CC' one.c
CC=$compiler

# another machine in the header of an object: byte 18 is the low one, or the high one in big-endian files
other_machine()
{
	$CC -fPIC -c one.c -o foreign.o && printf '\003\000' | dd of=foreign.o bs=1 seek=18 conv=notrunc 2>/dev/null &&
		refused 3 'foreign.o is for x86' weak.c foreign.o
}
it "an object for another machine is refused" other_machine

# ---- taking apart

all_same()
{
	for file in modern.so legacy.so two.so nested.so several.so unknown.so; do
		same "$file" || return
	done
}
it "what was linked here is put together again with the same bytes" all_same

fixtures_same()
{
	for file in tvm-0.8/graph_mlp/graph.so tvm-0.8/relay_vm_mlp/vm.so tvm-0.18/opencl_multi/lib.so \
		tvm-0.18/vulkan_multi/lib.so tvm-0.18/aot_mlp/aot_packed.so tvm-0.18/byoc_dnnl_mlp/graph.so \
		tvm-0.18/dev_opencl_cuda/lib.so tvm-0.18/relax_mlp/vm.so tvm-0.25.0.post1/metal_vecadd/lib.so \
		tvm-0.25.0.post1/tree_children/lib.so tvm-0.27.0.post1/tree_nested/lib.so \
		tvm-0.27.0.post1/opencl_multi/lib.so tvm-0.27.0.post1/host_vecadd/lib.so; do
		same "$fixtures/$file" || return
	done
}
it "so are files that TVM exported" fixtures_same

split()
{
	tenon unpack "$fixtures/tvm-0.18/opencl_vecadd/lib.so" split && cat split/manifest.json && grep '^// Function:' split/*.cl &&
		grep launch_param_tags split/*.tvm_meta.json && tenon inspect split/host.so | tee out && ! grep -q opencl out
}
it "programs are separate files, and the host code has no imports" split

in_place()
{
	exchanged "$1" 's/a\[i\] + b\[i\]/a[i] - b[i]/' && [ "$(wc -c < "$1")" = "$(wc -c < exchanged.so)" ] || return
	! has_opencl || runs exchanged.so -1,0,1,2,3,4,5,6
}
it "a program of the same size takes the place of the old" in_place modern.so
it "and in an older module" in_place legacy.so

shorter()
{
	exchanged "$1" 's/a\[i\] + b\[i\]/a[i]/' && [ "$(wc -c < "$1")" = "$(wc -c < exchanged.so)" ] || return
	! has_opencl || runs exchanged.so 0,1,2,3,4,5,6,7
}
it "so does a shorter one" shorter modern.so

longer()
{
	exchanged "$1" 's/a\[i\] + b\[i\]/a[i] + 10 * b[i]/' && [ "$(wc -c < "$1")" -lt "$(wc -c < exchanged.so)" ] || return
	! has_opencl || runs exchanged.so 10,11,12,13,14,15,16,17
}
it "a longer one gets a segment of its own" longer modern.so
it "and in an older module" longer legacy.so

grow_fixture()
{
	rm -rf grown
	tenon unpack "$fixtures/$1" grown && program=$(echo grown/*.cl) && cp "$program" before &&
		{ cat before; echo '// a longer program'; } > "$program" && tenon link -o grown.so grown/manifest.json &&
		tenon inspect grown.so && tenon unpack grown.so grown.2 && cmp "$program" grown.2/"${program##*/}"
}
it "a file of TVM 0.18 gets a longer program" grow_fixture tvm-0.18/opencl_vecadd/lib.so
it "so does one of TVM 0.27" grow_fixture tvm-0.27.0.post1/opencl_multi/lib.so

wrong_program()
{
	tenon unpack modern.so wrong && echo '{}' > wrong/vecadd.tvm_meta.json
	tenon link -o wrong.so wrong/manifest.json 2> why
	[ $? -eq 3 ] && cat why && grep -q 'wrong/vecadd.tvm_meta.json' why && [ ! -e wrong.so ]
}
it "a table that is none is refused" wrong_program

damaged()
{
	head -c 3000 modern.so > damaged.so
	! tenon unpack damaged.so damaged.d && [ ! -e damaged.d ]
}
it "a damaged file is not taken apart" damaged
# ---- checking

verified()
{
	for file in modern.so legacy.so two.so nested.so exchanged.so "$fixtures"/tvm-0.18/*/graph.so \
		"$fixtures"/tvm-0.27.0.post1/*/lib.so; do
		tenon verify "$file" || return
	done
}
it "what was linked or exported has no fault" verified

# faulty WORDS FILE: verify finds this
faulty()
{
	tenon verify "$2" > found
	[ $? -eq 3 ] && cat found && grep -qF -- "$1" found
}
wrong_bytecode()
{
	tenon unpack "$fixtures/tvm-0.27.0.post1/relax_mlp/vm.so" bytecode || return
	printf '\377\377' | dd of=bytecode/0-relax.VMExecutable.payload bs=1 seek=900 conv=notrunc 2>/dev/null
	tenon link -o bytecode.so bytecode/manifest.json && faulty 'module 0 (relax.VMExecutable): constant' bytecode.so
}
if grep -qs '^CONFIG_RELAX_VM=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "a fault in bytecode is found" wrong_bytecode
fi

no_program()
{
	tenon unpack modern.so program && sed 's/Function: vecadd/Function: other/' program/vecadd.cl > new.cl &&
		cp new.cl program/vecadd.cl && tenon link -o program.so program/manifest.json &&
		faulty 'kernel "vecadd_kernel" is in the table of kernels, but has no program' program.so
}
it "a kernel without a program is found" no_program
it "a damaged file is found" faulty 'it is truncated' damaged.so
it "a file that is none is found" faulty 'not an ELF file' scale.cl

as_json()
{
	tenon verify --json modern.so > json && grep -q '"valid":.*true' json && ! tenon verify --json damaged.so > json &&
		grep -q '"valid":.*false' json && grep -q 'truncated' json
}
it "the answer is JSON where that is wanted" as_json
finish
