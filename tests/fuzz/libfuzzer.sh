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

build()
{
	# no overflow of counters: what clang instruments must not be thrown away by the linker
	inner_make O="$folder" CC=clang SAN=address,undefined CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' \
		defconfig "$folder/libtenon.a"
}

fuzz()
{
	target=$1
	mkdir -p "$scratch/$target" "$scratch/seeds-$target"
	clang -O1 -g -std=gnu11 -fsanitize=fuzzer,address,undefined -Iinclude -iquote . \
		"tests/fuzz/${target}_fuzz.c" tests/fuzz/use_module.c \
		tests/fuzz/use_executable.c tests/fuzz/relax_program.c "$folder/libtenon.a" -lpthread -ldl \
		-o "$scratch/${target}_fuzz" || return
	"$TENON_BUILD/tests/fuzz/${target}_fuzz" --write-seeds "$scratch/seeds-$target" || return
	corpus=
	[ -d "tests/fuzz/corpus/$target" ] && corpus=tests/fuzz/corpus/$target
	if [ -n "${FUZZ_SECONDS:-}" ]; then
		bounds="-max_total_time=$FUZZ_SECONDS"
	else
		bounds="-seed=1 -runs=300000"
	fi
	"$scratch/${target}_fuzz" $bounds -rss_limit_mb=1024 \
		-malloc_limit_mb=64 -timeout=10 -max_len=8192 -artifact_prefix="$found/$target-" \
		"$scratch/$target" "$scratch/seeds-$target" $corpus
}

it "the library is built for the fuzzer" build
for source in tests/fuzz/*_fuzz.c; do
	target=$(basename "$source" _fuzz.c)
	it "$target finds nothing" fuzz "$target"
done
finish
