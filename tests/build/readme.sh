#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A newcomer on a bare Debian: each command of README.md, and of the documents named at the end, runs in a clean root with a
# copy of the source. A new command is run, or its reason for being left out is written below.

TENON_SOURCE=${TENON_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$TENON_SOURCE" || exit 1
if [ "${1:-}" != --inside ]; then
	. tests/build/tap.sh
	need mmdebstrap apt-get unshare
	[ "$(id -u)" -eq 0 ] || skip "a clean root needs the rights of root"
	[ -z "${EMULATOR:-}" ] || skip "the clean root is of this machine"
	unshare --mount --pid --fork true 2>/dev/null || skip "this machine lets nobody mount (unshare --mount fails)"
	trap - EXIT
	rm -rf "$scratch"
	# mounts and processes of the root end with the namespaces
	exec unshare --mount --pid --fork --kill-child sh "$0" --inside
fi
. tests/build/tap.sh
. tests/build/inner_make.sh

root=$scratch/root

# Nothing of this machine is mounted below the folder that is removed at the end: the root has devices of its own.
make_devices()
{
	mount -t tmpfs -o mode=755 tmpfs "$root/dev" || return
	for device in null:3 zero:5 full:7 random:8 urandom:9; do
		mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}" || return
	done
	ln -s /proc/self/fd "$root/dev/fd" && ln -s /proc/self/fd/1 "$root/dev/stdout" && ln -s /proc/self/fd/2 "$root/dev/stderr" &&
		mkdir -m 1777 "$root/dev/shm"
}

clean_up()
{
	for mounted in "$root/dev" "$root/proc"; do
		! mountpoint -q "$mounted" || umount "$mounted" || umount -l "$mounted"
	done
	rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
# where the source is in the root, and what one command leaves for the next
tree=/root/tenon
state=/root/state

apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
	sort -u > "$scratch/sources.list"
apt-config dump Acquire | grep '^Acquire::' > "$scratch/apt.conf"
mmdebstrap --quiet --variant=minbase --aptopt="$scratch/apt.conf" "$release" "$root" "$scratch/sources.list" > "$scratch/log" 2>&1 ||
	skip "no clean root of $release, as without a network: $(tail -n 1 "$scratch/log")"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/" && mount -t proc proc "$root/proc" && make_devices ||
	skip "the clean root cannot be mounted"
copy_source "$root$tree" || exit 1

# in_root COMMAND...
in_root()
{
	chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		MAKEFLAGS="-j$jobs" DEBIAN_FRONTEND=noninteractive "$@" < /dev/null
}

in_root apt-get update -qq > "$scratch/log" 2>&1 || skip "no packages: $(tail -n 1 "$scratch/log")"

install_packages()
{
	in_root apt-get install -qq -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0 "$@"
}

# commands FILE: those of its blocks without a language, one a line; "\001" is a new line within a command, "\002" begins a
# block. Where a block has lines that begin with "$ ", the others are what these print.
commands()
{
	awk '
	function out(line) { printf "%s%s", line, line ~ /\\$/ ? "\001" : "\n"; open = line ~ /\\$/ }
	/^ *```/ {
		inside = !inside
		if (inside) { count = prompts = 0; printf "\002\n"; plain = $0 ~ /^ *```$/ }
		else if (plain)
			for (i = 1; i <= count; i++)
				if (!prompts) out(line[i])
				else if (open || line[i] ~ /^ *[$] /) { sub(/^ *[$] /, "", line[i]); out(line[i]) }
		next
	}
	inside { line[++count] = $0; prompts += $0 ~ /^ *[$] / }' "$1"
}

# left_out COMMAND: why it is not run here
left_out()
{
	case $1 in
	scripts/check*)		echo "it is what CI runs" ;;
	*menuconfig*)		echo "it asks a person" ;;
	*packaging/debian*)	echo "build/debian runs it, in roots of its own" ;;
	'make dist'*)		echo "build/release runs it" ;;
	esac
}

# what a text beside the command says that it needs
prepare()
{
	case $1 in
	*CROSS_COMPILE=aarch64-linux-gnu-*) install_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
	esac > "$scratch/prepared" 2>&1 || { cat "$scratch/prepared"; return 1; }
}

# run_line COMMAND: in the folder and with the variables that the last one left
run_line()
{
	prepare "$1" || return
	printf '%s\n' "$1" | tr '\001' '\n' > "$root/root/line"
	in_root sh -c ". $state; cd \"\$folder\" && . /root/line && { export -p; echo \"folder='\$PWD'\"; } > $state.new && mv $state.new $state"
}

block=$(printf '\002')
follow()
{
	echo "folder=$tree" > "$root$state"
	commands "$1" > "$scratch/commands"
	while IFS= read -r line <&5; do
		case $line in
		'')	continue ;;
		"$block") echo "folder=$tree" >> "$root$state"; continue ;;
		esac
		sentence="$1: $(printf '%s' "$line" | sed 's/  *#.*//' | tr '\001\t' '  ' | tr -s ' ')"
		why=$(left_out "$line")
		if [ -n "$why" ]; then
			skip_case "$sentence" "$why"
		else
			it "$sentence" run_line "$line"
		fi
	done 5< "$scratch/commands"
}

builds_with_a_compiler_alone()
{
	install_packages make gcc libc6-dev > "$scratch/prepared" 2>&1 || { cat "$scratch/prepared"; return 1; }
	in_root sh -c "cd $tree && make O=/root/bare && /root/bare/tenon --version && ls /root/bare/libtenon.so"
}

# the program of README.md, with the library that "make install" installed
program_runs()
{
	sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' > "$root/root/call.c"
	in_root sh -c "cd $tree && make install > /root/install.log 2>&1 && ldconfig && cd /root &&
		cc call.c \$(pkg-config --cflags --libs tenon) -o call &&
		./call $tree/tests/interop/data/tvm-0.18/host_vecadd/lib.so" > "$scratch/sum" || { cat "$scratch/sum"; return 1; }
	cat "$scratch/sum"
	grep -qx '0.5 1.5 2.5 ... 1023.5' "$scratch/sum"
}

it "make, a C compiler and POSIX tools build Tenon" builds_with_a_compiler_alone
follow README.md
it "README.md: the program builds and runs" program_runs
follow docs/bring-your-own-codegen.md
finish
