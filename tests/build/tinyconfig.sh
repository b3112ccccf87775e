#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tinyconfig builds, works, and is as small as promised

. tests/build/tap.sh
. tests/build/inner_make.sh
need size

limit=24576
folder=$(kept tinyconfig)

small_enough()
{
	sh tests/bench/tiny-size "$folder" > "$scratch/sizes" || return
	read -r bytes < "$scratch/sizes"
	echo "$bytes bytes of text and data, at most $limit"
	[ "$bytes" -gt 0 ] && [ "$bytes" -le $limit ]
}

calls_a_module()
{
	${CC:-cc} -O2 -shared -fPIC -Iinclude tests/build/add_modern.c -o "$scratch/add.so" &&
		"$folder/examples/call" "$scratch/add.so" add > "$scratch/sum" && cat "$scratch/sum" &&
		grep -q '^0.5 1.5 2.5 ' "$scratch/sum"
}

# the compiled code wants this one name of the program that opens it
calls_a_module_of_tvm()
{
	module=tests/interop/data/tvm-0.27.0.post1/host_vecadd_symbolic/lib.so
	name=TVMFFIErrorSetRaisedFromCStrParts
	${CC:-cc} -Wl,--gc-sections "$folder/examples/call.o" -Wl,--export-dynamic-symbol=$name \
		-Wl,-u,$name "$folder/libtenon.a" -pthread -ldl -o "$scratch/call" &&
		"$scratch/call" "$module" vecadd_n > "$scratch/sum" && cat "$scratch/sum" &&
		grep -q '^0.5 1.5 2.5 ' "$scratch/sum"
}

refuses_a_missing_file()
{
	if "$folder/examples/call" "$scratch/nowhere.so" > "$scratch/words" 2>&1; then
		return 1
	fi
	cat "$scratch/words"
	[ -s "$scratch/words" ]
}

it "tinyconfig builds without a warning" \
	inner_make O="$folder" CPPFLAGS=-Werror tinyconfig all
it "a program with it loads and calls a module" calls_a_module
case $(uname -m) in
x86_64)	it "it calls a module of real TVM" calls_a_module_of_tvm ;;
esac
it "a missing file is an error in a sentence" refuses_a_missing_file
it "it adds at most 24 KiB of text and data to a program" small_enough
it "and no shared library is built" not test -e "$folder/libtenon.so"
awk '{ print "# tinyconfig: " $1 " bytes" (NR == 1 ? " more in a program" : " in all objects") }' "$scratch/sizes"
finish
