#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Code generators, and the runtime of oneDNN, are examples that vendors copy: they stay short

. tests/build/tap.sh

# fewer LIMIT FILE...
fewer()
{
	limit=$1
	shift
	lines=$(cat "$@" | wc -l) && echo "$lines lines: $*" && [ "$lines" -gt 50 ] && [ "$lines" -lt "$limit" ]
}
for generator in generate_c generate_example_json generate_mortise; do
	it "$generator has fewer than 300 lines" fewer 300 link/partition/$generator*.[ch]
done
it "the room of oneDNN has fewer than 1500 lines" fewer 1500 runtime/byoc/dnnl/*.[ch]
finish
