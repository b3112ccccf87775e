#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The rules for device nodes: udev reads them, systemd-sysusers makes their group, nothing is open to everybody

. tests/build/tap.sh
rules=packaging/udev/60-tenon.rules

# mentioned ROOT-FOLDER-OF-RULES: what udev says of the rules, in a /run of its own
udev_says()
{
	unshare --mount sh -c '
		mount -t tmpfs tmpfs /run && mkdir -p /run/udev/rules.d && cp "$1" /run/udev/rules.d/60-tenon-test.rules &&
		exec udevadm test /sys/class/mem/null 2>&1' sh "$1" | grep '60-tenon-test\.rules'
}

is_read_without_a_complaint()
{
	udev_says "$rules" > "$scratch/words"
	cat "$scratch/words"
	[ "$(wc -l < "$scratch/words")" -eq 1 ] && grep -q '^Reading' "$scratch/words"
}

complains()
{
	sed 's/GROUP=/GRUOP=/' "$rules" > "$scratch/wrong.rules"
	udev_says "$scratch/wrong.rules" | grep -v '^Reading'
}

makes_the_group()
{
	mkdir -p "$scratch/root/etc" &&
		systemd-sysusers --root="$scratch/root" "$PWD/packaging/udev/tenon.sysusers" &&
		group=$(sed -n 's/.*GROUP="\([a-z]*\)".*/\1/p' "$rules" | sort -u) && grep -q "^$group:" "$scratch/root/etc/group"
}

# a UIO device may reach all of memory
names_boards()
{
	[ "$(grep -c '^SUBSYSTEM=="uio"' "$rules")" -eq 1 ] && grep '^SUBSYSTEM=="uio"' "$rules" | grep -q 'ATTR{name}=="[a-z]'
}

it "no node is open to everybody" not grep -q 'MODE="0\{0,1\}[0-7][0-7][1-7]"' "$rules"
it "every rule names a mode and a group" test "$(grep -c '^SUBSYSTEM' "$rules")" -eq \
	"$(grep -c 'GROUP="[a-z]*", MODE="0660"' "$rules")"
it "nodes of UIO are given by the name of a board alone" names_boards
if command -v systemd-sysusers > /dev/null 2>&1; then
	it "systemd-sysusers makes the group of the rules" makes_the_group
fi
if command -v udevadm > /dev/null 2>&1 && [ -e /sys/class/mem/null ] && udev_says "$rules" > /dev/null 2>&1; then
	it "udev reads the rules and has no complaint" is_read_without_a_complaint
	it "udev would complain about a wrong key" complains
else
	echo "# udev cannot be asked here: no udevadm, no /sys, or no right to mount"
fi
finish
