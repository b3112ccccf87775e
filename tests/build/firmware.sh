#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The firmware keeps to its limits, and the same sources make the same bytes.

. tests/build/tap.sh

made=
for board in rv32 rv64 cm3 hexagon; do
	[ -e "$TENON_BUILD/firmware/mortise-$board.elf" ] && made="$made $board"
done
[ -n "$made" ] || skip "no cross compiler made an image (Debian: gcc-riscv64-unknown-elf, gcc-arm-none-eabi, clang and lld)"

small()
{
	bytes=$(sh scripts/firmware-sizes "$TENON_BUILD/firmware/mortise-$1.elf" | awk 'NR == 2 { print $2 }')
	echo "$bytes bytes"
	[ "$bytes" -gt 0 ] && [ "$bytes" -lt $(($2 * 1024)) ]
}

short()
{
	lines=$(cat firmware/core/*.c firmware/core/*.h | wc -l)
	echo "$lines lines"
	[ "$lines" -lt 1500 ]
}

again()
{
	. tests/build/inner_make.sh
	inner_make O="$scratch/again" defconfig > "$scratch/make.log" 2>&1 &&
		inner_make O="$scratch/again" firmware >> "$scratch/make.log" 2>&1 || { cat "$scratch/make.log"; return 1; }
	for board in $made; do
		cmp "$scratch/again/firmware/mortise-$board.elf" "$TENON_BUILD/firmware/mortise-$board.elf" || return 1
	done
}

# what a compiler is for that was installed after the first build
added_later()
{
	. tests/build/inner_make.sh
	archive=device/firmware/kernels/vector_add.mortise
	inner_make O="$scratch/later" defconfig > "$scratch/make.log" 2>&1 &&
		inner_make O="$scratch/later" RISCV_CC=none CORTEX_M_CC=none HEXAGON_CC=none "$scratch/later/$archive" >> "$scratch/make.log" 2>&1 &&
		inner_make O="$scratch/later" "$scratch/later/$archive" >> "$scratch/make.log" 2>&1 || { cat "$scratch/make.log"; return 1; }
	ar t "$scratch/later/$archive" > "$scratch/members"
	for board in $made; do
		grep -qx "$board.elf" "$scratch/members" || { cat "$scratch/make.log" "$scratch/members"; return 1; }
	done
}

no_library()
{
	! grep -l '#include <' firmware/core/*.c firmware/core/*.h firmware/boards/*.c firmware/boards/*.h firmware/hexagon/*.c |
		xargs grep -h '#include <' | grep -v 'tenon/uapi/\|<stdbool.h>\|<stddef.h>\|<stdint.h>'
}

it "the core has less than 1500 lines" short
it "the firmware includes no C library" no_library
for board in $made; do
	# a program of Linux; clang calls no functions to save registers where it may inline
	case $board in
	hexagon) most=16 ;;
	*) most=8 ;;
	esac
	it "the image of $board has less than $most KiB of code" small "$board" $most
done
it "an archive of kernels gets the images of compilers that were installed later" added_later
it "the same sources make the same bytes in another folder" again
finish
