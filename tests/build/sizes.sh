#!/bin/sh
# SPDX-License-Identifier: MIT
#
# No part of the library grows unseen: docs/sizes.tsv has the bytes of each file and option, and is changed with what changes
# them. The bytes depend on the compiler: another one than the table's cannot tell.

. tests/build/tap.sh
. tests/build/inner_make.sh
need gcc size

table=${TENON_SIZES:-docs/sizes.tsv}
growth=2 # per cent
compiler="$(gcc -dumpmachine) $(gcc -dumpfullversion)"
tabled=$(awk -F'\t' '$1 == "compiler" { print $2 }' "$table")
[ "$compiler" = "$tabled" ] || skip "$table is of $tabled; this is $compiler"

folder=$(kept sizes)

# What this machine lacks a library for is left out by defconfig, and its rows are skipped.
builds()
{
	rm -f "$folder/.config"
	inner_make -s O="$folder" CC="${launcher}gcc" defconfig > "$scratch/note" &&
		printf 'CONFIG_%s=m\n' DEVICE_ETHOSU DEVICE_ROCKET TFLITE_EXECUTOR >> "$folder/.config" &&
		inner_make -s O="$folder" CC="${launcher}gcc" olddefconfig &&
		inner_make -s O="$folder" CC="${launcher}gcc" "$folder/libtenon.so" plugins
}

# Compare the rows of the table with this build's: lines of those that grew, that are new and that are gone.
no_row_grew()
{
	CC=gcc sh scripts/size-table objects "$folder" > "$scratch/sizes" || return
	awk -F'\t' -v most=$growth -v table="$table" '
		/^#/ || $1 == "compiler" { next }
		FNR == NR { was[$1 " " $2] = $3; next }
		{ seen[$1 " " $2] = 1 }
		!(($1 " " $2) in was) { print $1 " " $2 " is not in " table; bad = 1; next }
		$3 > was[$1 " " $2] * (1 + most / 100) {
			printf "%s %s has %d bytes, %d in %s: %.1f %% more\n", $1, $2, $3, was[$1 " " $2], table, 100 * ($3 / was[$1 " " $2] - 1)
			bad = 1
		}
		END {
			for (row in was)
				if (!(row in seen)) { print row " is in " table " and not in this build"; bad = 1 }
			if (bad)
				print "If this is meant to be: scripts/size-table objects > docs/sizes.tsv, in the commit that makes it so"
			exit bad
		}' "$table" "$scratch/sizes"
}

it "the library with all its options builds" builds
if grep -q note: "$scratch/note"; then
	skip_case "no part of the library has grown by more than $growth %" "$(grep note: "$scratch/note")"
else
	it "no part of the library has grown by more than $growth %" no_row_grew
fi
finish
