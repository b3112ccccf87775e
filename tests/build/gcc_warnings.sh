#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gcc builds the tree without a warning

. tests/build/tap.sh
. tests/build/inner_make.sh
need gcc

folder=$(kept gcc-warnings)
it "gcc builds everything without a warning" \
	inner_make O="$folder" CC="${launcher}gcc" CFLAGS='-O2 -g -Werror' testconfig all
finish
