#!/bin/sh
# SPDX-License-Identifier: MIT
#
# musl: the tree builds against another C library, and what it builds runs

. tests/build/tap.sh
. tests/build/inner_make.sh
need musl-gcc

folder=$(kept musl)
headers='-idirafter /usr/include'

build_it()
{
	rm -f "$folder/tenon"
	options_off "$folder" JSON NPZ LLM_TOKENIZER LLM_SERVE && inner_make O="$folder" CC=musl-gcc CFLAGS='-O2 -g -Werror' \
		JSMN_CFLAGS="$headers" VULKAN_CFLAGS="$headers" XXHASH_CFLAGS="$headers" all
}

it "musl-gcc builds everything without a warning" build_it
target_cc=musl-gcc
. tests/build/smoke.sh
it "the command needs musl and Tenon's library, and nothing else" needs_only '^libc\.so$\|^libtenon\.so' "$folder/tenon"
it "the library needs musl and nothing else" needs_only '^libc\.so$' "$folder/libtenon.so"
finish
