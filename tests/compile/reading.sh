#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/demo --picture: three networks of RapidOCR, compiled, find and read the text that was drawn on a picture

. tests/build/tap.sh
. tests/compile/compile.sh
prepared=$TENON_BUILD/compile
[ -f "$prepared/networks/rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx" ] ||
	skip "there are no networks: tests/compile/prepare --picture downloads them"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python
"$python" -c 'import PIL' 2>/dev/null || skip "Pillow is missing: tests/compile/prepare --picture installs it"
export TENON="$TENON_COMMAND"

reads()
{
	"$python" examples/picture/read.py "$scratch/modules" "$scratch/picture.png" "$scratch/read.svg" > "$scratch/read" || return
	cat "$scratch/read"
	awk '{ $1 = $2 = $3 = $4 = ""; sub(/^ */, ""); print }' "$scratch/read" | sort > "$scratch/text"
	printf '%s\n' 'Mind the gap' 'Open 8:30 - 17:45' 'PLATFORM 9' 'Tickets here' | sort | diff - "$scratch/text"
}

no_picture()
{
	! "$python" examples/picture/read.py "$scratch/modules" README.md > "$scratch/answer" 2>&1 && cat "$scratch/answer" &&
		grep -q '^read.py: README.md: no picture' "$scratch/answer"
}

it "the networks are compiled" env -u CC "$python" examples/picture/compile.py "$prepared/networks" "$scratch/modules"
it "the picture is drawn" "$python" examples/picture/photograph.py "$scratch/picture.png"
it "all signs are read, the one that is upside down too" reads
it "they are in the drawing" grep -q '>Mind the gap</text>' "$scratch/read.svg"
it "a file that is no picture is named" no_picture
finish
