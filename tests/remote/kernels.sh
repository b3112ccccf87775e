#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Kernels that the server built for a file: a later session with this file compiles none, one with another file all.

. tests/build/tap.sh

[ -z "${EMULATOR:-}" ] || skip "the recorded model is for this machine"
[ "$(uname -m)" = x86_64 ] || skip "the recorded model is for x86-64"
for option in REMOTE KERNEL_CACHE REMOTE_CLIENT DEVICE_OPENCL DSO TVM_LEGACY GRAPH_EXECUTOR; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -z "${SAN:-}" ] || skip "the counting library is built without sanitizers"
tenon=$TENON_COMMAND
"$tenon" devices 2> "$scratch/err" | grep -q '^opencl:0' || skip "no OpenCL device"

# A library of OpenCL that prints a line for each source. It does what a hostile source might: it writes to all memory that the
# process shares with the server. Where a file "held" asks for it, it waits in processes without the client's file.
cat > "$scratch/counting.c" << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rpc/server/session.h"

static void write_to_server(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct session_watch *watch;
	unsigned long start;
	char line[1000];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, " rw-s ") && strstr(line, "/dev/zero") && sscanf(line, "%lx", &start) == 1) {
			watch = (void *)start;
			watch->loads = watch->missed = 1;
		}
	if (maps)
		fclose(maps);
}

static void wait_while_held(void)
{
	if (access(FOLDER "/held", F_OK) || !access("third.so", F_OK))
		return;
	fprintf(stderr, "process %d waits\n", (int)getpid());
	while (!access(FOLDER "/held", F_OK))
		usleep(10000);
}

void *clCreateProgramWithSource(void *context, unsigned int count, const char **text, const size_t *size, int *status)
{
	void *(*next)(void *, unsigned int, const char **, const size_t *, int *);

	*(void **)&next = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
	fprintf(stderr, "a source is compiled\n");
	write_to_server();
	wait_while_held();
	return next(context, count, text, size, status);
}
END
${CC:-cc} -shared -fPIC -I. -D"FOLDER=\"$scratch\"" -o "$scratch/counting.so" "$scratch/counting.c" -Wl,--no-as-needed -l:libOpenCL.so.1 -ldl 2> "$scratch/err" ||
	skip "the loader of OpenCL cannot be linked"

address=unix:$scratch/socket
mkdir "$scratch/base"
TENON_OPENCL_LIBRARY=$scratch/counting.so "$tenon" rpc serve --listen "$address" --folder "$scratch/base" \
	--allow-read "$scratch/counting.so" 2> "$scratch/log" &
server=$!
trap 'kill $server 2> "$scratch/kill"; wait; rm -rf "$scratch"' EXIT
tries=0
until [ -S "$scratch/socket" ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] && kill -0 $server || { sed 's/^/# /' "$scratch/log"; exit 1; }
	sleep 0.1
done
! grep -q 'kernel lacks.*Landlock' "$scratch/log" || skip "this kernel has no Landlock"
model=tests/interop/data/tvm-0.18/graph_mlp_opencl

# changed NAME: a file with the same kernels, and other bytes: nothing reads what is behind an ELF file
changed()
{
	cat $model/graph.so > "$scratch/$1.so"
	echo "$1" >> "$scratch/$1.so"
}

changed other

# compiled: number of sources that sessions have compiled
compiled()
{
	grep -c 'session [0-9]*: a source is compiled' "$scratch/log"
}

# compiles NUMBER FILE: a session with the file compiles so many
compiles()
{
	before=$(compiled)
	"$tenon" run "$2" --remote "$address" --device opencl:0 --input "x=@$model/in_x.npy" --expect "@$model/out0.npy" \
		--rtol 1e-4 --atol 1e-5 > "$scratch/out" 2>&1 && grep -q 'expected: equal' "$scratch/out" || { cat "$scratch/out"; return 1; }
	echo "$(($(compiled) - before)) compiled, expected $1"
	[ $(($(compiled) - before)) -eq "$1" ]
}

# are_built NUMBER: until the server has the kernels of so many files
are_built()
{
	tries=0
	until [ "$(find "$scratch/base" -path '*/cache/kernels/*' -size +0 | wc -l)" -eq "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || { cat "$scratch/log"; find "$scratch/base"; return 1; }
		sleep 0.1
	done
}

# it waits for what the server builds
a_session_comes_at_once()
{
	changed next
	compiles 6 "$scratch/next.so" && compiles 0 "$scratch/next.so" && are_built 3
}

# goes_on: what builds waits in the library, and a client that loads no module does not end it
goes_on()
{
	changed third
	: > "$scratch/held"
	compiles 6 "$scratch/third.so" || return 1
	tries=0
	until builder=$(sed -n 's/.*: process \([0-9]*\) waits$/\1/p' "$scratch/log" | tail -n 1) && [ -n "$builder" ]; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || { cat "$scratch/log"; return 1; }
		sleep 0.1
	done
	"$tenon" rpc ping "$address" --count 100 && kill -0 "$builder"
}

ends()
{
	compiles 0 "$scratch/other.so" || return 1
	tries=0
	while kill -0 "$builder" 2> "$scratch/kill"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { echo "process $builder still builds"; return 1; }
		sleep 0.1
	done
}

begins_again()
{
	rm "$scratch/held"
	are_built 4
}

it "the first session with a file compiles its kernels" compiles 6 $model/graph.so
it "then the server builds them" are_built 1
it "the second session compiles none" compiles 0 $model/graph.so
it "a session with another file that has the same kernels compiles them" compiles 6 "$scratch/other.so"
it "for which the server builds them, too" are_built 2
it "then it compiles none" compiles 0 "$scratch/other.so"
it "a session that comes right after the first with its file compiles none" a_session_comes_at_once
it "a client that loads no module is served while the server builds" goes_on
it "a client that loads one ends what builds" ends
it "then the server builds again" begins_again
finish
