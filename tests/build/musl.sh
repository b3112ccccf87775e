#!/bin/sh
# SPDX-License-Identifier: MIT
#
# musl: the tree builds against another C library, and what it builds runs. What gcc finds when it optimises more hardly depends on the
# library, but on options that are off: build/all_or_no_options has it, with all and with none

. tests/build/tap.sh
. tests/build/inner_make.sh
need musl-gcc

folder=$(kept musl)
headers='-idirafter /usr/include'

build_it()
{
	rm -f "$folder/tenon"
	options_off "$folder" JSON NPZ LLM_TOKENIZER LLM_SERVE && inner_make O="$folder" CC=musl-gcc CFLAGS='-O1 -Werror' \
		JSMN_CFLAGS="$headers" VULKAN_CFLAGS="$headers" XXHASH_CFLAGS="$headers" all
}

it "musl-gcc builds everything without a warning" build_it
target_cc=musl-gcc
. tests/build/smoke.sh
it "the command needs musl and Tenon's library, and nothing else" needs_only '^libc\.so$\|^libtenon\.so' "$folder/tenon"
it "the library needs musl and nothing else" needs_only '^libc\.so$' "$folder/libtenon.so"
finish
