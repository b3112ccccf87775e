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

has()
{
	for option in "$@"; do
		grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || return
	done
}

# ---- linking

links()
{
	link --abi "$1" -o "$1.so" "$example/vecadd.c" "$example/vecadd.cl=opencl" && tenon inspect --functions "$1.so" > "$1.txt" &&
		cat "$1.txt" && grep -q 'vecadd_kernel(handle, handle, handle, int32)' "$1.txt" && grep -q "TVM $2" "$1.txt"
}
it "a launcher and a kernel become a module of TVM 0.22 and later" links modern 0.26
it "and one of TVM 0.8 to 0.19" links legacy 0.8

# CUDA C is what TVM stores: format "cuda", the table, the source
links_cuda_source()
{
	mkdir -p source && sed 's/opencl/cuda/' "$example/vecadd.c" > source/vecadd.c &&
		printf 'extern "C" __global__ void vecadd_kernel(float *sum, const float *a, const float *b, int n)\n{\n}\n' \
			> source/vecadd.cu && cp "$example/vecadd.tvm_meta.json" source/ &&
		for abi in modern legacy; do
			link --abi $abi -o cuda.so source/vecadd.c source/vecadd.cu=cuda && tenon inspect --functions cuda.so > cuda.txt &&
				grep -q 'vecadd_kernel(handle, handle, handle, int32)' cuda.txt && tenon verify cuda.so &&
				rm -rf cuda.d && tenon unpack cuda.so cuda.d && cmp cuda.d/*.cuda source/vecadd.cu &&
				tenon link -o again.so cuda.d/manifest.json && cmp cuda.so again.so || return
		done
	tenon inspect cuda.so | grep -q 'cuda source'
}
it "CUDA C source becomes a module, and comes out again" links_cuda_source

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

# docs/modules.md describes the module of examples/link: its graph and, byte by byte, its import tree
link -o vecadd.so "$example/vecadd.c" "$example/vecadd.cl=opencl"
drawn()
{
	tenon inspect --dot vecadd.so | sed 's/ at 0x[0-9a-f]*/ at …/' > found.dot &&
		sed -n '/^```dot$/,/^```$/{ /^```/d; s/ at 0x[0-9a-f]*/ at …/; p; }' "$modules" > said.dot && diff said.dot found.dot
}
# Its lines are numbers, and what a string is or a remark: a pattern of all bytes, with the first words as a choice.
bytes_said()
{
	sed -n '/^Its blob:$/,/^  …/{ /^ *[0-9a-f][0-9a-f] /p; }' "$modules" | while read -r line; do
		for word in $line; do
			case $word in
			[0-9a-f][0-9a-f]) printf %s "$word" ;;
			*)
				printf '(%s)?' "$(printf %s "$word" | od -An -v -tx1 | tr -d ' \n')"
				break
				;;
			esac
		done
	done
}
described()
{
	bytes_said > said.bytes && [ "$(wc -c < said.bytes)" -gt 400 ] && od -An -v -tx1 vecadd.so | tr -d ' \n' > found.bytes &&
		grep -Eqf said.bytes found.bytes || { cat said.bytes; echo; return 1; }
}
# without OpenCL the picture says so by a dashed outline
if grep -qs '^CONFIG_DEVICE_OPENCL=' "$TENON_BUILD/include/config/auto.conf"; then
	it "docs/modules.md has the graph of the example" drawn
fi
it "docs/modules.md has the bytes of the example's import tree" described

small_core()
{
	$CC -fPIE -no-pie -fno-stack-protector -std=c11 -Os -ffreestanding -fvisibility=hidden -fno-common -ffunction-sections \
		-fno-asynchronous-unwind-tables -I "$headers" -nostdlib -static -Wl,--emit-relocs -Wl,-e,0 -Wl,--gc-sections \
		-Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,norelro -T "$headers/../firmware/kernels/kernel.ld" \
		-o vector_add.mortise "$headers/../firmware/kernels/vector_add.c" &&
		link -o small.so "$example/vecadd_mortise.c" vector_add.mortise=mortise &&
		tenon run small.so --function vecadd --device mortise://sim --input 8xint32=arange --input 8xint32=ones \
			--output 8xint32 --expect 8xint32=1,2,3,4,5,6,7,8
}
if [ -z "${EMULATOR:-}${SAN:-}" ] && grep -qs '^CONFIG_DEVICE_MORTISE=[ym]' "$TENON_BUILD/include/config/auto.conf" &&
	grep -qs '^CONFIG_DSO=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "a launcher and a function for a small core become a module that runs" small_core
	# byte 18 is the machine of an ELF file: 8 is MIPS
	of_other_core()
	{
		cp vector_add.mortise mips.mortise && printf '\010\000' | dd of=mips.mortise bs=1 seek=18 conv=notrunc 2>/dev/null &&
			refused 4 "machine 8 of" "$example/vecadd_mortise.c" mips.mortise=mortise
	}
	it "a function for a core that no firmware is for is refused" of_other_core
fi

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

# array NAME COUNT BYTES: a file of floats as numpy writes it
array()
{
	printf "\\223NUMPY\\001\\000\\067\\000{'descr': '<f4', 'fortran_order': False, 'shape': (%d,)}" "$2" > "$1.npy"
	# shellcheck disable=SC2059 # bytes
	printf "$3" >> "$1.npy"
}
parameters()
{
	array weight 3 '\000\000\200\077\000\000\040\101\000\000\310\102' && array bias 1 '\000\000\000\077' &&
		tenon params from-npy --align 1 weight.npy bias.npy scale.params && link -o scale.so "$example/scale.c" --params scale.params &&
		tenon inspect scale.so | tee out && grep 'const_loader .* 2 parameters' out && tenon verify scale.so && same scale.so || return
	grep -qs '^CONFIG_DSO=y' "$TENON_BUILD/include/config/auto.conf" || return 0
	tenon run scale.so --function scale --input 3xfloat32=arange --output 3xfloat32 --expect 3xfloat32=0.5,10.5,200.5
}
other_parameters()
{
	tenon params from-npy weight.npy other.params && refused 3 'launcher scale wants the parameter "bias", which other.params does not have' \
		"$example/scale.c" --params other.params && refused 3 'launcher scale wants parameters: give their file with --params' "$example/scale.c"
}
older_parameters()
{
	link --abi legacy -o older.so "$example/vecadd.c" --params scale.params && tenon inspect older.so | tee out &&
		grep 'metadata .* 2 parameters' out && same older.so
}
if has METADATA PARAMS_FILES; then
	it "parameters without a graph are passed to the launcher that names them" parameters
	it "one that is missing is refused, and so are no parameters at all" other_parameters
	it "an older module has them for its program" older_parameters
fi

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

# ---- large import trees

large large a

# links_large ABI OUTPUT: no byte of the program is lost, and none of the host's code
links_large()
{
	link --abi "$1" -o "$2" "$example/vecadd.c" large.cl=opencl && tenon verify "$2" && same "$2" && cmp same.d/large.cl large.cl &&
		tenon inspect --functions "$2" | grep 'vecadd_kernel(handle, handle, handle, int32)'
}
it "a large program is linked" links_large modern large.so
it "and into an older module" links_large legacy large_legacy.so
if has_opencl; then
	it "the module with a large program runs" runs large.so 1,2,3,4,5,6,7,8
	it "so does the older one" runs large_legacy.so 1,2,3,4,5,6,7,8
fi

large_alike()
{
	mkdir -p elsewhere/large && TMPDIR=$PWD/elsewhere/large link -o again.so large.cl=opencl "$example/vecadd.c" &&
		cmp large.so again.so && [ -z "$(ls elsewhere/large)" ]
}
it "linking it again gives the same bytes, and nothing is left behind" large_alike

# survives FILE PROGRAM PATH COMMAND...: the command makes stripped.so of the file, which still has the program, its file in the folder
survives()
{
	file=$1 program=$2 want=$3
	shift 3
	rm -rf stripped.so stripped.d
	"$@" "$file" && tenon verify stripped.so && tenon unpack stripped.so stripped.d && cmp "stripped.d/$program" "$want"
}
# for what the compiler of this build makes; those of other machines have names with the machine
strippers=
if [ "$CC" = "${CC#*-linux-}" ]; then
	command -v patchelf > /dev/null && strippers='patchelf --set-soname a.so --output stripped.so'
	command -v eu-strip > /dev/null && strippers="$strippers
eu-strip -o stripped.so"
	# the last, because strip damages what patchelf wrote
	command -v strip > /dev/null && strippers="$strippers
strip -o stripped.so"
fi
# each_survives FILE PROGRAM PATH
each_survives()
{
	echo "$strippers" | while read -r stripper; do
		[ -z "$stripper" ] || survives "$1" "$2" "$3" $stripper || return
	done
}
[ -n "$strippers" ] || echo "# no strip for what $CC makes"
it "it can be stripped" each_survives large.so large.cl large.cl

# Linkers compute a build ID without the program.
other_build_id()
{
	mkdir -p other.large && large other.large/large b && link -o other.so "$example/vecadd.c" other.large/large.cl=opencl &&
		readelf -n large.so > id && readelf -n other.so > id.other && cat id id.other && ! cmp -s id id.other
}
if command -v readelf > /dev/null && readelf -n large.so | grep -q 'Build ID'; then
	it "another program of its size gives another build ID" other_build_id
fi

# the program is put into what any linker makes
by_linker()
{
	LDFLAGS=-fuse-ld=$1 links_large modern "$1.so"
}
for linker in gold lld; do
	if $CC -shared -fPIC -fuse-ld=$linker -o has_linker.so one.c 2> /dev/null; then
		it "a large program is linked by $linker" by_linker $linker
	fi
done

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
it "a cycle is refused" refused 3 '--import scale.cl:vecadd.cl: vecadd.cl imports scale.cl already' one.c "$example/vecadd.cl=opencl" scale.cl=opencl \
	--import vecadd.cl:scale.cl --import scale.cl:vecadd.cl
it "a cycle through the code of the host is refused" refused 3 '--import one.c:vecadd.cl: vecadd.cl imports one.c already' one.c \
	"$example/vecadd.cl=opencl" --import vecadd.cl:_lib --import one.c:vecadd.cl
it "a missing source is named" refused 3 'nowhere.c: No such file' one.c nowhere.c
# 2 to the power of 40 ways from the first to the last
diamonds()
{
	set --
	for i in $(seq 1 40); do
		cp scale.cl "a$i.npu" && cp scale.cl "b$i.npu" && cp scale.cl "c$i.npu" || return
		set -- "$@" "a$i.npu=npu" "b$i.npu=npu" "c$i.npu=npu" --import "a$i.npu:b$i.npu" --import "a$i.npu:c$i.npu"
		[ "$i" -eq 40 ] || set -- "$@" --import "b$i.npu:a$((i + 1)).npu" --import "c$i.npu:a$((i + 1)).npu"
	done
	refused 4 'is imported in more than' one.c --allow unknown "$@" && rm -f [abc][1-9]*.npu
}
it "modules with too many ways between them are refused, and soon" diamonds
it "two roots are refused" refused 3 '"scale.cl" and "vecadd.cl" are both imported by nothing' "$example/vecadd.cl=opencl" scale.cl=opencl
it "an import of an unknown file is refused" refused 3 'no file is called "scale"' one.c scale.cl=opencl --import one.c:scale
it "a key that no file has is refused" refused 3 '--target-key dsp: no file has this key' one.c scale.cl=opencl --target-key dsp=opencl:0
it "two files of one name are refused" refused 3 'two files are called vecadd.cl' one.c "$example/vecadd.cl=opencl" \
	elsewhere/vecadd.cl=opencl
it "a missing file is refused" refused 3 'nowhere.cl' one.c nowhere.cl=opencl
it "a file without kind is refused" refused 2 'scale.cl=opencl' one.c scale.cl
it "no output is refused" not link one.c

# kept FILE WORDS COMMAND...: the command is refused with these words, and the file keeps its bytes
kept()
{
	file=$1 words=$2
	shift 2
	cp "$file" kept.copy
	"$@" 2> why && return 1
	cat why
	grep -qF -- "$words" why && cmp "$file" kept.copy
}
inputs_kept()
{
	cp one.c kept.c && cp scale.cl kept.cl && cp scale.tvm_meta.json kept.tvm_meta.json && ln -sf kept.cl kept.so &&
		link -o kept.module kept.c kept.cl=opencl && rm -rf kept.d && tenon unpack kept.module kept.d || return
	words='the output would replace this input'
	kept kept.c "$words" link -o kept.c kept.c && kept kept.cl "$words" link -o kept.so kept.c kept.cl=opencl &&
		kept kept.tvm_meta.json "$words" link -o kept.tvm_meta.json kept.c kept.cl=opencl &&
		for file in host.so kept.cl kept.tvm_meta.json manifest.json; do
			kept kept.d/$file "$words" tenon link -o kept.d/$file kept.d/manifest.json || return
		done
}
it "an output that is an input is refused, and the input keeps its bytes" inputs_kept
module_kept()
{
	rm -rf kept.d && mkdir kept.d && cp kept.module kept.d/host.so && kept kept.d/host.so 'the output would replace this file' tenon unpack kept.d/host.so kept.d
}
it "a module is not unpacked over itself" module_kept
it "an archive with other files is refused" refused 2 'an archive is linked alone' one.c other.tar
it "so is a manifest" refused 2 'a manifest is linked alone' one.c kept.d/manifest.json
it "a shared object for the host is refused" refused 2 'is linked already' kept.d/host.so
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

of_manifest()
{
	rm -rf manifest.d && tenon unpack modern.so manifest.d && tenon inspect manifest.d/manifest.json | tee out &&
		grep -q '^manifest.d/manifest.json  *ELF' out && grep -q 'opencl  *cl source' out &&
		tenon inspect --show vecadd.cl manifest.d/manifest.json | grep -q '__kernel void vecadd_kernel' &&
		set -- "${TMPDIR:-/tmp}"/tenon-link-* && [ ! -e "$1" ] && rm manifest.d/vecadd.cl || return
	tenon inspect manifest.d/manifest.json 2> why
	[ $? -eq 3 ] && cat why && grep -q 'manifest.d/vecadd.cl' why && set -- "${TMPDIR:-/tmp}"/tenon-link-* && [ ! -e "$1" ]
}
it "what was taken apart is inspected by its manifest" of_manifest
runs_manifest()
{
	tenon unpack legacy.so run.d && runs run.d/manifest.json 1,2,3,4,5,6,7,8 && sed 's/a\[i\] + b\[i\]/a[i] - b[i]/' run.d/vecadd.cl > new.cl &&
		cp new.cl run.d/vecadd.cl && runs run.d/manifest.json -1,0,1,2,3,4,5,6
}
if has_opencl; then
	it "and runs, also with another program" runs_manifest
fi

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

# Segments that an exchange adds are written anew by strip: a second exchange extends the first one's.
stripped_longer()
{
	exchanged "$1" 's/a\[i\] + b\[i\]/a[i] + 10 * b[i]/' && cp exchanged.so longer.so && cp exchanged.d/vecadd.cl longer.cl &&
		each_survives longer.so vecadd.cl longer.cl && exchanged longer.so 's/10 \* b\[i\]/100 * b[i]/' &&
		cp exchanged.so longest.so && cp exchanged.d/vecadd.cl longer.cl && each_survives longest.so vecadd.cl longer.cl || return
	if [ -e stripped.so ]; then
		# what was stripped takes another program, and can be stripped again
		exchanged stripped.so 's/100 \* b\[i\]/1000 * b[i]/' && cp exchanged.so longest.so && cp exchanged.d/vecadd.cl longer.cl &&
			each_survives longest.so vecadd.cl longer.cl || return
	fi
	! has_opencl || runs longest.so 1000,1001,1002,1003,1004,1005,1006,1007
}
it "a module with a longer program can be stripped, and get another one" stripped_longer modern.so
it "so can an older module" stripped_longer legacy.so
without_build_id()
{
	LDFLAGS=-Wl,--build-id=none link -o without.so "$example/vecadd.c" "$example/vecadd.cl=opencl" && stripped_longer without.so
}
it "also one that the linker gave no build ID" without_build_id

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
tail_lost()
{
	head -c $(($(wc -c < modern.so) - 100)) modern.so > tail.so && faulty 'section headers lie outside the file' tail.so
}
it "so is one that lost only its last bytes, and could be loaded" tail_lost
it "a file that is none is found" faulty 'not an ELF file' scale.cl

# another FILE: a byte of the program becomes another, in a copy of the file
another()
{
	at=$(grep -abo 'a\[i\] + b\[i\]' "$1" | head -1 | cut -d: -f1) && cp "$1" another.so && chmod u+w another.so &&
		printf 'A' | dd of=another.so bs=1 seek="$at" conv=notrunc 2>/dev/null
}
hashed()
{
	sum=$(sha256sum < "$2") && tenon inspect --json "$1" > json && cat json && grep -A3 payload_hashes json | grep -q "${sum%% *}"
}
loads()
{
	tenon run --verify "$1" --function no_such_function 2> why
	cat why
	grep -q 'no_such_function' why && ! grep -q 'SHA-256\|hashes' why
}
# no_load WORDS FILE
no_load()
{
	tenon run --verify "$2" --function no_such_function 2> why
	[ $? -eq 3 ] && cat why && grep -qF -- "$1" why
}
hashes_found()
{
	another "$1" && faulty 'the payload of module 1 (opencl)' another.so &&
		tenon unpack another.so another.d && tenon link -o another.2.so another.d/manifest.json && tenon verify another.2.so &&
		tenon verify another.d/host.so
}
hash_said()
{
	link -o hashed.so one.c scale.cl=npu --allow unknown && hashed hashed.so scale.cl
}
if command -v sha256sum > /dev/null; then
	it "the hash of a payload is that of its bytes" hash_said
fi
it "another byte in a program is found" hashes_found modern.so
it "and in an older module" hashes_found legacy.so
# a function may be one of a payload that nothing here can read
loader_named()
{
	link -o npu.so one.c scale.cl=npu --allow unknown && ! tenon run npu.so --function no_such_function 2> why
	cat why
	grep -qF 'No loader for "npu"' why
}
if has ERROR_MESSAGES DSO; then
	it "a function that is missing with the loader of its payload names the loader" loader_named
fi
if has INSPECT DSO; then
	it "a module that is whole is loaded" loads modern.so
	it "one with another program is loaded too" loads exchanged.so
	it "one with another byte is not" no_load 'the payload of module 1 (opencl)' another.so
	it "one of TVM has no hashes" no_load 'has no hashes of payloads' "$fixtures/tvm-0.27.0.post1/opencl_multi/lib.so"
fi

# ---- showing

shows()
{
	tenon inspect --show "$2" "$1" > shown && head -20 shown && grep -qF -- "$3" shown
}
it "a program is shown by its name" shows modern.so vecadd.cl '__kernel void vecadd_kernel'
it "and by the number of its module" shows legacy.so 1 '__kernel void vecadd_kernel'
it "a graph is shown indented" shows "$fixtures/tvm-0.18/graph_mlp/graph.so" 0 '	"nodes":'
if grep -qs '^CONFIG_DEVICE_CUDA=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "PTX is shown as it is" shows "$fixtures/tvm-0.18/cuda_ptx/vecadd.so" 1 '.address_size 64'
fi
if command -v spirv-dis > /dev/null && grep -qs '^CONFIG_DEVICE_VULKAN=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "SPIR-V is disassembled" shows "$fixtures/tvm-0.18/vulkan_multi/lib.so" 1 'OpEntryPoint'
fi
cp one.c bytes.npu && printf 'a\033\001b' >> bytes.npu
show_bytes()
{
	link -o bytes.so one.c bytes.npu=npu --allow unknown && shows bytes.so bytes.npu ' 69 6e 74 20' && ! grep "$(printf '\033')" shown
}
it "bytes of an unknown kind are shown as numbers" show_bytes
show_elf()
{
	$CC -fPIC -c one.c -o shown.o && cp shown.o shown.npu && link -o shown.so one.c shown.npu=npu --allow unknown &&
		shows shown.so shown.npu 'function  global    answer'
}
it "of an ELF file the symbols are listed" show_elf
# stand-ins for objdump and spirv-dis that print what a program could contain
tools_escaped()
{
	mkdir -p fake && printf '#!/bin/sh\ncat > /dev/null\nprintf "a\\033]0;b\\007\\tc\\n"\nprintf "\\033c" >&2\n' > fake/objdump &&
		cp fake/objdump fake/spirv-dis && chmod +x fake/* && printf '\003\002\043\007\000\000\000\000' > words.npu &&
		link -o words.so one.c words.npu=npu shown.npu=npu --allow unknown || return
	for name in words.npu shown.npu; do
		PATH=$PWD/fake:$PATH tenon inspect --show $name words.so > shown 2>&1 && cat -v shown && grep -q "a?]0;b?	c" shown &&
			! grep -q "$(printf '\033')" shown || return
	done
}
it "what other programs say of it cannot control a terminal" tools_escaped
if command -v objdump > /dev/null && objdump -d shown.o > /dev/null 2>&1; then
	it "its code is disassembled" shows shown.so shown.npu '<answer>:'
fi
stream()
{
	tenon partition --for mortise -o stream.d "$graphs/int.json" && cp stream.d/stream.cmdstream . &&
		link --abi "$1" -o "stream.$1.so" one.c stream.cmdstream=cmdstream && tenon verify "stream.$1.so" &&
		shows "stream.$1.so" stream.cmdstream 'gemm       m 4  n 8  k 16  to region 6' && grep -q '^region 0: input, 64 bytes' shown &&
		same "stream.$1.so" && cmp same.d/stream.cmdstream stream.cmdstream
}
if has LINK CMDSTREAM DEVICE_MORTISE; then
	it "a command stream is linked, taken out again, and shown as packets" stream modern
	it "also in a module for older versions" stream legacy
fi
# the header of a bitstream: part, loader, region, firmware; and four bytes
bitstream()
{
	{
		printf 'TBTS\001\000\000\000\004\000\000\000\000\000\000\000' && head -c 16 /dev/zero && printf 'xc7z020' &&
			head -c 57 /dev/zero && printf 'fpga_manager' && head -c 20 /dev/zero && printf 'region0' &&
			head -c 25 /dev/zero && printf 'npu.bin' && head -c 121 /dev/zero && printf 'data'
	} > npu.bitstream
	tenon inspect npu.bitstream | tee out && grep -q '"xc7z020"' out && link -o logic.so one.c npu.bitstream=bitstream &&
		tenon inspect --json logic.so | tee out && grep -q '"fpga_manager"' out && tenon verify logic.so && same logic.so &&
		cmp same.d/npu.bitstream npu.bitstream
}
if has KERNEL_CACHE; then
	it "a bitstream is inspected and linked without a backend" bitstream
fi
no_such()
{
	tenon inspect --show other.cl modern.so 2> why
	[ $? -ne 0 ] && cat why && grep -q 'programs: vecadd.cl' why
}
it "a program that is not there is refused, and the others are named" no_such

as_json()
{
	tenon verify --json modern.so > json && grep -q '"valid":.*true' json && ! tenon verify --json damaged.so > json &&
		grep -q '"valid":.*false' json && grep -q 'truncated' json
}
it "the answer is JSON where that is wanted" as_json
finish
