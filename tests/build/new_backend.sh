#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The recipes of docs/adding-a-backend.md, and that of runtime/model/README.md for an executor, line by line: in a copy of the tree, and out of it with what install wrote. They are
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
		in_code { print substr($0, indent + 1) }' "${2:-docs/adding-a-backend.md}"
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
# An NPU has more: command streams, a queue with a thread, the kernel's buffers; and it is a plug-in. All of it is in the folder
cat > "$scratch/demo_npu.c" << 'END'
/* What an NPU shares with others. */
#include "devices/cmdstream/cmdstream_executable.h"
#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/demo/demo.h"
#include "devices/mapped/worker_queue.h"
#include "driver/dmabuf/dmabuf.h"
#include "driver/drm/drm.h"
#include "driver/uio/uio.h"

typedef void (*part)(void);
extern const part demo_parts[];
__attribute__((used)) const part demo_parts[] = {
	(part)cmdstream_executable_create, (part)cmdstream_verify_kernels, (part)worker_queue_open,
	(part)worker_submit, (part)drm_open, (part)drm_map, (part)dmabuf_begin, (part)uio_open,
};
END
recipe "Add an executor" runtime/model/README.md > "$scratch/executor"
recipe "The recipe" | awk -v npu="$scratch/demo_npu.c" -v executor="$scratch/executor" '
	/^make / {
		print "cp \"" npu "\" devices/demo/demo_npu.c"
		print "sed -i \"s/default y/default m/\" devices/demo/Kconfig"
		print "cat >> devices/demo/Kbuild << \"END\""
		print "lib-$(CONFIG_DEVICE_DEMO) += demo_npu.o $(cmdstream-objs) $(worker-queue-objs) $(syscall-objs) $(drm-objs) $(dmabuf-objs) $(uio-objs)"
		print "END"
		while ((getline line < executor) > 0)
			print line
	}
	{ print }' > "$scratch/in-tree"
recipe "Out of the tree" > "$scratch/out-of-tree"
it "the page has recipes" test -s "$scratch/in-tree" -a -s "$scratch/out-of-tree" -a -s "$scratch/executor"
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
checks_model()
{
	"$@" verify --kind demo "$model" > "$scratch/log" 2>&1 && grep 'model.demo: no fault: for demo, ' "$scratch/log" ||
		{ cat "$scratch/log"; return 1; }
	printf '\4\0\0\0\0\0\0\0dem2' > "$scratch/other.demo"
	"$@" verify --kind demo "$scratch/other.demo" > "$scratch/log" 2>&1
	[ $? -eq 3 ] && grep 'other.demo at 0x.*"dem2"' "$scratch/log" || { cat "$scratch/log"; return 1; }
	"$@" verify --kind none "$model" 2>&1 | grep 'known: .*demo'
}
it "the command checks it by its format" checks_model "$tree/build/tenon"
it "it is a plug-in, with all that it shares with others" test -s "$tree/build/plugins/demo.so"
# the library has its row
executor_is_known()
{
	test -s "$tree/build/plugins/demo_model.so" && grep -q 'CONFIG_DEMO_MODEL' "$tree/build/libtenon.so" &&
		grep -q 'demo\.Model' "$tree/build/libtenon.so"
}
it "so is the new executor, and the library knows its models" executor_is_known
rooms_agree()
{
	(cd "$tree" && TENON_SOURCE=. TENON_BUILD=build sh tests/build/rooms.sh)
}
it "the folders need no row in the table of rooms" rooms_agree
# A line for each folder in Kconfig, and the suite's program with its line: all else is in the folders. A row of docs/size.md, by
# hand, is the fourth
touches_little()
{
	sums_of "$tree" | diff "$scratch/sums" - | sed -n 's/^[<>] [0-9]* [0-9]* //p' | sort -u |
		grep -v '^\./devices/demo/\|^\./runtime/demo_model/' > "$scratch/touched"
	printf './%s\n' Kconfig tests/cts/Kbuild tests/cts/demo_backend.c |
		diff - "$scratch/touched"
}
it "three files outside of the folders were touched" touches_little

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
it "and checks it by the plug-in's format" checks_model plugged

chmod o+w "$here/backends/demo.so"
not_used()
{
	plugged doctor > "$scratch/log"
	grep -A1 'warn  plug-in .*demo.so: anybody can write to it' "$scratch/log" || { cat "$scratch/log"; return 1; }
}
it "one that anybody can write to is not used, and doctor says so" not_used
finish
