#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gcc builds the tree without a warning, and no function has more than 16 KiB of stack: threads of musl have 128

. tests/build/tap.sh
. tests/build/inner_make.sh
need gcc

folder=$(kept gcc-warnings)
it "gcc builds everything without a warning" \
	inner_make O="$folder" CC="${launcher}gcc" CFLAGS='-O2 -g -Werror -Wframe-larger-than=16384' testconfig all
finish
