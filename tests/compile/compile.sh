# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by the scripts of this folder; python is the one that has TVM.

# TVM takes CC for the name of a program, and here it may be several words
compile()
{
	(unset CC; "$python" examples/compile/compile.py "$@")
}

refuses()
{
	pattern=$1
	shift
	! compile "$@" > "$scratch/refused" 2>&1 && cat "$scratch/refused" && grep -q -- "$pattern" "$scratch/refused"
}
