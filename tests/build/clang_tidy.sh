#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clang-tidy over rooms that read foreign bytes, by the checks of .clang-tidy: a second of a processor for a source. What is left out of
# its messages is listed here.

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
	# stack and boundary of a numbering have as much as was counted; the sizes of pointers, which are the keys
	# a ring whose packet is checked before its room is taken; a list of as many programs as were counted
	sed -e '/blob_number\.c:.*\[clang-analyzer-core\./d; /blob_number\.c:.*\[bugprone-sizeof-expression\]/d' \
		-e '/ring\(_session\)*\.c:.*\[clang-analyzer-core\.\(NonNullParamChecker\|NullDereference\)\]/d' \
		-e '/payload_prepare\.c:.*\[clang-analyzer-core\.CallAndMessage\]/d'
}

tidied()
{
	clang-tidy --quiet "$@" -- -std=gnu11 -Iinclude -iquote . -iquote "$TENON_BUILD/include" -I/usr/include/cjson -D_GNU_SOURCE \
		-D_FILE_OFFSET_BITS=64 -DTENON_VERSION_TEXT='"0"' -include "$TENON_BUILD/include/generated/autoconf.h" \
		-include "$scratch/errors.h" > "$scratch/all" 2> "$scratch/why" ||
		{ [ $? -eq 1 ] && grep -q ': error: ' "$scratch/all"; } || { cat "$scratch/why"; return 1; }
	grep ': \(warning\|error\): ' "$scratch/all" | known
}

checked()
{
	for source in "$1"/*.c; do
		[ ! -e "$TENON_BUILD/${source%.c}.o" ] || echo "$source"
	done > "$scratch/read"
	[ -s "$scratch/read" ] || { echo "no source of $1 was compiled"; return 1; }
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
for room in runtime/blob runtime/payload driver/ring; do
	it "$room has nothing to find" checked "$room"
done
finish
