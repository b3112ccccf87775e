#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the caller says about tools and flags reaches every command, and nothing replaces it. "make -n" says which commands
# that are; a small build shows that the same words again build nothing.

. tests/build/tap.sh
. tests/build/inner_make.sh

folder=$scratch/out
log=$scratch/log

build()
{
	inner_make O="$folder" V=1 "$@" > "$log" 2>&1 || { tail -n 20 "$log"; return 1; }
}

# each compiler call that makes an object (or that links) has the word
in_each()
{
	grep -e "$1" "$log" | grep -v -e ' -x c ' > "$scratch/lines"
	[ -s "$scratch/lines" ] || { echo "no command like $1"; return 1; }
	not grep -v -e "$2" "$scratch/lines"
}

compile='-c -o' link=' -o [^ ]*\(tenon\|\.so[.0-9]*\|examples/[a-z_]*\) '

unknown_symbol()
{
	echo CONFIG_NO_SUCH_THING=y >> "$folder/.config"
	if inner_make O="$folder" KCONFIG_WERROR=1 all > "$log" 2>&1; then
		return 1
	fi
	cat "$log"
	grep -q '\.config:[0-9]*: unknown symbol CONFIG_NO_SUCH_THING' "$log"
	inner_make O="$folder" all > "$log" 2>&1 && grep -q 'CONFIG_NO_SUCH_THING is left out' "$log"
}

flagged()
{
	build CC=gcc CFLAGS='-O1 -DFROM_CALLER' CPPFLAGS=-DCPP_FROM_CALLER LDFLAGS='-Wl,-z,now -Wl,-z,relro' "$@"
}

it "the defaults are a configuration" build defconfig
it "an object alone is made in a new folder, with what it includes" build "$folder/tools/doctor/doctor_npu.o"
it "a build with the caller's flags has commands" flagged -n all
it "CFLAGS reach each compilation" in_each "$compile" ' -O1 -DFROM_CALLER '
it "CPPFLAGS reach each compilation" in_each "$compile" ' -DCPP_FROM_CALLER '
it "LDFLAGS reach each link" in_each "$link" ' -Wl,-z,now '
it "no optimisation level but the caller's is used" not grep -q -e ' -O2' "$log"
it "nobody asks for this very processor" not grep -q -e '-march=native\|-mtune=native' "$log"
it "warnings are not errors" not grep -q -e '-Werror' "$log"

it "a small build with the caller's flags succeeds" flagged tinyconfig all
compiled=$(grep -c -e "$compile" "$log")
it "its CFLAGS reach each compilation" in_each "$compile" ' -O1 -DFROM_CALLER '
it "the same words again build nothing" flagged all
it "indeed nothing" not grep -q -e "$compile" "$log"
it "other flags build anew" build all CC=gcc CFLAGS=-O0
it "each with them" in_each "$compile" ' -O0 '
it "and everything" test "$(grep -c -e "$compile" "$log")" -eq "$compiled" -a "$compiled" -gt 0

it "an unknown symbol in the configuration is left out with a message, or stops the build with KCONFIG_WERROR=1" unknown_symbol
finish
