#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gcc's analyzer over the rooms that read foreign bytes: two seconds of a processor for a file. What is left out is listed here.

. tests/build/tap.sh

need gcc
echo 'int x;' | gcc -fanalyzer -x c -c - -o /dev/null 2>/dev/null || skip "this gcc has no analyzer"

# malloc-leak: it loses memory that a struct keeps, and LeakSanitizer looks for what is lost
# use-of-uninitialized-value: it does not see what pread() and cursors write; valgrind's and the compilers' own warnings do
options='-fanalyzer -O1 -Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value'

# An error returns the status that it gets: the analyzer goes on behind it otherwise, and finds what is NULL then.
cat > "$scratch/errors.h" << 'EOF'
#include <tenon/backend/cursor.h>
#include <tenon/error.h>
#define tenon_error(status, ...) (0 ? tenon_error(status, __VA_ARGS__) : (status))
#define tenon_error_in(status, ...) (0 ? tenon_error_in(status, __VA_ARGS__) : (status))
#define tenon_cursor_error(c, status, ...) (0 ? tenon_cursor_error(c, status, __VA_ARGS__) : (status))
EOF

known()
{
	# qsort() of no entries: sizes above 0 come from entries alone. params_reserve() fails when it reserves nothing.
	# operator_fault() returns the status that it gets, too. What loads words was given bytes that were counted.
	sed -e '/disk_cache_trim\.c:.*\[-Wanalyzer-null-argument\]/d; /params_list\.c:.*\[-Wanalyzer-null-argument\]/d' \
		-e '/tflite_variables\.c:.*\[-Wanalyzer-null-dereference\]/d; /cursor_fast\.h:.*\[-Wanalyzer-null-dereference\]/d'
}

analyzed()
{
	: > "$scratch/read"
	for source in "$1"/*.c; do
		[ -e "$TENON_BUILD/${source%.c}.o" ] || continue
		echo "$source" >> "$scratch/read"
		# shellcheck disable=SC2086
		gcc -std=gnu11 -Wno-all $options -Iinclude -iquote . -iquote "$TENON_BUILD/include" -I/usr/include/cjson -D_GNU_SOURCE \
			-D_FILE_OFFSET_BITS=64 -DTENON_VERSION_TEXT='"0"' -include "$TENON_BUILD/include/generated/autoconf.h" \
			-include "$([ "$source" = lib/error.c ] && echo stddef || echo "$scratch/errors").h" -c "$source" -o /dev/null 2>&1
	done | grep 'warning: .*analyzer\|error: ' | known > "$scratch/messages"
	cat "$scratch/messages"
	[ -s "$scratch/read" ] || echo "no source of $1 was compiled"
	[ -s "$scratch/read" ] && [ ! -s "$scratch/messages" ]
}

finds_what_is_wrong()
{
	printf '#include <stdlib.h>\nvoid f(void *p);\nvoid f(void *p) { free(p); free(p); }\n' > "$scratch/wrong.c"
	# shellcheck disable=SC2086
	gcc $options -c "$scratch/wrong.c" -o /dev/null 2>&1 | known | grep -q analyzer-double-free
}

cd "$TENON_SOURCE" || exit
it "memory that is freed twice is found" finds_what_is_wrong
for room in lib runtime/blob runtime/payload runtime/model runtime/tflite driver/ring rpc/wire link/module; do
	it "$room has nothing to find" analyzed "$room"
done
finish
