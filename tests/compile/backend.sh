#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The networks of the backend tests in onnx's wheel, compiled and run: those that differ or are refused are in a list.
# BACKEND_NODES is how many of the networks of one node are run (40); 2000 runs them all, in ten minutes.

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python

backend()
{
	(unset CC; "$python" tests/compile/backend.py --processor "${processors%% *}" --nodes "${BACKEND_NODES:-40}" "$TENON_COMMAND" tests/compile/backend-differences.txt) > "$scratch/backend" 2>&1
	status=$?
	cat "$scratch/backend"
	return "$status"
}
it "the backend tests of onnx give their outputs, but for those in the list" backend
tail -n 1 "$scratch/backend" | sed 's/^/# /'
finish
