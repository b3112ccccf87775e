#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Nothing is left running, and the board is stopped, however "tenon hil run" ends: kill -9 of the command, kill -9 of the
# process that works for it, a signal. The processes of a run are known by a variable of their environment.

. tests/board/hil.sh

[ -r /proc/self/environ ] || skip "/proc/self/environ cannot be read"

# the processes of the run, but not the shells of this script
left()
{
	for folder in /proc/[0-9]*; do
		tr '\0' '\n' < "$folder/environ" 2>/dev/null | grep -qx "HIL_TEST=$scratch" && echo "${folder#/proc/}"
	done
}

# within ten seconds of a machine that is idle, and a minute of one that is not
none_is_left()
{
	for try in $(seq 300); do
		[ -n "$(left)" ] || return 0
		sleep 0.2
	done
	for pid in $(left); do
		tr '\0' ' ' < "/proc/$pid/cmdline"
		echo
	done
	return 1
}

wait_for()
{
	for try in $(seq 600); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	echo "$1 did not come"
	return 1
}

# a run in the background: its board has a process, its suite starts a daemon, and both would stay for ever
begin()
{
	suite daemon <<-END
		setsid sh -c 'setsid sleep 1000 & : > $scratch/daemon-runs; sleep 1000' < /dev/null > /dev/null 2>&1 &
		sleep 1000
	END
	rm -f "$scratch/daemon-runs" "$scratch/fake/events"
	fake_board < /dev/null
	sed -i "s@^\"start\": .*@\"run\": \": > $scratch/fake/on; setsid sleep 1000 \& exec sleep 1000\",@" "$scratch/target.json"
	HIL_TEST=$scratch TMPDIR=$scratch/tmp $TENON_COMMAND hil run --out "$scratch/results" --target "$scratch/target.json" \
		"$scratch/daemon" > "$scratch/ktap" 2> "$scratch/err" &
	command=$!
	wait_for "$scratch/daemon-runs"
}

# the board was stopped and no file of the run stayed
all_is_over()
{
	none_is_left && events stop && [ -z "$(ls "$scratch/tmp")" ]
}

the_command_is_killed()
{
	begin && kill -9 $command && ! wait $command && all_is_over && grep -q '^not ok 2 .* # ERROR stopped' \
		"$scratch/results/results.ktap"
}

its_worker_is_killed()
{
	begin || return
	worker=$(cat "/proc/$command/task/$command/children" 2>/dev/null || ps -o pid= --ppid $command) || return
	kill -9 $worker
	wait $command
	[ $? -eq 6 ] && all_is_over && grep -q 'the board was stopped' "$scratch/err"
}

it_is_terminated()
{
	begin && kill -TERM $command
	wait $command
	[ $? -eq 6 ] && all_is_over
}

[ -z "${EMULATOR:-}" ] || skip "the command runs in an emulator, which kill -9 would end"
mkdir "$scratch/tmp"
it "kill -9 of the command" the_command_is_killed
it "kill -9 of the process that does the work" its_worker_is_killed
it "SIGTERM" it_is_terminated
finish
