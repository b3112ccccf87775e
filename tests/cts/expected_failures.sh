#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The list of expected failures can only shrink

. tests/build/tap.sh

program=$TENON_BUILD/tests/cts/null_backend
[ -x "$program" ] || skip "the conformance suite of null is not built"
[ -z "$EMULATOR" ] || skip "an emulated program cannot start itself anew"

run()
{
	CMOCKA_MESSAGE_OUTPUT=TAP TENON_CASE=$1 CTS_EXPECT=$1 "$program"
}

says()
{
	text=$1
	shift
	"$@" > "$scratch/out" 2>&1
	grep -e "$text" "$scratch/out" || { cat "$scratch/out"; return 1; }
}

it "one that passes is a failure" not run memory_of_no_bytes_is_refused
it "... that says what to do" says "take it off the list" run memory_of_no_bytes_is_refused
# skipped there, for want of a kind: what cannot be run is no proof that it passes
it "one that is skipped is a skip" says "# SKIP" run a_module_of_the_kind_is_loaded_and_called
finish
