#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The package for a free-threaded Python with headers, which TENON_FREE_THREADED_PYTHON names; Debian has none: it is built of Debian's
# source of python3.13 by "configure --disable-gil".

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/python/can_run.sh
python=${TENON_FREE_THREADED_PYTHON:-python3.14t}
"$python" -c 'import sys; sys.exit(sys._is_gil_enabled())' 2>/dev/null ||
	skip "no free-threaded Python: TENON_FREE_THREADED_PYTHON names one"
can_run python3
export TENON_SOURCE TENON_BUILD
folder=$scratch/build

builds()
{
	copy_build "$folder" && make_in_copy -s O="$folder" PYTHON="$python" testconfig python
}

cases()
{
	PYTHONPATH="$folder/python" "$python" tests/python/run.py "$@" > "$scratch/tap" && ! grep -q '^not ok' "$scratch/tap" ||
		{ cat "$scratch/tap"; return 1; }
}

it "the package is built" builds
it "the GIL stays off" env PYTHONPATH="$folder/python" "$python" -W error -c '
import sys, tenon, tenon._core
for option, extension in ("LINK", "_link"), ("LLM", "_llm"):
    if option in tenon.configuration():
        __import__(f"tenon.{extension}")
assert not sys._is_gil_enabled()'
it "all cases pass" cases calls sharing tensors models awaiting queues remote linking language processes stub documents
it "a million calls of eight threads leave nothing behind" cases many
finish
