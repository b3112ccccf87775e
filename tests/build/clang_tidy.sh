#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clang-tidy over rooms that read foreign bytes, by the checks of .clang-tidy: a second of a processor for a source, so lib/ and link/ are
# left to NIGHTLY=1. What is left out of its messages is listed here.

. tests/build/tap.sh

need clang-tidy

# An error returns the status that it gets: clang goes on behind it otherwise, and finds what is not set then.
cat > "$scratch/errors.h" << 'END'
#include <tenon/backend/cursor.h>
#include <tenon/error.h>
#define tenon_error(status, ...) (0 ? tenon_error(status, __VA_ARGS__) : (status))
#define tenon_error_in(status, ...) (0 ? tenon_error_in(status, __VA_ARGS__) : (status))
#define tenon_cursor_error(c, status, ...) (0 ? tenon_cursor_error(c, status, __VA_ARGS__) : (status))
END

known()
{
	# lists of pointers, whose sizes are meant
	# stack and boundary of a numbering have as much as was counted
	# a ring whose packet is checked before its room is taken; a list of as many programs as were counted
	# bytes that pread() puts into a struct; a text whose function returned the status that it got
	# the head of a file, and the stem of a path that goes on
	# va_start() is not seen in all but the first source of a run
	# a list without folders is not copied; rows that are freed with what programs read of them
	# cJSON_IsObject(NULL) is false; lists that are made, and have as many entries as they count
	sed -e '/\[bugprone-sizeof-expression\]/{/pointer to aggregate/d}' \
		-e '/blob_number\.c:.*\[clang-analyzer-core\./d' \
		-e '/ring\(_session\)*\.c:.*\[clang-analyzer-core\.\(NonNullParamChecker\|NullDereference\)\]/d' \
		-e '/payload_prepare\.c:.*\[clang-analyzer-core\.CallAndMessage\]/d' \
		-e '/elf_opening\.c:.*\[clang-analyzer-core\.\(UndefinedBinaryOperatorResult\|uninitialized\.Assign\)\]/d' \
		-e '/json_read\.c:.*\[clang-analyzer-core\.uninitialized\.Branch\]/d' \
		-e '/\(disk_cache\|link_payloads\)\.c:.*\[bugprone-not-null-terminated-result\]/d' \
		-e '/\[clang-analyzer-valist\.Uninitialized\]/d' \
		-e '/link_request\.c:.*\[clang-analyzer-core\.NonNullParamChecker\]/d' \
		-e '/\/inspection\.c:.*\[clang-analyzer-unix\.Malloc\]/d' \
		-e '/mlf_\(aot\|read\)\.c:.*\[clang-analyzer-core\.\(NonNullParamChecker\|NullDereference\)\]/d' \
		-e '/\(generate_mortise\|operator_graph\)\.c:.*\[clang-analyzer-core\.\(UndefinedBinaryOperatorResult\|uninitialized\.Assign\)\]/d'
}

tidied()
{
	clang-tidy --quiet "$@" -- -std=gnu11 -Iinclude -iquote . -iquote "$TENON_BUILD/include" -I/usr/include/cjson -D_GNU_SOURCE \
		-D_FILE_OFFSET_BITS=64 -DTENON_VERSION_TEXT='"0"' -include "$TENON_BUILD/include/generated/autoconf.h" \
		-include "$scratch/errors.h" > "$scratch/all" 2> "$scratch/why" ||
		{ [ $? -eq 1 ] && grep -q ': error: ' "$scratch/all"; } || { cat "$scratch/why"; return 1; }
	grep ': \(warning\|error\): ' "$scratch/all" | known
}

# compiled ROOM: its sources that this build has, into the file "read"
compiled()
{
	for source in "$1"/*.c; do
		[ ! -e "$TENON_BUILD/${source%.c}.o" ] || echo "$source"
	done > "$scratch/read"
	[ -s "$scratch/read" ]
}

checked()
{
	# shellcheck disable=SC2046
	tidied $(cat "$scratch/read") > "$scratch/messages" || return
	cat "$scratch/messages"
	[ ! -s "$scratch/messages" ]
}

finds_what_is_wrong()
{
	printf '#include <string.h>\nint f(char *p);\nint f(char *p)\n{\n\tmemset(p, sizeof(p), 0);\n\treturn !p;\n}\n' > "$scratch/wrong.c"
	cp .clang-tidy "$scratch"
	tidied "$scratch/wrong.c" | grep 'bugprone-'
}

cd "$TENON_SOURCE" || exit
it "memset() of no bytes is found" finds_what_is_wrong
for room in runtime/blob runtime/payload driver/ring rpc/wire ${NIGHTLY:+lib link link/code link/mlf link/module link/partition}; do
	if compiled "$room"; then
		it "$room has nothing to find" checked
	else
		skip_case "$room has nothing to find" "this build leaves it out"
	fi
done
finish
