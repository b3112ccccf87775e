#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The models of one operator are what the script makes, and random ones run as the reference kernels do, where these are
# there.

. tests/build/tap.sh
. tests/ethosu/command.sh
needs_options y ERROR_MESSAGES
needs_options ym TFLITE_EXECUTOR
python=${TENON_LITERT_PYTHON:-${TENON_VENVS:-$TENON_BUILD/interop-venvs}/vela/bin/python}
[ -n "${TENON_LITERT_PYTHON:-}" ] || [ -x "$python" ] || python=python3
"$python" -c 'import ai_edge_litert.interpreter, flatbuffers, numpy' 2>/dev/null ||
	skip "needs Python with ai-edge-litert, flatbuffers and numpy (TENON_LITERT_PYTHON names another one)"

again()
{
	for maker in make_operators make_variables; do
		cp "tests/tflite/$maker.py" "$scratch/" && "$python" "$scratch/$maker.py" > "$scratch/said.txt" 2>&1 ||
			{ cat "$scratch/said.txt"; return 1; }
	done
	for file in tests/tflite/data/*.in tests/tflite/data/*.ref; do
		cmp "$file" "$scratch/data/${file##*/}" || return 1
	done
}
it "the reference kernels give the outputs that are here" again
# shellcheck disable=SC2086
it "the kernels of 300 random operators give the same bytes" "$python" tests/tflite/random_operators.py 0 300 "$scratch" \
	${EMULATOR:-} "$TENON_COMMAND" run

finish
