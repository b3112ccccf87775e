#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Everything on builds, everything off builds, without a warning

. tests/build/tap.sh
. tests/build/inner_make.sh

for config in allyesconfig allnoconfig; do
	it "$config builds without a warning" inner_make O="$(kept $config)" \
		CFLAGS='-O2 -g -Werror' $config all
done
finish
