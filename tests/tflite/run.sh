#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon run, tenon bench and tenon inspect of models of TensorFlow Lite that Vela compiled

. tests/build/tap.sh
. tests/ethosu/command.sh
needs_options y ERROR_MESSAGES
needs_options ym TFLITE_EXECUTOR DEVICE_ETHOSU
data=$PWD/tests/ethosu/data own=$PWD/tests/tflite/data
cd "$scratch" || exit 1

# run FILE ARGUMENT...: on the functional model
run()
{
	file=$1
	shift
	tenon run "$file" --device ethosu://sim "$@"
}

pool=$data/u55_avgpool add=$data/u65_add2_cop2 convolution=$data/u65_conv1x1 softmax=$data/u65_softmax_mix mixed=$data/u65_cpu_fallback
it "a pool for U55" run "$pool/vela.tflite" --input "1x9x9x20xint8=@$pool/in0.bin" --expect "1x5x5x20xint8=@$pool/ref0.bin"
it "a convolution" run "$convolution/vela.tflite" --input "x=1x8x8x16xint8=@$convolution/in0.bin" \
	--expect "1x8x8x16xint8=@$convolution/ref0.bin"
it "an addition whose inputs and outputs have regions of their own" run "$add/vela.tflite" \
	--input "b=1x6x6x16xint8=@$add/in1.bin" --input "a=1x6x6x16xint8=@$add/in0.bin" --expect "1x6x6x16xint8=@$add/ref0.bin"
it "a network of 33 operations with softmax" run "$softmax/vela.tflite" --input "1x16x16x3xint8=@$softmax/in0.bin" \
	--expect "1x12xint8=@$softmax/ref0.bin"
whole="--input 1x8x8x8xint8=@$mixed/op0_input0.bin --expect 1x8x8x8xint8=@$mixed/op1_output0.bin
	--expect 1x4x4x8xint8=@$mixed/op1_output1.bin"
# shellcheck disable=SC2086
it "two operators of the NPU with three of the processor between them" run "$mixed/vela.tflite" $whole --repeat 3

# one bit of an output that is expected
differs()
{
	python3 -c 'import sys; b = bytearray(open(sys.argv[1], "rb").read()); b[7] ^= 1; open("other.bin", "wb").write(b)' \
		"$convolution/ref0.bin" &&
		says 1 "largest difference 1 absolute" run "$convolution/vela.tflite" \
			--input "1x8x8x16xint8=@$convolution/in0.bin" --expect 1x8x8x16xint8=@other.bin
}
python3 -c '' 2>/dev/null && it "and an output that differs in one bit is told" differs

profiles()
{
	# shellcheck disable=SC2086
	run "$mixed/vela.tflite" $whole --profile > said.txt && cat said.txt && grep -q '^ethos-u ' said.txt &&
		grep -q '^DEQUANTIZE ' said.txt && grep -q '^QUANTIZE ' said.txt
}
it "--profile lists operators of both" profiles

labels()
{
	for name in a b c d e f g h i j k l; do echo "label-$name"; done > labels.txt
	run "$softmax/vela.tflite" --input "1x16x16x3xint8=@$softmax/in0.bin" --labels labels.txt --top 2 > said.txt &&
		cat said.txt && [ "$(grep -c 'label-' said.txt)" -eq 2 ]
}
it "--labels names the largest outputs" labels
it "tenon bench measures it" says 0 "tflite executor" tenon bench "$mixed/vela.tflite" --device ethosu://sim
lists_graphs()
{
	tenon inspect "$own/variables.tflite" > said.txt && cat said.txt && grep -q '^  graph 1$' said.txt &&
		[ "$(grep -c 'ASSIGN_VARIABLE' said.txt)" -eq 2 ] && grep -q CALL_ONCE said.txt &&
		tenon inspect --json "$own/variables.tflite" > said.json && grep -q called_graphs said.json &&
		says 3 "none of its 8 operators" tenon verify --kind ethos-u "$own/variables.tflite"
}
it "graphs that operators call are listed" lists_graphs
it "a model with a variable runs" tenon run "$own/variables.tflite" --input 1x1xfloat32=5 --expect 1x3xfloat32=7,9,5
it "operators of the processor alone need no device" tenon run "$own/softmax.tflite" --input "16x12xint8=@$own/softmax.in" \
	--expect "16x12xint8=@$own/softmax.ref"
it "--stream runs on frames" sh -c "$EMULATOR '$TENON_COMMAND' run '$own/several.tflite' --stream < '$own/several.in' | cmp - '$own/several.ref'"
it "inspect shows names and quantisation of inputs and outputs" says 0 "int8, scale 0.00390625, zero point -128" \
	tenon inspect "$softmax/vela.tflite"

it "a network for U85 whose weights are copied before they are used" \
	run "$data/u85_residual/vela.tflite" --input "1x24x24x16xint8=@$data/u85_residual/in0.bin" \
	--expect "1x3x3x64xint8=@$data/u85_residual/ref0.bin"
it "a device of one target refuses what was compiled for another" says 4 "compiled for u65-256, and this is a u55-128" \
	tenon run "$convolution/vela.tflite" --device "ethosu://sim?target=u55-128" --input 1x8x8x16xint8=zeros
it "a network for an NPU needs a device" says 4 "vela.tflite: operator 0 (ethos-u) was compiled for an NPU, and no device is given" \
	tenon run "$convolution/vela.tflite" --input 1x8x8x16xint8=zeros
it "an operator that is not here is named, with its number and the file" \
	says 4 "source.tflite: operator 0 (CONV_2D) runs neither on an NPU nor on the processor" \
	run "$softmax/source.tflite" --input 1x16x16x3xint8=zeros
it "an input of another type is refused" says 5 "has dtype uint8, the model takes int8" \
	run "$convolution/vela.tflite" --input 1x8x8x16xuint8=zeros
head -c 1000 "$convolution/vela.tflite" > cut.tflite
it "a part of a file is refused" says 3 "cut.tflite at 0x" run cut.tflite --input 1x8x8x16xint8=zeros

finish
