#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The models of one operator are what the script makes, where the reference kernels are there.

. tests/build/tap.sh
python=${TENON_LITERT_PYTHON:-python3}
"$python" -c 'import ai_edge_litert.interpreter, flatbuffers, numpy' 2>/dev/null ||
	skip "needs Python with ai-edge-litert, flatbuffers and numpy (TENON_LITERT_PYTHON names another one)"

again()
{
	cp tests/tflite/make_operators.py "$scratch/" && "$python" "$scratch/make_operators.py" > "$scratch/said.txt" 2>&1 ||
		{ cat "$scratch/said.txt"; return 1; }
	for file in tests/tflite/data/*.in tests/tflite/data/*.ref; do
		cmp "$file" "$scratch/data/${file##*/}" || return 1
	done
}
it "the reference kernels give the outputs that are here" again

finish
