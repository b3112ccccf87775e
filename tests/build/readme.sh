#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A newcomer on a bare Debian: each command of README.md, and of the documents named at the end, runs in a clean root with a
# copy of the source. A new command is run, or its reason for being left out is written below. DOCUMENTS names others:
#
#	DOCUMENTS="docs/remote.md docs/farm.md" sh tests/build/readme.sh
#
# The commands that build are given -O0: what they build is measured elsewhere.

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

# in_root COMMAND... The trees that are built here are not optimised, which would take half of the time.
within=
in_root()
{
	$within chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		MAKEFLAGS="-j$jobs" CFLAGS=-O0 DEBIAN_FRONTEND=noninteractive "$@" < /dev/null
}

# the answers of a person whom apt asks
printf 'APT::%s;\n' 'Get::Assume-Yes "true"' 'Install-Recommends "false"' > "$root/etc/apt/apt.conf.d/00answers"

in_root apt-get update -qq > "$scratch/log" 2>&1 || skip "no packages: $(tail -n 1 "$scratch/log")"

# install_packages PACKAGE...: those that were not asked for before
installed=
install_packages()
{
	case $installed in
	*"<$*>"*)	return ;;
	esac
	installed="$installed<$*>"
	in_root apt-get install -qq -y --no-install-recommends -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0 "$@"
}

# commands FILE: those of its blocks without a language, one a line; "\001" is a new line within a command, "\002" begins a
# block. Where a block has lines that begin with "$ ", or "board$ " and the like, the others are what these print.
commands()
{
	awk '
	function out(line) { if (!open) sub(/^[ \t]+/, "", line); printf "%s%s", line, line ~ /\\$/ ? "\001" : "\n"; open = line ~ /\\$/ }
	/^ *```/ {
		inside = !inside
		if (inside) { count = prompts = 0; printf "\002\n"; plain = $0 ~ /^ *```$/ }
		else if (plain)
			for (i = 1; i <= count; i++)
				if (!prompts) out(line[i])
				else if (open || line[i] ~ prompt) { sub(prompt, "", line[i]); out(line[i]) }
		next
	}
	inside { line[++count] = $0; prompts += $0 ~ prompt }' prompt='^ *[a-z]*[$] +' "$1"
}

# left_out COMMAND: why it is not run here
left_out()
{
	case $1 in
	scripts/check*)		echo "it is what CI runs" ;;
	*menuconfig*)		echo "it asks a person" ;;
	*packaging/debian*)	echo "build/debian runs it, in roots of its own" ;;
	'make dist'*)		echo "build/release runs it" ;;
	'make check '* | 'make check-hil'*) echo "it is a suite of its own" ;;

	# TVM and PyTorch of PyPI take half a gigabyte and five
	*'-m venv '* | *requirements*.txt* | *tenon-compile* | *llm*smollm2* | 'tenon chat smollm2'* | 'tenon inspect model.so' | 'tenon run model.so --input '* | 'tenon run model.so --self-test' | 'build/tenon run model.so --input '*)
				echo "it needs TVM or PyTorch of PyPI: suites of compile/ run it" ;;
	*operators.py* | *net.d* | *parts/link.sh* | *'tenon bench model.so') echo "it needs onnx of PyPI: compile/onednn runs it" ;;

	*myboard.json* | *mortise://uio/*) echo "it needs a board" ;;
	ssh* | scp*)		echo "it needs another machine" ;;
	systemd-run*)		echo "it needs systemd: remote/cgroup_guest has servers in such cgroups" ;;
	*aarch64-linux-musl-*)	echo "Debian has no compiler of this name: remote/board_server runs it with musl-gcc" ;;
	*provide_guest_kernel* | *pytest*) echo "it needs labgrid: board/labgrid runs it" ;;
	*hil/lava* | *provide_lava* | *hil/qemu-image* | *' archive'*) echo "it needs LAVA's dispatcher: board/lava runs it" ;;

	git*VERSION* | sha256sum*VERSION* | gpg*VERSION*) echo "it needs a release and the key of who made it" ;;
	*BR2_EXTERNAL*)		echo "it needs Buildroot: build/buildroot reads the files" ;;
	*feeds*)		echo "it needs OpenWrt: build/openwrt reads the files" ;;
	podman*)		echo "it needs podman and the registry: build/container runs it" ;;
	esac
}

# what PoCL asks the kernel for, as files: the root has no /sys
copy_processors()
{
	copy=$root/sys/devices/system/cpu
	mkdir -p "$copy" && (cd /sys/devices/system/cpu && cp -r --parents online possible present cpu[0-9]*/topology "$copy")
}

# what a text beside the command says that it needs
prepare()
{
	case $1 in
	*CROSS_COMPILE=aarch64-linux-gnu-*) install_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
	'make build/tests/'*)	install_packages libcmocka-dev ;;
	*'--format mlf'*)	install_packages libarchive13 ;;
	*opencl*)		install_packages pocl-opencl-icd ocl-icd-libopencl1 && copy_processors ;;
	*'import numpy'*)	install_packages python3-numpy ;;
	*'| dot '*)		install_packages graphviz ;;
	*'tenon rpc '* | *--remote*) install_packages iproute2 ;;
	esac > "$scratch/prepared" 2>&1 || { cat "$scratch/prepared"; return 1; }
}

# A network for servers, where the desk and the board of a document are one machine; it ends with the namespaces of this script.
# What connects from there to 10.0.0.1, the desk, has the address of the board.
network=
enter_network()
{
	case $1 in
	*'tenon rpc '* | *--remote*) ;;
	*)	return 0 ;;
	esac
	if [ -n "$network" ]; then
		within="nsenter --net=$network"
		return
	fi
	# the processes of this namespace are in the root's /proc alone
	unshare --net sleep infinity &
	until [ "$(readlink "$root/proc/$!/ns/net")" != "$(readlink "$root/proc/$$/ns/net")" ]; do
		kill -0 $! || return
		sleep 0.1
	done
	network=$root/proc/$!/ns/net
	within="nsenter --net=$network"
	in_root sh -ec 'ip link set lo up
		ip address add 10.0.0.1/32 dev lo
		ip address add 10.0.0.7/32 dev lo
		ip route replace local 10.0.0.1 dev lo table local src 10.0.0.7'
}

# serves COMMAND: it runs until someone ends it
serves()
{
	case $1 in
	*'tenon rpc serve'* | *'tenon rpc tracker --'* | *'tenon rpc proxy'*) ;;
	*)	return 1 ;;
	esac
}

# the servers that a block started stay until another block starts some: the process of each, and the shell that waits for it
servers= waiting= server_count=0 block_serves=
end_servers()
{
	for server in $servers; do
		kill "$server" 2>/dev/null
	done
	[ -z "$waiting" ] || wait $waiting
	servers= waiting=
}

start_server()
{
	[ -n "$block_serves" ] || end_servers
	block_serves=yes
	server_count=$((server_count + 1))
	log=$scratch/server.$server_count
	in_root sh -c "echo \$\$ > /root/server; . $state; cd \"\$folder\"; eval \"exec \$(cat /root/line)\"" > "$log" 2>&1 &
	tries=0
	# a server that listens nowhere says the other thing
	until grep -q 'listening on\|clients on other machines' "$log"; do
		tries=$((tries + 1))
		kill -0 $! && [ $tries -lt 100 ] || { cat "$log"; return 1; }
		sleep 0.2
	done
	servers="$servers $(cat "$root/root/server")" waiting="$waiting $!"
}

# run_line COMMAND: in the folder and with the variables that the last one left
run_line()
{
	within=
	prepare "$1" && enter_network "$1" || return
	printf '%s\n' "$1" | tr '\001' '\n' > "$root/root/line"
	if serves "$1"; then
		start_server
		return
	fi
	in_root sh -c ". $state; cd \"\$folder\" && . /root/line && { set; export -p; echo \"folder='\$PWD'\"; } > $state.new && mv $state.new $state"
}

block=$(printf '\002')
follow()
{
	echo "folder=$tree" > "$root$state"
	commands "$1" > "$scratch/commands"
	while IFS= read -r line <&5; do
		case $line in
		'')	continue ;;
		"$block") echo "folder=$tree" >> "$root$state"; block_serves=; continue ;;
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

# the program of README.md, which the commands before built
program_runs()
{
	in_root sh -c "cd $tree && build/call tests/interop/data/tvm-0.18/host_vecadd/lib.so" > "$scratch/sum" || { cat "$scratch/sum"; return 1; }
	cat "$scratch/sum"
	grep -qx '0.5 1.5 2.5 ... 1023.5' "$scratch/sum"
}

# what the documents take for done where README.md is not followed
builds_and_installs()
{
	in_root sh -c "cd $tree && scripts/demo && make install && ldconfig"
}

# docs/adding-a-backend.md is for build/new_backend; the last one changes the source
documents='README.md examples/magika/README.md examples/link/README.md docs/making-modules.md docs/remote.md docs/farm.md
docs/porting.md docs/hardware-in-loop.md docs/releasing.md packaging/README.md examples/mortise/README.md
docs/bring-your-own-codegen.md docs/language-models.md'

are_in_the_list()
{
	status=0
	for page in README.md docs/*.md examples/*/README.md packaging/README.md; do
		commands "$page" | grep -q "^[^$block]" || continue
		printf '%s\n' $documents | grep -qx "$page" || { echo "$page has commands, and is not in the list"; status=1; }
	done
	return $status
}

it "each document that has commands is followed" are_in_the_list
case " ${DOCUMENTS:=$documents} " in
*' README.md '*) it "make, a C compiler and POSIX tools build Tenon" builds_with_a_compiler_alone ;;
*)		it "scripts/demo and make install build and install Tenon" builds_and_installs ;;
esac
for document in $DOCUMENTS; do
	follow "$document"
	[ "$document" != README.md ] || it "README.md: the program adds" program_runs
	end_servers
done
finish
