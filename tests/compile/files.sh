#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Files as exporters write them: old opsets, branches, names of inputs; and files that are no networks

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python

# gives NETWORK NUMBERS OPTION...: with the options of tenon-compile before --, those of tenon run behind it
gives()
{
	network=$1 wanted=$2
	shift 2
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	compile "$scratch/$network.onnx" -o "$scratch/$network.so" $options ${one_processor:+--processor "$one_processor"} &&
		"$TENON_COMMAND" run "$scratch/$network.so" "$@" --expect "$wanted"
}

# without_runtime COMMAND...: where ONNX Runtime is not installed
without_runtime()
{
	echo "raise ImportError" > "$scratch/onnxruntime.py" && (export PYTHONPATH="$scratch"; "$@")
}

# code for all processors uses nothing of the better ones
needs_the_least()
{
	compile "$scratch/clip.onnx" -o "$scratch/levels.so" --processor v2,v3,v4,v4+avx512vnni &&
		"$TENON_COMMAND" verify --cpu "$scratch/levels.so" > "$scratch/needs" &&
		grep 'host code: needs x86-64\(-v2 .*\)\?; .*has x86-64-v3 .*has x86-64-v4 .*has x86-64-v4+avx512vnni ' "$scratch/needs"
}

it "the networks are written" "$python" tests/compile/small_networks.py "$scratch"
for number in 0 1 2 3 4 5 6 7; do
	it "the printed command runs a network with input name $number" printed_command_runs "$scratch/name$number.onnx" "$scratch/name$number.so"
done
it "and one with a scalar" printed_command_runs "$scratch/scalar.onnx" "$scratch/scalar.so"
it "and one without inputs" printed_command_runs "$scratch/constant.onnx" "$scratch/constant.so"
it "x.y and x_y are two inputs" gives alike 1xfloat32=2 -- --input x_y=1xfloat32=1 --input x.y=1xfloat32=3
it "names are kept in model.json, too" grep -q '"x.y"' "$scratch/alike.json"
for opset in 12 13; do
	it "opset $opset folds shapes" gives flatten$opset 1x12xfloat32=arange --shape x=1,3,4 -- --input x=1x3x4xfloat32=arange
done
it "opset 10 folds Clip" gives clip 2x4xfloat32=1,1,2,2,1,1,2,2 -- --input x=2x4xfloat32=zeros
it "opset 9 folds TopK" gives topk 2x4xfloat32=3,2,1,0,3,2,1,0 -- --input x=2x4xfloat32=zeros
it "opset 10 folds Dropout" gives dropout 2x4xfloat32=0,1,2,3,0,1,2,3 -- --input x=2x4xfloat32=zeros
it "statistics of a normalization that are inputs are used" gives given-statistics 2x3x4xfloat32=0,0,0,0,1,1,1,1,2,2,2,2,0,0,0,0,1,1,1,1,2,2,2,2 -- \
	--input x=2x3x4xfloat32=zeros --input s=3xfloat32=2,2,2 --input b=3xfloat32=1,2,3 --input m=3xfloat32=1,1,1 --input v=3xfloat32=4,4,4 --atol 1e-4
it "a shape that is an input is the one that the output has" gives expand-to 2x3x2xfloat32=1,1,2,2,3,3,1,1,2,2,3,3 -- \
	--input x=3x1xfloat32=1,2,3 --input to=3xint64=2,1,2
it "integers of 64 bits stay so" gives wide 2xfloat32=6,-2 -- --input x=2xfloat32=3,-1
it "and so it is with TVM's default schedules" gives infinite 2xfloat32=0,-inf --as-it-is -- --input x=2x2xfloat32=zeros
it "an extent of 1 in Expand leaves that of the input" gives expand 3x2x2xfloat32=5,5,5,5,5,5,5,5,5,5,5,5 -- --input x=2x1xfloat32=5,5
it "the maximum of minus infinities is minus infinity" gives infinite 2xfloat32=0,-inf -- --input x=2x2xfloat32=zeros
it "shifts by all bits and remainders of a division by infinity are those of ONNX" gives edges 9xfloat32=-1,0,-1,0,0,0,inf,4,-1 -- \
	--input x=3xfloat32=-8,4,-1 --input distance=3xfloat32=32,33,-1
it "infinities are told apart" gives signs 6xfloat32=1,0,0,0,1,0 -- --input x=3xfloat32=inf,-inf,1
it "the mode of SpaceToDepth is obeyed" gives depth 1x8x1x1xfloat32=arange -- --input x=1x2x2x2xfloat32=arange
it "integers are as they are where Clip has no bounds" gives unclipped 3xint8=-128,0,127 -- --input x=3xint8=-128,0,127
# largest TYPE VALUES PLACES: of four numbers, backwards
largest()
{
	gives "largest-$1" "2xint64=$3" -- --input order=4xint64=3,2,1,0 --expect "2x$1=$2"
}
it "the largest of numbers in uint64 are found" largest uint64 9223372036854775809,9223372036854775808 1,3
it "and in bfloat16" largest bfloat16 4,3 1,0
it "and in uint16" largest uint16 50000,4 2,1
it "a normalisation over all axes is compiled" gives whole 2x2xfloat32=1,2,3,4 -- --input x=2x2xfloat32=2,2,2,2
for number in 0 1; do
	it "a transposed convolution has the output_shape it names: $number" printed_command_runs "$scratch/transposed$number.onnx" "$scratch/transposed$number.so" --case
done
it "the module has the case, too" "$TENON_COMMAND" run "$scratch/transposed1.so" --self-test
for network in if nested; do
	it "$network: one row takes the first branch" gives $network 1x4xfloat32=-1,0,-3,-4 --shape x=1,4 -- \
		--input x=1x4xfloat32=1,-2,3,4
	it "$network: two rows take the second" gives $network 2x4xfloat32=1,0,3,4,1,1,1,1 --shape x=2,4 -- \
		--input x=2x4xfloat32=1,-2,3,4,1,1,1,1
done
for rate in 1:-1,0 2:1,0; do
	it "both branches are compiled where TVM can, $rate" gives decides "2xfloat32=${rate#*:}" -- --input x=2xfloat32=1,-2 \
		--input "rate=int64=${rate%%:*}"
done
it "a branch that an input decides about asks for the input" refuses "If (output y): .* rate: .*--set rate=NUMBER" "$scratch/decided.onnx" \
	-o "$scratch/none.so"
it "with it the first branch is taken" gives decided 3xfloat32=1,0,0 --set rate=1 -- --input x=2xfloat32=1,-2
it "or the second, and a case has the other inputs" printed_command_runs "$scratch/decided.onnx" "$scratch/decided.so" --set rate=2 --case
it "which is not in the module" not grep -q '"rate"' "$scratch/decided.json"
for wrong in rate=1.5 rate=1,2 rate; do
	it "an input that is set wrongly is refused: $wrong" refuses "--set rate" "$scratch/decided.onnx" -o "$scratch/none.so" --set $wrong
done
it "and so is one that the network lacks" refuses "no such input. Inputs: x, rate" "$scratch/decided.onnx" -o "$scratch/none.so" --set sr=1
for number in 0 1 2 3 4; do
	it "a recurrent operator gives what ONNX Runtime gives: $number" \
		printed_command_runs "$scratch/recurrent$number.onnx" "$scratch/recurrent.so" --shape x=4,2,3 --case --explain
done
it "and has schedules" not grep -q default "$scratch/printed"
it "a form of one that is not computed is refused by name: clip" refuses "LSTM (output y): clip" "$scratch/refused-clip.onnx" \
	-o "$scratch/none.so" --shape x=4,2,3
it "and so is a function" refuses "RNN (output y).*Softsign" "$scratch/refused-function.onnx" -o "$scratch/none.so" --shape x=4,2,3
it "one of too many steps is refused" refuses "RNN (output y): it has 1400 steps" "$scratch/recurrent4.onnx" -o "$scratch/none.so" \
	--shape x=700,2,3
it "operators of one dimension give what ONNX Runtime gives" \
	printed_command_runs "$scratch/one-dimension.onnx" "$scratch/one-dimension.so" --case --explain
it "and have schedules" not grep -q default "$scratch/printed"
it "products of values with each other give what ONNX Runtime gives" \
	printed_command_runs "$scratch/attention.onnx" "$scratch/attention.so" --case --explain
it "and have tiles" grep -q "2 tiled" "$scratch/printed"
it "a product of numbers that are quantized on the way gives what ONNX Runtime gives" \
	printed_command_runs "$scratch/dynamic.onnx" "$scratch/dynamic.so" --case --explain
it "and is computed in integers" grep -q "1 × product-with-computed-zero-point" "$scratch/printed"
if "$TENON_COMMAND" devices 2>/dev/null | grep -q '^opencl:0'; then
	it "convolutions and products give on OpenCL what ONNX Runtime gives" \
		printed_command_runs "$scratch/picture.onnx" "$scratch/picture.so" --target opencl --case --explain
	it "they were left as they are" grep -q "left to TVM's default schedules: --target opencl without --rewrite" "$scratch/printed"
	it "so do they if they are rewritten" \
		printed_command_runs "$scratch/picture.onnx" "$scratch/picture.so" --target opencl --rewrite --case --explain
	it "by rules" grep -q "affine-into-weights" "$scratch/printed"
	it "and have schedules of products" grep -q "^kernels: .* Matmul" "$scratch/printed"
	it "and so do numbers that are quantized on the way" \
		printed_command_runs "$scratch/dynamic.onnx" "$scratch/dynamic.so" --target opencl --case
	it "those that become bytes do if they are rewritten" \
		printed_command_runs "$scratch/steps.onnx" "$scratch/steps.so" --target opencl --rewrite --case
else
	skip_case "convolutions and products give on OpenCL what ONNX Runtime gives" "there is no device of OpenCL"
fi
# whether TVM generates code for a kind of device
generates()
{
	"$python" -c 'import sys, tvm; sys.exit(tvm.get_global_func(f"target.build.{sys.argv[1]}", True) is None)' "$1"
}
if generates cuda; then
	it "they become a module for CUDA" compile "$scratch/picture.onnx" -o "$scratch/cuda.so" --target cuda --rewrite
	it "which is whole" "$TENON_COMMAND" verify "$scratch/cuda.so"
	it "and marked to be recorded" grep -q "vm.builtin.cuda_graph.run_or_capture" "$scratch/cuda.so"
else
	skip_case "they become a module for CUDA" "this TVM has no generator of code for it"
fi
generates vulkan || it "a device that TVM was built without is refused, with a remedy" \
	refuses "--target vulkan: .*take --target opencl" "$scratch/picture.onnx" -o "$scratch/none.so" --target vulkan
it "an input of a case that is missing is named" refuses "none.npy: No such file" "$scratch/if.onnx" -o "$scratch/none.so" \
	--shape x=1,4 --case "x=$scratch/none.npy"
it "and so is one that is no array" refuses "README.md: no array of NumPy" "$scratch/if.onnx" -o "$scratch/none.so" \
	--shape x=1,4 --case x=README.md
it "a Loop that uses a value from outside is unrolled" gives loop 4xfloat32=2,1,6,3 -- --input x=4xfloat32=1,-1,2,-3
it "one whose rounds an input decides about asks for the input" refuses "Loop (output y): .* rounds, .*--set rounds=NUMBER" \
	"$scratch/rounds.onnx" -o "$scratch/none.so"
it "and so does a sum along axes that are an input" refuses "ReduceSum (output y): .* axes, .*--set axes=NUMBER" "$scratch/axes.onnx" \
	-o "$scratch/none.so"
it "with them it is compiled" gives axes 2xfloat32=3,7 --set axes=1 -- --input x=2x2xfloat32=1,2,3,4
it "and so does a shape that TVM imports and does not compile" refuses "ConstantOfShape (output y): .* shape, .*--set shape=NUMBER" \
	"$scratch/filled.onnx" -o "$scratch/none.so"
it "with TVM's reason" refuses "TVM does not compile it: .*Error.*; ConstantOfShape" "$scratch/filled.onnx" -o "$scratch/none.so"
it "an operator that is not known is refused by name, with a remedy" refuses "^tenon-compile: .*det.onnx: Det (output y): .*let the program" \
	"$scratch/det.onnx" -o "$scratch/none.so"
it "a form that is not known is refused by its output, with a remedy" refuses "form.onnx: QuantizeLinear (output y): .*another form" \
	"$scratch/form.onnx" -o "$scratch/none.so"
it "an input without elements is taken" gives nothing 2xfloat32=1,-2 --shape like=0 -- --input x=2xfloat32=1.5,-2.5 --input like=0xint32=zeros
it "its shape is asked for" refuses "input like .*--shape like=" "$scratch/nothing.onnx" -o "$scratch/none.so"
it "mean and deviation of a normalisation are outputs" gives norm 2x1xfloat32=1,3 -- --input x=2x4xfloat32=1,1,1,1,3,3,3,3 \
	--expect 2x4xfloat32=zeros
it "a mask of Dropout is true where nothing is dropped" gives mask 2x4xfloat32=ones -- --input x=2x4xfloat32=arange --expect 2x4xfloat32=arange
for opset in 7 9; do
	it "Upsample of opset $opset takes the element that ONNX takes" gives larger$opset 1x1x2x6xfloat32=1,1,1,2,2,2,1,1,1,2,2,2 -- \
		--input x=1x1x1x2xfloat32=1,2
done
it "sums in float16 are made in float32" gives half 1x1xfloat16=4096 -- --input x=1x4096xfloat16=ones
it "and so it is with TVM's default schedules" gives half 1x1xfloat16=4096 --as-it-is -- --input x=1x4096xfloat16=ones
it "and so are averages" gives half-pool 1x1x1x1xfloat16=1 -- --input x=1x1x64x64xfloat16=ones
for how in "" --as-it-is; do
	it "a normalisation in float16 is computed${how:+ with $how}" gives half-layers 1x1x2x2xfloat16=3,5,7,9 $how -- --input x=1x1x2x2xfloat16=1,2,3,4
done
it "a maximum in float16 gives what ONNX Runtime gives" \
	printed_command_runs "$scratch/half-maximum.onnx" "$scratch/maximum.so" --case --explain
it "and is none of a stack" grep -q "1 × maximum-of-stack" "$scratch/printed"
it "constant bounds of Clip in bfloat16 are taken" gives bounded 3xbfloat16=0,6,5 -- --input x=3xfloat32=-1,7,5
it "and running sums" gives half-running 1xfloat16=4096 -- --input x=4096xfloat16=ones

head -c 1000 "$TENON_COMMAND" > "$scratch/program"
head -c 1000 README.md > "$scratch/text.onnx"
: > "$scratch/empty.onnx"
head -c 60 "$scratch/if.onnx" > "$scratch/cut.onnx"
it "a file that is missing is named" refuses "none.onnx: no such file" "$scratch/none.onnx" -o "$scratch/none.so"
it "a program is no network" refuses "no network" "$scratch/program" -o "$scratch/none.so"
for file in text empty cut; do
	it "a file that is no network says so: $file" refuses "$file.onnx: no network in ONNX" "$scratch/$file.onnx" \
		-o "$scratch/none.so"
done
it "a folder that is missing is named" refuses "is no folder" "$scratch/if.onnx" -o "$scratch/none/model.so"
it "the network is not overwritten" refuses "the network itself" "$scratch/if.onnx" -o "$scratch/if.onnx"
it "labels that are missing are named" refuses "labels: no such file" "$scratch/if.onnx" -o "$scratch/none.so" --labels "$scratch/labels"
it "nothing was written" not ls "$scratch/none.so"
without_tvm()
{
	"$python" -X importtime compile/tenon-compile "$@" > "$scratch/imports" 2>&1
	! grep -q ' tvm$' "$scratch/imports" && grep -q "^tenon-compile: " "$scratch/imports"
}
it "a wrong path is found before TVM is imported" without_tvm "$scratch/none.onnx"
it "and so is a file that is no network" without_tvm "$scratch/text.onnx" -o "$scratch/none.so"
for form in float8:Cast dropout:Dropout statistics:BatchNormalization boxes:NonMaxSuppression regions:RoiAlign; do
	it "what TVM's importer reads wrongly is refused by name: ${form#*:}" \
		refuses "${form#*:}.*reads it wrongly" "$scratch/wrong-${form%:*}.onnx" -o "$scratch/none.so"
done
# refused_output SHAPE: of an output that is float32 of shape 2,3 in the file
refused_output()
{
	PYTHONPATH=compile "$python" -c '
import sys
from types import SimpleNamespace as Type
from tenon_compile.errors import CompileError
from tenon_compile.misread import refuse_other_outputs
try:
    refuse_other_outputs(
        [{"name": "y", "dtype": "float32", "shape": [2, 3]}],
        [Type(dtype="float32", shape=Type(values=[Type(value=int(extent)) for extent in sys.argv[1].split(",")]))])
except CompileError as error:
    sys.exit(0 if "output y" in str(error) else 2)
sys.exit(1)' "$1"
}
it "a case of a type that NumPy lacks is refused" without_runtime refuses "b is bfloat16" "$scratch/brain.onnx" -o "$scratch/none.so" --case
it "and one is kept without ONNX Runtime" \
	without_runtime printed_command_runs "$scratch/clip.onnx" "$scratch/clip.so" --case
it "an output that TVM imports with another shape is refused" refused_output 2,1
it "one with the same shape is not" not refused_output 2,3
printf '\034\0\0\0TFL3\0\0\0\0' > "$scratch/lite.tflite"
it "a file of TensorFlow Lite that is cut off says where" refuses "lite.tflite: at byte 28" "$scratch/lite.tflite" -o "$scratch/none.so"
if [ "$(uname -m)" = x86_64 ] && grep -qs '^CONFIG_LINK=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "code for all processors uses nothing of better ones" needs_the_least
fi
finish
