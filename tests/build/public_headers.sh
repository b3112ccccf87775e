#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Public headers stand alone, in plain C11 and in C++, and know nothing of the configuration

. tests/build/tap.sh

cc=${CC:-cc}
cxx=
for candidate in "${CXX:-}" c++ g++ clang++; do
	if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1; then
		cxx=$candidate
		break
	fi
done

# once without and once with each header in front of itself: guards hold
stands_alone()
{
	printf '#include <%s>\n#include <%s>\nint one_line_of_code;\n' "$2" "$2" > "$scratch/alone.$3"
	$1 -Iinclude -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$scratch/alone.$3"
}

for header in include/tenon/*.h include/tenon/backend/*.h; do
	name=${header#include/}
	it "$name compiles alone as C11" stands_alone "$cc -std=c11" "$name" c
	if [ -n "$cxx" ]; then
		it "$name compiles alone as C++11" stands_alone "$cxx -std=c++11" "$name" cc
	fi
done
it "no header asks for the configuration" not grep -n 'CONFIG_[A-Z]\|autoconf' include/tenon/*.h include/tenon/backend/*.h

# the form of the kernel's documentation: a comment above each declared function that names it
documented()
{
	status=0
	for name in $(sh scripts/declared-names include/tenon/*.h include/tenon/backend/*.h); do
		grep -q "^ \* $name - \|^/\*\* $name - " include/tenon/*.h include/tenon/backend/*.h || { echo "$name"; status=1; }
	done
	return $status
}
it "every declared function has its comment" documented

# so that CONFIG_ERROR_MESSAGES=n leaves their texts out; devices/null is for copying out of the tree
raises_without_texts()
{
	! grep -rlE '\<tenon_(error|cursor_error|error_in)\(' --include='*.c' lib runtime rpc link llm devices driver |
		grep -v '^devices/null/' | xargs grep -LE '"lib/(brief_errors|switched_off)[.]h"' | grep .
}
it "what raises errors includes lib/brief_errors.h" raises_without_texts
finish
