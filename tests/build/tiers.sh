#!/bin/sh
# SPDX-License-Identifier: MIT
#
# No suite is left out by mistake: what each tier of the tests runs

. tests/build/tap.sh
. tests/build/inner_make.sh

# suites ARGUMENT...: that make check would run, by their paths below tests/
suites()
{
	inner_make -n O="$TENON_BUILD" "$@" check | tr ' ' '\n' > "$scratch/words" &&
		sed -n '/run-tests$/,$s|^\(.*/\)*tests/\([a-z]*/[a-z_0-9]*\)\(\.sh\)*$|\2|p' "$scratch/words" | sort -u
}

# has_all FILE-OF-SOME FILE-OF-MORE: each line of the first is in the second
has_all()
{
	[ -s "$1" ] || { echo "$1 is empty"; return 1; }
	sort -u "$1" | comm -23 - "$2" > "$scratch/missing"
	cat "$scratch/missing"
	[ ! -s "$scratch/missing" ]
}

suites > "$scratch/quick"
suites LONG=1 > "$scratch/long"
suites FULL=1 > "$scratch/full"
suites FULL=1 ONLY=threads > "$scratch/threads"
suites FULL=1 WITHOUT=unit > "$scratch/without"

grep -l '^#!/bin/sh$' tests/*/*.sh | sed 's,^tests/,,; s,\.sh$,,' > "$scratch/scripts"
ls tests/unit/*_test.c | sed 's,^tests/,,; s,\.c$,,' > "$scratch/unit"
grep -l pthread_create tests/*/*_test.c | sed 's,^tests/,,; s,\.c$,,' > "$scratch/starts-threads"

it "make check runs all suites of tests/unit" has_all "$scratch/unit" "$scratch/quick"
it "LONG=1 adds to them" has_all "$scratch/quick" "$scratch/long"
it "FULL=1 adds to these" has_all "$scratch/long" "$scratch/full"
it "every script that is a suite is in the full tier" has_all "$scratch/scripts" "$scratch/full"
it "sanitizers are in the tier of scripts/check" grep -q '^build/sanitizers_address$' "$scratch/long"
it "and not in that of make check" not grep -q '^build/sanitizers' "$scratch/quick"
it "ONLY=threads has each suite that starts a thread" has_all "$scratch/starts-threads" "$scratch/threads"
it "and not those with one" not grep -q '^unit/cursor_test$' "$scratch/threads"
it "WITHOUT leaves out a folder" not grep '^unit/' "$scratch/without"
it "CI runs the full tier" grep -q 'scripts/check" --full' .ci/run
finish
