#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every fuzz target with clang's fuzzer, beginning with the seeds and the corpus. The same inputs each time,
# so that the verdict is the tree's and not luck's; FUZZ_SECONDS=N hunts with other ones, N seconds a target.
# What crashes is kept in build/tests/fuzz/found: put it into tests/fuzz/corpus/TARGET/ with the repair.

. tests/build/tap.sh
. tests/build/inner_make.sh

need clang
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' > "$scratch/p.c"
clang -fsanitize=fuzzer,address "$scratch/p.c" -o "$scratch/p" 2>/dev/null ||
	skip "clang has no fuzzer here (Debian: libclang-rt-dev)"
"$scratch/p" -runs=1 2>/dev/null || skip "a program built with -fsanitize=fuzzer does not start here"

folder=$(kept fuzz)
found=$TENON_BUILD/tests/fuzz/found
mkdir -p "$found"

# sources that targets share; the other drivers are left out
shared=
for source in tests/fuzz/*.c; do
	case $source in
	*_fuzz.c | */allocation.c | */campaign*.c | */execution.c | */replay.c | */seeds.c)	;;
	*)	shared="$shared $source" ;;
	esac
done
# shellcheck disable=SC2046
libraries="$folder/tools/tool.a $folder/libtenon.a $(echo $(pkg-config --libs libcjson libzip libpcre2-8)) -lm -lpthread -ldl"

build()
{
	# no overflow of counters: what clang instruments must not be thrown away by the linker
	inner_make O="$folder" CC=clang SAN=address,undefined CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' \
		testconfig "$folder/libtenon.a" "$folder/tools/tool.a"
}

# the bounds of a target: files that commands work on are larger, and a model may ask for memory
bounds_of()
{
	if [ -n "${FUZZ_SECONDS:-}" ]; then
		echo "-max_total_time=$FUZZ_SECONDS"
	else
		echo "-seed=1 -runs=20000"
	fi
	case $1 in
	run_* | npy_* | tflite_run)	echo "-max_len=65536 -malloc_limit_mb=0" ;;
	inspect)	echo "-max_len=65536 -malloc_limit_mb=64" ;;
	*)		echo "-max_len=8192 -malloc_limit_mb=64" ;;
	esac
}

fuzz()
{
	target=$1
	mkdir -p "$scratch/$target" "$scratch/seeds-$target"
	wrap=
	[ "$target" = run_tree ] && wrap=-Wl,--wrap=relax_create
	[ "$target" = tflite_run ] && wrap=-Wl,--wrap=ethosu_sim_run
	# what writes its seeds, and what it does
	writer=
	[ "$target" = rpc_reply ] && writer=tests/remote/use_session.c
	[ "$target" = rocket ] && writer='tests/npu/rocket_stream.c lib/cmdstream_emit.c'
	case $target in
	blob_* | example_json)	writer=$(echo examples/example_json/example_json*.c) ;;
	esac
	# shellcheck disable=SC2086
	clang -O1 -g -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -Iinclude -iquote . \
		-include "$folder/include/generated/autoconf.h" "tests/fuzz/${target}_fuzz.c" $writer $shared \
		$libraries $wrap -o "$scratch/${target}_fuzz" || return
	"$TENON_BUILD/tests/fuzz/${target}_fuzz" --write-seeds "$scratch/seeds-$target" || return
	corpus=
	[ -d "tests/fuzz/corpus/$target" ] && corpus=tests/fuzz/corpus/$target
	# libFuzzer ends a program without its exit handlers: what they would remove goes with our folder.
	# intercept_tls_get_addr=0: LeakSanitizer follows its records of thread-local storage into libraries that
	# were closed, and crashes about once in five runs of run_tree
	# shellcheck disable=SC2046,SC2086
	FUZZ_SCRATCH=$scratch ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=64:intercept_tls_get_addr=0 \
		OCL_ICD_VENDORS=/nonexistent VK_ICD_FILENAMES=/nonexistent VK_DRIVER_FILES=/nonexistent TENON_BACKENDS=cpu \
		"$scratch/${target}_fuzz" $(bounds_of "$target") -rss_limit_mb=1024 -timeout=10 \
		-artifact_prefix="$found/$target-" "$scratch/$target" "$scratch/seeds-$target" $corpus
}

it "the library is built for the fuzzer" build
for source in tests/fuzz/*_fuzz.c; do
	target=$(basename "$source" _fuzz.c)
	it "$target finds nothing" fuzz "$target"
done
finish
