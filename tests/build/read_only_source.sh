#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The source may be read-only: everything that is made goes to O

. tests/build/tap.sh
. tests/build/inner_make.sh

copy_source "$scratch/source"
chmod -R a-w "$scratch/source"

# root may write anywhere, so what counts is that nothing was written
snapshot()
{
	(cd "$scratch/source" && find . -exec ls -ld --time-style=full-iso {} + 2>/dev/null || find .) | sort
}

unchanged()
{
	snapshot | diff "$scratch/before" -
}

snapshot > "$scratch/before"
TENON_SOURCE=$scratch/source
it "it builds and its tests pass" inner_check O="$scratch/out" CFLAGS=-O0 WITHOUT="build fuzz $(spared cts hil mortise nomem npu opencl unit vulkan)" defconfig
it "the configuration can be changed" inner_make O="$scratch/out" allnoconfig olddefconfig savedefconfig
it "the source is unchanged" unchanged
it "mrproper removes all that was made" inner_make O="$scratch/out" mrproper
it "so that nothing is left" not test -e "$scratch/out"
finish
