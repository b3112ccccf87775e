# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by the scripts of this folder; python is the one that has TVM.

# needs_python: set python, the one that has TVM and ONNX Runtime, or skip
needs_python()
{
	for python in "$TENON_BUILD/compile/venv/bin/python" "${TENON_VENVS:-$TENON_BUILD/interop-venvs}/0.27/bin/python"; do
		"$python" -c 'import onnx, onnxruntime, tvm' 2>/dev/null && return
	done
	skip "TVM and ONNX Runtime are not installed: tests/compile/prepare installs them"
}

# TVM takes CC for the name of a program, and here it may be several words
compile()
{
	(unset CC; "$python" compile/tenon-compile "$@")
}

refuses()
{
	pattern=$1
	shift
	! compile "$@" > "$scratch/refused" 2>&1 && cat "$scratch/refused" && grep -q -- "$pattern" "$scratch/refused"
}
