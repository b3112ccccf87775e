#!/bin/sh
# SPDX-License-Identifier: MIT
#
# campaign.sh COUNT SEED [TARGET]…: COUNT mutants of all fixtures, in equal parts through the fuzz targets that
# were built below TENON_BUILD, or through those named. "make fuzz" calls it. FUZZ_FIXTURES names folders
# with more fixtures. Prints what was found and how to run it again; the inputs are kept in tests/fuzz/found
# below TENON_BUILD.

set -u
build=${TENON_BUILD:-build}
count=$1 seed=$2
shift 2
if [ $# -eq 0 ]; then
	set -- "$build"/tests/fuzz/*_fuzz
fi
share=$(((count + $# - 1) / $#))
failed=
for target; do
	target=$(basename "$target" _fuzz)
	# shellcheck disable=SC2086
	"$build/tests/fuzz/${target}_fuzz" --campaign "$seed" "$share" 0 ${FUZZ_FIXTURES:-} ||
		failed="$failed $target"
done
if [ -n "$failed" ]; then
	echo "failures in:$failed" >&2
	exit 1
fi
echo "$((share * $#)) mutants, no failure"
