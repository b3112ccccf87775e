#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs of one kind for two devices, told apart by target keys: two devices of PoCL

. tests/link/link.sh
for option in DEVICES DSO; do
	grep -qs "^CONFIG_$option=y" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
export POCL_DEVICES='basic pthread'
[ "$(tenon devices 2>/dev/null | grep -c '^opencl:[01]')" -eq 2 ] || skip "needs PoCL, which can show two devices"

cp "$example/vecadd.cl" plus.cl
cp "$example/vecadd.tvm_meta.json" plus.tvm_meta.json
sed 's/a\[i\] + b\[i\]/a[i] - b[i]/' plus.cl > minus.cl
cp plus.tvm_meta.json minus.tvm_meta.json

# result NUMBERS OPTION...: vecadd of 0 to 3 and ones gives these
result()
{
	want=$1
	shift
	tenon run "$@" --function vecadd --input 4xfloat32=arange --input 4xfloat32=ones --output 4xfloat32 \
		--expect "4xfloat32=$want"
}
plus=1,2,3,4
minus=-1,0,1,2

links()
{
	for name in one two three four; do
		echo "int $name(void); int $name(void) { return 0; }" > $name.c
	done
	link -o kept.so "$example/vecadd.c" one.c two.c three.c four.c plus.cl=opencl@east minus.cl=opencl@west --target-key east=opencl:0 \
		--target-key west=opencl:1 && link -o bare.so "$example/vecadd.c" plus.cl=opencl@east minus.cl=opencl@west
}
it "two programs with kernels of one name are linked" links

kept()
{
	result $plus kept.so --device opencl:0 && result $minus kept.so --device opencl:1
}
it "the current device tells which of them is called" kept

at_once()
{
	"$TENON_BUILD/examples/two_devices" kept.so opencl:0 opencl:1 | tee out && grep -qx 'device 0: 1 2 ... 1024' out &&
		grep -qx 'device 1: -1 0 ... 1022' out
}
if [ -x "$TENON_BUILD/examples/two_devices" ]; then
	it "a program of the host uses both at once" at_once
fi

chosen()
{
	result $minus kept.so --device opencl:0 --target-key east=opencl:1 --target-key west=opencl:0 &&
		result $plus kept.so --device opencl:1 --target-key east=opencl:1 --target-key west=opencl:0 &&
		result $minus bare.so --device opencl:0 --target-key west=opencl:0 --target-key east=opencl:1
}
it "other devices are given at load" chosen

first()
{
	result $minus bare.so --device opencl:1 && result $minus bare.so --device opencl:0
}
it "without devices it is the first of the import tree" first

named()
{
	sed 's/"vecadd_kernel"/"west:vecadd_kernel"/' "$example/vecadd.c" > west.c
	link -o named.so west.c plus.cl=opencl@east minus.cl=opencl@west && result $minus named.so --device opencl:0
}
it "a launcher names the key" named

# fails STATUS WORDS OPTION...
fails()
{
	status=$1 words=$2
	shift 2
	result $plus "$@" 2> why
	got=$?
	cat why
	[ $got -ne 0 ] && { [ $got -eq "$status" ] || [ "$status" = any ]; } && grep -qF -- "$words" why
}
it "a key that no program has is refused" fails 3 'no program has the target key "south"' kept.so --device opencl:0 \
	--target-key south=opencl:0
it "a key without a device is refused" fails 2 'want KEY=URI' kept.so --target-key south
it "a device that is missing is named with its key" fails any 'target key "east"' kept.so --device opencl:0 --target-key east=opencl:7
it "a file without keys takes none" fails 3 'names no target keys' "$fixtures/tvm-0.18/opencl_vecadd/lib.so" --device opencl:0 \
	--target-key east=opencl:0

unpacked()
{
	tenon unpack kept.so kept.d && tenon link -o again.so kept.d/manifest.json && result $minus again.so --device opencl:1
}
it "keys survive unpack and link" unpacked
finish
