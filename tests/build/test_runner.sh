#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/run-tests against suites that pass, fail, skip, crash, hang and stop in the middle, alone and
# side by side

. tests/build/tap.sh
. tests/build/inner_make.sh

# it is set while this script runs in the full check
unset FULL

suite()
{
	mkdir -p "$scratch/tests/made"
	printf '%b' "$2" > "$scratch/tests/made/$1.sh"
}

# last_line WANT SUITE...: what run-tests ends with
limit=60 hang_limit=60
last_line()
{
	want=$1
	shift
	for name in "$@"; do
		set -- "$@" "$scratch/tests/made/$name.sh"
		shift
	done
	sh scripts/run-tests --out "$scratch/out" --again 'make check' --timeout $limit --hang-timeout $hang_limit "$@" \
		> "$scratch/said.runner" 2>&1
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
suite waits 'sleep 3\n'
suite spins 'while :; do :; done\n'
# none of the children lasts as long as the limit
suite spins_by_children 'echo 1..2\necho ok 1 - a\nwhile :; do seq 1000000 > /dev/null; done\n'
suite is_full 'echo 1..1\n[ "${FULL:-}" = 1 ] && echo ok 1 - a || echo not ok 1 - a\n'
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
hang_limit=2
it "a suite that hangs is stopped" exits_with 1 "0 passed, 1 failed, 0 skipped" hangs
hang_limit=60
it "and the message says that it hangs" grep -q 'stopped after [2-9] s, of them [0-9.]* s on processors: it hangs' \
	"$scratch/said.runner"
if command -v timeout >/dev/null 2>&1; then
	limit=1
	it "one that waits longer than its processor time is not stopped" exits_with 0 "1 passed, 0 failed, 0 skipped" waits
	it "one that spins is stopped" exits_with 1 "0 passed, 1 failed, 0 skipped" spins
	it "for its time on processors" grep -q 'stopped after [0-9]* s on processors, more than its limit' "$scratch/said.runner"
	it "what its children use counts, also of those that ended" exits_with 1 "1 passed, 1 failed, 0 skipped" spins_by_children
	limit=60
fi
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

lists_failures()
{
	cat > "$scratch/want" <<-'END'
		Failed:
		  make check SUITE=made/fails   # b
		  make check SUITE=made/four_failures   # c, and 3 more
		1 passed, 5 failed, 0 skipped
	END
	last_line "1 passed, 5 failed, 0 skipped" fails four_failures
	tail -n 4 "$scratch/said.runner" | diff "$scratch/want" -
}
it "the end says what failed and what runs it again" lists_failures
it "a suite that was not asked for has no FULL" exits_with 1 "0 passed, 1 failed, 0 skipped" is_full

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
# ---- several at a time

# printed as KTAP has them: the suites in their order
order_is()
{
	sed -n 's/^\(not \)\{0,1\}ok [0-9]* made.//p' "$scratch/out/results.ktap" | tr '\n' ' ' > "$scratch/order"
	cat "$scratch/order"
	[ "$(cat "$scratch/order")" = "$1 " ] &&
		[ "$(sed -n 's/^  [okFAIL]* *made.\([a-z_0-9]*\) .*/\1/p' "$scratch/said.runner" | tr '\n' ' ')" = "$1 " ]
}

# runs WANT ARGUMENT...: names of suites become their paths
runs()
{
	want=$1
	shift
	for argument in "$@"; do
		if [ -e "$scratch/tests/made/$argument.sh" ]; then
			set -- "$@" "$scratch/tests/made/$argument.sh"
		else
			set -- "$@" "$argument"
		fi
		shift
	done
	rm -rf "$scratch/meet"
	mkdir "$scratch/meet"
	sh scripts/run-tests --out "$scratch/out" "$@" > "$scratch/said.runner" 2>&1
	cat "$scratch/said.runner"
	[ "$(tail -n 1 "$scratch/said.runner")" = "$want" ]
}

# meets ends well only beside the other one; apart only where nothing else runs
meet='i=0; while [ ! -e "$there/'
met='" ]; do i=$((i + 1)); [ $i -lt 600 ] || exit 1; sleep 0.1; done\n'
for pair in "meets_a meets_b" "meets_b meets_a"; do
	suite "${pair% *}" "there=$scratch/meet\n: > \"\$there/${pair% *}\"\n$meet${pair#* }$met"
done
for name in apart_a apart_b apart_c; do
	suite $name "echo $name >> $scratch/meet/begun
		mkdir $scratch/meet/alone || exit 1
		sleep 0.3
		rmdir $scratch/meet/alone
"
done
suite slow 'sleep 1\n'
suite slow_too 'sleep 1\n'
suite killed 'echo 1..2\necho ok 1 - a\nkill -KILL $$\n'
suite own_folder '[ -z "$(ls "$TMPDIR")" ] && touch "$TMPDIR/file" && sleep 0.3\n'
cp "$scratch/tests/made/own_folder.sh" "$scratch/tests/made/own_folder_too.sh"
suite share 'echo 1..1\necho "ok 1 - $TENON_JOBS processors"\n'

begun_is()
{
	cat "$scratch/meet/begun"
	[ "$(tr '\n' ' ' < "$scratch/meet/begun")" = "$1 " ]
}

it "two suites run side by side" runs "2 passed, 0 failed, 0 skipped" --jobs 2 meets_a meets_b
it "one at a time on request" runs "3 passed, 0 failed, 0 skipped" --jobs 1 apart_a apart_b apart_c
it "what they print keeps its order" runs "3 passed, 0 failed, 0 skipped" --jobs 3 slow plain apart_a
it "so do the reports" order_is "slow plain apart_a"
it "a suite that must be alone waits for the others" \
	runs "4 passed, 0 failed, 0 skipped" --jobs 3 --start alone apart_a apart_b --start any apart_c plain
it "and is started last" begun_is "apart_c apart_a apart_b"
it "a long suite starts early, beside short ones" \
	runs "3 passed, 0 failed, 0 skipped" --jobs 2 slow meets_b --start early meets_a
it "one place is kept for the short ones" runs "5 passed, 0 failed, 0 skipped" --jobs 2 \
	apart_a apart_b --start early slow plain slow_too
it "which are done before the long ones" order_is "apart_a apart_b slow plain slow_too"
it "each has a folder of its own for its files" \
	runs "2 passed, 0 failed, 0 skipped" --jobs 2 own_folder own_folder_too
it "one that is killed fails, the others are counted" \
	runs "4 passed, 1 failed, 0 skipped" --jobs 2 killed passes slow
it "and the signal is named" grep -q 'killed by signal 9' "$scratch/said.runner"
it "one that hangs is stopped while others run" \
	runs "4 passed, 1 failed, 0 skipped" --jobs 2 --hang-timeout 1 hangs --hang-timeout 60 passes slow plain
it "one that was asked for is run in full" runs "1 passed, 0 failed, 0 skipped" --asked-for 'other made/is_full' is_full
it "the only suite may use every processor" runs "1 passed, 0 failed, 0 skipped" share
it "the number of these is in its environment" grep -q "ok 1 $(nproc) processors" "$scratch/out/results.ktap"

# ---- built programs that passed before

# built NAME LINE...: a program in the folder of the run
built()
{
	name=$1
	shift
	mkdir -p "$scratch/out/tests/made"
	{ echo '#!/bin/sh'; printf '%s\n' "$@"; } > "$scratch/out/tests/made/$name"
	chmod +x "$scratch/out/tests/made/$name"
}

runs_new()
{
	runs "$1" --passed "$scratch/passed" "$scratch/out/tests/made/one" "$scratch/out/tests/made/two"
}

built one 'exit 0'
built two 'echo $TENON_COMMAND; exit 0'
echo 1 > "$scratch/command"
TENON_COMMAND=$scratch/command TENON_COMPAT_LIBRARY=
export TENON_COMMAND TENON_COMPAT_LIBRARY
it "programs that passed never are run" runs_new "2 passed, 0 failed, 0 skipped"
it "the same bytes are not run again" runs_new "0 passed, 0 failed, 0 skipped"
it "that is said" grep -q '2 suites are the same bytes' "$scratch/said.runner"
built one 'exit 1'
it "other bytes are run" runs_new "0 passed, 1 failed, 0 skipped"
it "until they pass" runs_new "0 passed, 1 failed, 0 skipped"
built one 'exit 0'
it "bytes of an earlier time are known" runs_new "0 passed, 0 failed, 0 skipped"
echo 2 > "$scratch/command"
it "a program that runs another one is run when that one changes" runs_new "1 passed, 0 failed, 0 skipped"

# ---- interrupted

# a process that the suite started and that would outlive it, and the suite itself
suite starts_others "echo \$\$ >> $scratch/meet/pids\nsleep 300 &\necho \$! >> $scratch/meet/pids\nwait\n"
cp "$scratch/tests/made/starts_others.sh" "$scratch/tests/made/starts_others_too.sh"
suite leaves_one "sleep 300 > /dev/null 2>&1 &\necho \$! >> $scratch/meet/pids\n"

none_runs()
{
	[ "$(wc -l < "$scratch/meet/pids")" -eq "$1" ] || { cat "$scratch/meet/pids"; return 1; }
	for attempt in $(seq 300); do
		left=
		while read -r pid; do
			# one that ended and was not waited for has no command line
			! grep -q . "/proc/$pid/cmdline" 2>/dev/null || left="$left $pid"
		done < "$scratch/meet/pids"
		[ -n "$left" ] || return 0
		sleep 0.2
	done
	echo "still running:$left"
	return 1
}

# as a terminal does it: the signal goes to each process of the group. "timeout" does so when its time has passed, which
# SIGALRM tells it
interrupted_by()
{
	rm -rf "$scratch/meet" "$scratch/out"
	mkdir "$scratch/meet"
	timeout -s "$1" 600 sh scripts/run-tests --out "$scratch/out" --jobs 3 "$scratch/tests/made/slow.sh" \
		"$scratch/tests/made/starts_others.sh" "$scratch/tests/made/starts_others_too.sh" \
		> "$scratch/said.runner" 2>&1 &
	runner=$!
	# each of the two writes its own number and that of a process that it started
	for attempt in $(seq 600); do
		[ "$(cat "$scratch/meet/pids" 2> "$scratch/none" | wc -l)" -lt 4 ] || break
		sleep 0.1
	done
	kill -ALRM $runner
	wait $runner
	cat "$scratch/said.runner"
	[ ! -e "$scratch/out/totals" ]
}

if command -v timeout >/dev/null 2>&1; then
	it "a suite that leaves a process is a suite that passes" runs "1 passed, 0 failed, 0 skipped" leaves_one
	it "and the process is ended" none_runs 1
	for signal in INT TERM HUP; do
		it "SIG$signal stops the run without a verdict" interrupted_by $signal
		it "and leaves no process" none_runs 4
	done
	it "nor a file" test ! -e "$scratch/out/tmp"
fi

# a second run in the same folder, while one waits
runs_beside()
{
	sh scripts/run-tests --out "$scratch/out" "$scratch/tests/made/waits.sh" > "$scratch/said.runner" 2>&1 &
	runner=$!
	until [ -s "$scratch/out/tmp/runner" ]; do
		sleep 0.05
	done
	sh scripts/run-tests --out "$scratch/out" "$scratch/tests/made/passes.sh" > "$scratch/said.other" 2>&1
	status=$?
	wait $runner && cat "$scratch/said.runner" "$scratch/said.other" && [ $status -eq 2 ] &&
		grep -q "process $runner runs tests" "$scratch/said.other"
}
it "a second run in the same folder is refused, and the first goes on" runs_beside

it "no suite at all is a failure" not sh scripts/run-tests --out "$scratch/out" --suite none \
	"$scratch/tests/made/plain.sh"
finish
