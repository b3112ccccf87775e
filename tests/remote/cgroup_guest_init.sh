#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The first process of the guest of cgroup_guest.sh: it mounts what is needed, starts servers in cgroups of several
# kinds, and has their sessions take more memory than they may.

/bin/busybox --install -s /bin
export PATH=/bin:/programs LD_LIBRARY_PATH=/programs TMPDIR=/tmp HOME=/tmp
mkdir -p /proc /sys /dev /etc
mkdir -m 1777 /tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
exec > /dev/ttyS1 2>&1

. /tap.sh
. /server.sh
trap - EXIT

top=/sys/fs/cgroup
# of the sessions, in MiB
limit=64

# start [COMMAND…]: a server, started by COMMAND
start()
{
	"$@" tenon rpc serve --listen 127.0.0.1:0 --key guest --folder /tmp --memory $limit --processes 100 2> "$scratch/log" &
	server=$!
	port_of "$scratch/log" $server
}

# stop [SIGNAL]
stop()
{
	kill "-${1:-TERM}" "$server"
	wait "$server" 2> "$scratch/wait"
	return 0
}

call()
{
	tenon run /programs/hostile.so --remote "127.0.0.1:$port/guest" --function "$1" ${2:+--input "$2"} > "$scratch/out" 2>&1
	status=$?
	cat "$scratch/out"
	return $status
}

takes_what_it_may()
{
	call takes_for_a_moment 24
}

takes_too_much()
{
	not call takes_for_a_moment 120 && grep -q "more than $limit MiB of memory" "$scratch/out"
}

kernel_killed_it()
{
	dmesg | grep 'emory cgroup out of memory'
}

# wait_until COMMAND…: it succeeds within a minute
wait_until()
{
	for try in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

sessions_of()
{
	find "$1" -type d -name 'tenon-*-*' | grep .
}

# a session that lives until its client is killed
open_session()
{
	call sleeps_for_ms 60000 > "$scratch/sleeper" 2>&1 &
	client=$!
	wait_until sessions_of $top || return
	session=$(sessions_of $top)
	wait_until grep -q . "$session/cgroup.procs"
}

has_limits()
{
	open_session || return
	head "$session/memory.max" "$session/memory.oom.group" "$session/pids.max" "$session/cgroup.procs"
	[ "$(cat "$session/memory.max")" -eq $((limit << 20)) ] && [ "$(cat "$session/memory.oom.group")" -eq 1 ] &&
		[ "$(cat "$session/pids.max")" -eq 101 ]
}

ends_without_cgroup()
{
	kill $client
	wait $client 2> "$scratch/wait"
	wait_until not sessions_of $top
}

processes_are_gone()
{
	call leaves_processes && wait_until not sessions_of $top
}

killed_server_leaves_none()
{
	open_session && stop KILL && start && wait_until not sessions_of $top
}

# in_cgroup FOLDER COMMAND…
in_cgroup()
{
	echo $(exec sh -c 'echo $PPID') > "$1/cgroup.procs" || return
	shift
	exec "$@"
}

# for a user without rights, as systemd does for Delegate=
delegate()
{
	mkdir $top/delegated && chown 65534 $top/delegated $top/delegated/cgroup.procs $top/delegated/cgroup.subtree_control &&
		chown 65534 "$scratch" && start in_cgroup $top/delegated /programs/setpriv --reuid 65534 --regid 65534 --clear-groups
}

is_in_one_of_its_own()
{
	cat "$scratch/log"
	not grep 'no cgroups' "$scratch/log" && [ "$(cat "$top/delegated/tenon-$server/cgroup.procs")" = "$server" ]
}

is_as_before()
{
	find $top/delegated -mindepth 1 -type d
	cat $top/delegated/cgroup.subtree_control
	[ -z "$(find $top/delegated -mindepth 1 -type d)$(cat $top/delegated/cgroup.subtree_control)" ]
}

starts_beside_another()
{
	mkdir $top/shared && in_cgroup $top/shared sleep 1000 &
	wait_until grep -q . $top/shared/cgroup.procs && start in_cgroup $top/shared && cat "$scratch/log" &&
		grep 'no cgroups.*other processes' "$scratch/log"
}

is_told_later()
{
	not call shares_memory && grep -q "more than $limit MiB of memory" "$scratch/out"
}

it "a server of root's in the first cgroup starts" start
it "and says nothing of cgroups" not grep cgroup "$scratch/log"
it "a session takes the memory that it may" takes_what_it_may
it "one that takes more for a moment is ended, and its client told" takes_too_much
it "by the kernel" kernel_killed_it
it "another session goes on" takes_what_it_may
it "a session's cgroup has its limits" has_limits
it "and is removed with the session" ends_without_cgroup
it "so is that of a session that leaves processes" processes_are_gone
it "a server removes what one that was killed left" killed_server_leaves_none
stop
it "a user's server starts in a cgroup that was handed to it" delegate
it "it is in one of its own there" is_in_one_of_its_own
it "its session takes the memory that it may" takes_what_it_may
it "one that takes more is ended, and its client told" takes_too_much
stop
it "it leaves its cgroup as it was" is_as_before
it "beside other processes, a server says that sessions have no cgroups, and why" starts_beside_another
it "there a session that takes more is found later" is_told_later
stop
echo "1..$cases"
sync
reboot -f
