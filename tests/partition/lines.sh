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
# products of 8-bit integers are a part of their own, which a vendor may leave out
it "the room of oneDNN has fewer than 1500 lines" fewer 1500 $(ls runtime/byoc/dnnl/*.[ch] | grep -v dnnl_integers)
it "its products of 8-bit integers have fewer than 300 lines" fewer 300 runtime/byoc/dnnl/dnnl_integers.[ch]
finish
