#!/bin/sh
# SPDX-License-Identifier: MIT
#
# modelconfig builds, runs a graph in static arrays, and is no larger than it was

. tests/build/tap.sh
. tests/build/inner_make.sh
need size

limit=83968
folder=$(kept modelconfig)

small_enough()
{
	sh tests/bench/tiny-size "$folder" static_memory > "$scratch/sizes" || return
	read -r bytes < "$scratch/sizes"
	echo "$bytes bytes of text and data, at most $limit"
	[ "$bytes" -gt 0 ] && [ "$bytes" -le $limit ]
}

runs_a_graph()
{
	"$folder/examples/static_memory" tests/interop/data/tvm-0.18/graph_mlp/graph.so > "$scratch/out" &&
		cat "$scratch/out" && grep -q '^[0-9.e-]* \.\.\.$' "$scratch/out"
}

it "modelconfig builds without a warning" \
	inner_make O="$folder" CPPFLAGS=-Werror modelconfig all
case $(uname -m) in
x86_64)	it "a program with it runs a graph in static arrays" runs_a_graph ;;
esac
it "it adds at most $limit bytes of text and data to a program" small_enough
awk '{ print "# modelconfig: " $1 " bytes" (NR == 1 ? " more in a program" : " in all objects") }' "$scratch/sizes"
finish
