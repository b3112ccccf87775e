#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The recipes of docs/adding-a-backend.md, line by line: in a copy of the tree, and out of it with what install wrote. They are
# about what to write, so the compiler does not optimise, and what is installed is a copy of the build under test.

. tests/build/tap.sh
. tests/build/inner_make.sh
need pkg-config
pkg-config --exists cmocka || skip "cmocka is not found (Debian: libcmocka-dev)"

# the lines between ```sh and ``` under a heading, as a script
recipe()
{
	awk -v heading="## $1" '
		/^## / { in_part = $0 == heading }
		/^ *```/ { in_code = in_part && /```sh/; indent = index($0, "`") - 1; next }
		in_code { print substr($0, indent + 1) }' docs/adding-a-backend.md
}

follow()
{
	(
		cd "$1" || exit 1
		{ echo 'set -e'; cat "$2"; } > "$scratch/script"
		env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u AR -u SAN -u EMULATOR -u SUITE \
			-u CASE -u FULL -u WITHOUT -u O -u TENON_CASE -u KCONFIG_CONFIG -u TENON_BUILD \
			-u TENON_COMPAT_LIBRARY -u CMOCKA_MESSAGE_OUTPUT CFLAGS=-O0 sh "$scratch/script"
	)
}

passes()
{
	"$@" > "$scratch/log" 2>&1 || { cat "$scratch/log"; return 1; }
	cat "$scratch/log"
	grep -q '[0-9][0-9] passed, 0 failed\|PASSED.* [0-9][0-9]* test' "$scratch/log"
}

tree=$scratch/tree
here=$scratch/here
root=$scratch/root
recipe "The recipe" > "$scratch/in-tree"
recipe "Out of the tree" > "$scratch/out-of-tree"
it "the page has recipes" test -s "$scratch/in-tree" -a -s "$scratch/out-of-tree"
it "the tree is copied" copy_source "$tree"
sums_of()
{
	(cd "$1" && find . -type f ! -path './build*' -exec cksum {} + | LC_ALL=C sort)
}
sums_of "$tree" > "$scratch/sums"
it "the recipe in the tree ends with a green suite" passes follow "$tree" "$scratch/in-tree"
lists_demo()
{
	"$@" > "$scratch/log" 2>&1
	grep '^demo:0 *demo device' "$scratch/log" || { cat "$scratch/log"; return 1; }
}
it "the command lists the new device" lists_demo "$tree/build/tenon" devices

# a payload of the new kind: the word, a table with one kernel without arguments, the number of its function
write_model()
{
	printf '\4\0\0\0\0\0\0\0demo\1\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0nothing' > "$1"
	printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >> "$1"
	printf '\1\0\0\0\0\0\0\0\0\0\0\0' >> "$1"
}
model=$scratch/model.demo
shows_model()
{
	"$@" inspect "$model" > "$scratch/log" 2>&1
	grep 'demo  *demo  *1 kernel.*ready' "$scratch/log" || { cat "$scratch/log"; return 1; }
}
write_model "$model"
it "the command inspects a file of the new kind" shows_model "$tree/build/tenon"
it "the command runs it" "$tree/build/tenon" run "$model" --function nothing --device demo:0
# an option, a line of the table, and the suite's program with its line: all else is in the folder
touches_little()
{
	sums_of "$tree" | diff "$scratch/sums" - | sed -n 's/^[<>] [0-9]* [0-9]* //p' | sort -u |
		grep -v '^\./devices/demo/' > "$scratch/touched"
	printf './%s\n' Kconfig devices/backends.h tests/cts/Kbuild tests/cts/demo_backend.c |
		diff - "$scratch/touched"
}
it "nothing else was touched" touches_little

it "what is built can be copied" copy_build "$scratch/built"
it "install succeeds" make_in_copy O="$scratch/built" testconfig prefix="$root" libdir="$root/lib" install
export PKG_CONFIG_PATH="$root/lib/pkgconfig:${PKG_CONFIG_PATH:-}" LD_LIBRARY_PATH="$root/lib"
tenon=$PWD
export tenon here
mkdir -p "$here"
it "the recipe out of the tree ends with a green suite" passes follow "$here" "$scratch/out-of-tree"
it "the plug-in needs nothing but the library and libc" not sh -c \
	"readelf -d '$here/backends/demo.so' | grep NEEDED | grep -v 'libtenon.so\|libc.so'"
plugged()
{
	TENON_BACKEND_PATH=$here/backends "$root/bin/tenon" "$@"
}
it "the installed command lists the plug-in's device" lists_demo plugged devices
it "the installed command inspects a file of the plug-in's kind" shows_model plugged

chmod o+w "$here/backends/demo.so"
not_used()
{
	plugged doctor > "$scratch/log"
	grep -A1 'warn  plug-in .*demo.so: anybody can write to it' "$scratch/log" || { cat "$scratch/log"; return 1; }
}
it "one that anybody can write to is not used, and doctor says so" not_used
finish
