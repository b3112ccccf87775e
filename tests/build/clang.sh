#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clang builds the tree without a warning, and the tests pass

. tests/build/tap.sh
. tests/build/inner_make.sh
need clang

folder=$(kept clang)
it "clang builds everything and the tests pass" \
	inner_check O="$folder" CC="${launcher}clang" CFLAGS='-O2 -g -Werror' WITHOUT="build $(spared board fuzz hil)" testconfig
finish
