#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/run-tests against suites that pass, fail, skip, crash, hang and stop in the middle

. tests/build/tap.sh
. tests/build/inner_make.sh

suite()
{
	mkdir -p "$scratch/tests/made"
	printf '%b' "$2" > "$scratch/tests/made/$1.sh"
}

# last_line WANT SUITE...: what run-tests ends with
last_line()
{
	want=$1
	shift
	for name in "$@"; do
		set -- "$@" "$scratch/tests/made/$name.sh"
		shift
	done
	sh scripts/run-tests --out "$scratch/out" --timeout 2 "$@" > "$scratch/said.runner" 2>&1
	status=$?
	cat "$scratch/said.runner"
	[ "$(tail -n 1 "$scratch/said.runner")" = "$want" ]
}

exits_with()
{
	expected_status=$1
	shift
	last_line "$@" && [ "$status" -eq "$expected_status" ]
}

suite passes 'echo 1..2\necho ok 1 - a\necho ok 2 - b\n'
suite fails 'echo 1..2\necho ok 1 - a\necho not ok 2 - b\necho "# why it failed"\nexit 1\n'
suite skips 'echo 1..2\necho ok 1 - a\necho "ok 2 - b # SKIP no device"\n'
suite cmocka_skips 'echo 1..1\necho "# no device"\necho "not ok 1 # SKIP b"\n'
suite stops 'echo 1..3\necho ok 1 - a\n'
suite crashes 'echo 1..2\necho ok 1 - a\nkill -SEGV $$\n'
suite hangs 'echo 1..1\nexec sleep 30\n'
suite leaks 'echo 1..1\necho ok 1 - a\nexit 23\n'
suite planless 'echo ok 1 - a\n'
suite plain 'exit 0\n'
suite plain_fails 'echo something is wrong\nexit 1\n'
suite plain_skips 'echo qemu-foo is not installed\nexit 77\n'
suite all_skipped 'echo "1..0 # SKIP no device at all"\nexit 77\n'
suite four_failures 'echo 1..4\nfor i in 1 2 3 4; do echo not ok $i - c; done\nexit 4\n'
suite odd 'echo 1..1\nprintf "\\001<&>\\n"\necho "not ok 1 - a <b> & c"\nexit 1\n'

it "cases that pass are counted" exits_with 0 "2 passed, 0 failed, 0 skipped" passes
it "a case that fails is counted and fails the run" exits_with 1 "1 passed, 1 failed, 0 skipped" fails
it "what a failing case said is shown" grep -q 'why it failed' "$scratch/said.runner"
it "a skipped case does not fail the run" exits_with 0 "1 passed, 0 failed, 1 skipped" skips
it "the reason of a skip is shown" grep -q 'b: no device' "$scratch/said.runner"
it "a case that cmocka skipped is a skip" exits_with 0 "0 passed, 0 failed, 1 skipped" cmocka_skips
it "its reason is the line before" grep -q 'b: no device' "$scratch/said.runner"
it "cases that were planned and never ran are failures" \
	exits_with 1 "1 passed, 2 failed, 0 skipped" stops
it "a crash fails the case that did not end" exits_with 1 "1 passed, 1 failed, 0 skipped" crashes
it "a suite that hangs is stopped" exits_with 1 "0 passed, 1 failed, 0 skipped" hangs
it "and the limit is named" grep -q 'stopped after 2 s' "$scratch/said.runner"
it "a bad exit status after good cases is a failure" \
	exits_with 1 "1 passed, 1 failed, 0 skipped" leaks
it "results without a plan are a failure" exits_with 1 "1 passed, 1 failed, 0 skipped" planless
it "a suite without cases is one case" exits_with 0 "1 passed, 0 failed, 0 skipped" plain
it "a suite without cases can fail" exits_with 1 "0 passed, 1 failed, 0 skipped" plain_fails
it "a suite without cases can be skipped" exits_with 0 "0 passed, 0 failed, 1 skipped" plain_skips
it "and its last line is the reason" grep -q 'qemu-foo is not installed' "$scratch/said.runner"
it "a plan that skips all cases is a skip" exits_with 0 "0 passed, 0 failed, 1 skipped" all_skipped
it "and its reason is shown" grep -q 'no device at all' "$scratch/said.runner"
it "four failures are not mistaken for the skip status" \
	exits_with 1 "0 passed, 4 failed, 0 skipped" four_failures
it "the counts of several suites are added" \
	exits_with 1 "5 passed, 1 failed, 1 skipped" passes fails skips plain

ktap_is_whole()
{
	grep -q '^KTAP version 1$' "$scratch/out/results.ktap" && grep -q '^1\.\.4$' "$scratch/out/results.ktap" &&
		grep -q '^not ok 2 ' "$scratch/out/results.ktap" &&
		grep -q '^  ok 2 b # SKIP no device$' "$scratch/out/results.ktap"
}
it "the KTAP report has the plan, the failure and the skip" ktap_is_whole

xml_is_clean()
{
	last_line "0 passed, 1 failed, 0 skipped" odd || return
	grep -q 'name="a &lt;b&gt; &amp; c"' "$scratch/out/results.xml" || return
	if command -v python3 >/dev/null 2>&1; then
		python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$scratch/out/results.xml"
	fi
}
it "the JUnit report escapes what XML forbids" xml_is_clean

needs_are_of_tests()
{
	inner_make O="$scratch/needs" defconfig && inner_make -n O="$scratch/needs" all || return
	! inner_make -n O="$scratch/needs" needs-ghost_test=TOOL all > "$scratch/said.make" 2>&1 &&
		cat "$scratch/said.make" && grep -q 'needs-ghost_test' "$scratch/said.make"
}
it "needs-NAME of no test stops the build" needs_are_of_tests
it "no suite at all is a failure" not sh scripts/run-tests --out "$scratch/out" --suite none \
	"$scratch/tests/made/plain.sh"
finish
