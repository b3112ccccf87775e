#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Everything on builds, everything off builds, by gcc without a warning. No function has more than 16 KiB of stack: threads of
# musl have 128. The configuration of the tests, with plug-ins, is built at -O2 by clang, and by gcc for armhf, without what reads JSON
# (clang.sh, cross_build.sh).

. tests/build/tap.sh
. tests/build/inner_make.sh
need gcc

for config in allyesconfig allnoconfig; do
	it "$config builds without a warning" inner_make O="$(kept $config)" CC="${launcher}gcc" \
		CFLAGS='-O2 -Werror -Wframe-larger-than=16384' $config all
done
finish
