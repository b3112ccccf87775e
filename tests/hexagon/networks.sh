#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Whole networks that tenon-compile makes for Hexagon, of float32 and of int8: on the board that qemu-hexagon runs they give
# what ONNX Runtime gives on this machine's processor. By night also a network of others': RapidOCR's text direction.

. tests/build/tap.sh
. tests/hexagon/hexagon.sh
. tests/compile/compile.sh

[ -z "${EMULATOR:-}${SAN:-}" ] || skip "the command cannot run what the compiler makes"
needs_python
"$python" tests/hexagon/networks.py "$scratch" || exit 1

# compiled NAME FILE [OPTION]...
compiled()
{
	name=$1 file=$2
	shift 2
	TENON=$TENON_COMMAND compile "$file" -o "$scratch/$name.so" --target hexagon --case "$@"
}

# same NAME RTOL ATOL: on the core
same()
{
	tenon run "$scratch/$1.so" --device mortise://hexagon --input "x=@$scratch/$1.case/input0.npy" \
		--expect "@$scratch/$1.case/output0.npy" --rtol "$2" --atol "$3" > "$scratch/words" 2>&1 ||
		{ cat "$scratch/words"; return 1; }
	grep '^expected: equal' "$scratch/words"
}

names_what_is_missing()
{
	not env HEXAGON_CC=no-such-clang TENON="$TENON_COMMAND" "$python" compile/tenon-compile "$scratch/float32.onnx" \
		-o "$scratch/none.so" --target hexagon > "$scratch/words" 2>&1 && cat "$scratch/words" &&
		grep -q 'no-such-clang is missing' "$scratch/words" &&
		not env TENON=no-such-tenon "$python" compile/tenon-compile "$scratch/float32.onnx" -o "$scratch/none.so" \
			--target hexagon > "$scratch/words" 2>&1 && cat "$scratch/words" && grep -q 'no-such-tenon is missing' "$scratch/words"
}

it "a compiler or a command that is missing is named" names_what_is_missing
it "a network of float32 is compiled" compiled float32 "$scratch/float32.onnx"
it "its outputs are ONNX Runtime's" same float32 1e-4 1e-5
it "a network of int8 is compiled" compiled int8 "$scratch/int8.onnx"
it "its outputs are ONNX Runtime's within a step of their scale" same int8 0 0.1001
if [ -n "${NIGHTLY:-}" ]; then
	direction=$(find "$TENON_BUILD/compile/networks/" -name 'ch_ppocr_mobile_v2.0_cls_infer.onnx' 2>/dev/null | head -n 1)
	if [ -n "$direction" ]; then
		it "RapidOCR's text direction is compiled" compiled direction "$direction" --shape x=1,3,48,192
		it "its outputs are ONNX Runtime's, too" same direction 1e-3 1e-4
	fi
fi
finish
