#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every fuzz target with clang's fuzzer: the seeds, the corpus, and what it makes of them, 40000 runs in all. The same inputs each
# time, so that the verdict is the tree's and not luck's. FUZZ_SECONDS=N hunts with other inputs, N seconds a target.
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

# objects that targets share; the other drivers are left out
shared= targets=
for source in tests/fuzz/*.c; do
	case $source in
	*_fuzz.c)	targets="$targets $(basename "$source" _fuzz.c)" ;;
	*/allocation.c | */campaign*.c | */execution.c | */replay.c | */seeds.c) ;;
	*)		shared="$shared $folder/${source%.c}.o" ;;
	esac
done

# objects_of TARGET: its own, and of what writes its seeds
objects_of()
{
	echo "$folder/tests/fuzz/$1_fuzz.o"
	case $1 in
	rpc_reply)	echo "$folder/tests/remote/use_session.o" ;;
	rocket)		echo "$folder/tests/npu/rocket_stream.o $folder/devices/cmdstream/cmdstream_emit.o" ;;
	blob_* | example_json)
		for source in examples/example_json/example_json*.c; do
			echo "$folder/${source%.c}.o"
		done ;;
	esac
}

# it links the targets in a fraction of the time
command -v ld.lld >/dev/null 2>&1 && lld=-fuse-ld=lld || lld=
# shellcheck disable=SC2046
libraries="$folder/tools/tool.a $folder/libtenon.a $(echo $(pkg-config --libs libcjson libzip libpcre2-8)) -lm -lpthread -ldl"

build()
{
	objects=$(for target in $targets; do objects_of "$target"; done | tr ' ' '\n' | sort -u)
	# No overflow of counters: what clang instruments must not be thrown away by the linker. Most of the time went into
	# optimising it.
	# shellcheck disable=SC2086
	inner_make O="$folder" CC=clang testconfig && inner_make O="$folder" CC=clang SAN=address,undefined \
		CFLAGS='-O0 -g1 -fsanitize=fuzzer-no-link' "$folder/libtenon.a" "$folder/tools/tool.a" $shared $objects
}

# the bounds of a target: files that commands work on are larger, and a model may ask for memory
bounds_of()
{
	if [ -n "${FUZZ_SECONDS:-}" ]; then
		echo "-max_total_time=$FUZZ_SECONDS"
	else
		echo "-seed=1 -runs=40000"
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
	# shellcheck disable=SC2046,SC2086
	clang -fsanitize=fuzzer,address,undefined $lld $(objects_of "$target") $shared $libraries $wrap \
		-o "$scratch/${target}_fuzz" || return
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
for target in $targets; do
	it "$target finds nothing" fuzz "$target"
done
finish
