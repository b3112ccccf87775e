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
suites NIGHTLY=1 > "$scratch/nightly"
suites FULL=1 ONLY=threads > "$scratch/threads"
suites FULL=1 WITHOUT='unit build/rooms cts/null_backend' > "$scratch/without"

grep -l '^#!/bin/sh$' tests/*/*.sh | sed 's,^tests/,,; s,\.sh$,,' > "$scratch/scripts"
ls tests/unit/*_test.c | sed 's,^tests/,,; s,\.c$,,' > "$scratch/unit"
grep -l pthread_create tests/*/*_test.c | sed 's,^tests/,,; s,\.c$,,' > "$scratch/starts-threads"

suites SUITE=rtl > "$scratch/rtl"
suites SUITE=build/ > "$scratch/folder"
suites SUITE=new_backend > "$scratch/named"

# the first of the suites that take long
first_of_early()
{
	inner_make -n O="$TENON_BUILD" FULL=1 check | tr ' ' '\n' | sed -n '/^early$/,$ { /^early$/! { p; q } }'
}

# asked_for SUITE WORD: run in full where SUITE=WORD asks for it
asked_for()
{
	inner_make -n O="$TENON_BUILD" SUITE="$2" check > "$scratch/words" &&
		sed -n "s/.*--asked-for '\([^']*\)'.*/ \1 /p" "$scratch/words" | grep -q " $1 "
}

# builds_tests NUMBER ARGUMENT...: so many programs of tests would be linked in an empty folder
builds_tests()
{
	most=$1
	shift
	[ -e "$scratch/empty/.config" ] || inner_make -s O="$scratch/empty" testconfig || return
	inner_make -n O="$scratch/empty" "$@" check > "$scratch/words" || return
	linked=$(grep -c "LD 'tests/" "$scratch/words")
	echo "$linked programs"
	[ "$linked" -le "$most" ] && [ "$linked" -gt 0 ]
}

it "make check runs all suites of tests/unit" has_all "$scratch/unit" "$scratch/quick"
it "LONG=1 adds to them" has_all "$scratch/quick" "$scratch/long"
it "FULL=1 adds to these" has_all "$scratch/long" "$scratch/full"
it "NIGHTLY=1 adds to these" has_all "$scratch/full" "$scratch/nightly"
it "every script that is a suite is in the nightly tier" has_all "$scratch/scripts" "$scratch/nightly"
it "sanitizers are in the tier of scripts/check" grep -q '^build/sanitizers_address$' "$scratch/long"
it "and not in that of make check" not grep -q '^build/sanitizers' "$scratch/quick"
it "ONLY=threads has each suite that starts a thread" has_all "$scratch/starts-threads" "$scratch/threads"
it "and not those with one" not grep -q '^unit/cursor_test$' "$scratch/threads"
it "WITHOUT leaves out a folder" not grep '^unit/' "$scratch/without"
it "and a suite" not grep -x 'build/rooms\|cts/null_backend' "$scratch/without"
it "but none whose name begins so" grep -qx 'cts/null_payload_backend\|build/abi' "$scratch/without"
it "a suite that is asked for by name is run, whatever its tier" grep -q '^build/new_backend$' "$scratch/named"
it "those of a folder keep their tiers" not grep -q '^build/new_backend$' "$scratch/folder"
it "and are all run in theirs" grep -q '^build/rooms$' "$scratch/folder"
it "what takes longest starts first" test "$(first_of_early)" = tests/build/sanitizers_address.sh
if command -v pkg-config >/dev/null && pkg-config --exists cmocka; then
	it "boards that are asked for by name are run" asked_for hil/rtl_board rtl
	it "boards of a folder are not" not asked_for hil/rtl_board hil/
	it "one suite builds its own program alone" builds_tests 1 SUITE=unit/cursor_test
	it "a suite that runs another's program builds it too" builds_tests 1 SUITE=cts/expected_failures
fi
it "CI runs the full tier" grep -q 'scripts/check" --full' .ci/run
finish
