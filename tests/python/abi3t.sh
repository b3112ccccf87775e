#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The extensions for abi3t, which both kinds of Python load: with the headers of CPython 3.15 or later, which TENON_ABI3T_PYTHON names.
# And the names that wheels have for what was built.

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/python/can_run.sh
can_run python3
python=${TENON_ABI3T_PYTHON:-python3.15}
folder=$scratch/build

builds()
{
	copy_build "$folder" && rm -rf "$folder/python" &&
		make_in_copy -s O="$folder" PYTHON="$python" PYTHON_ABI=abi3t testconfig python
}

loads()
{
	PYTHONPATH="$folder/python" "$python" -W error -c '
import tenon, tenon._core
assert tenon._core.__file__.endswith(".abi3t.so"), tenon._core.__file__
assert tenon.tensor([1, 2]).tolist() == [1, 2]'
}

# named FILE PYTHON INTERFACE...: so the wheel of a build with this extension is named
named()
{
	rm -rf "$scratch/named" && mkdir -p "$scratch/named/python/tenon" && touch "$scratch/named/python/tenon/$1" &&
		python3 -c '
import sys
from pathlib import Path
sys.path.insert(0, "packaging/python")
from assemble import tags_of
got, (build, python, *interfaces) = tags_of(Path(sys.argv[1])), sys.argv[1:]
assert got == (python, interfaces), got' "$scratch/named" "$2" "$3" ${4:+"$4"}
}

it "a build for the limited API of 3.12 is for later Pythons with the GIL" named _core.abi3.so cp312 abi3
it "one for abi3t is for both kinds" named _core.abi3t.so cp315 abi3 abi3t
it "one for a free-threaded Python is for it alone" named _core.cpython-313t-x86_64-linux-gnu.so cp313 cp313t
if "$python" -c 'import os, sys, sysconfig
sys.exit(sys.version_info < (3, 15) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null; then
	it "the extensions are built for abi3t" builds
	it "such a Python loads them" loads
else
	skip_case "the extensions are built for abi3t" "no CPython 3.15 with its headers: TENON_ABI3T_PYTHON names one"
fi
finish
