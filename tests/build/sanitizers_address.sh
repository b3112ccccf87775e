#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The whole suite with AddressSanitizer and UndefinedBehaviorSanitizer

. tests/build/tap.sh
. tests/build/inner_make.sh

echo 'int main(void) { return 0; }' > "$scratch/probe.c"
"${CC:-cc}" -fsanitize=address,undefined "$scratch/probe.c" -o "$scratch/probe" 2>/dev/null ||
	skip "${CC:-cc} cannot build with -fsanitize=address,undefined here"
# some kernels place a program where the sanitizer wants its shadow
run=
"$scratch/probe" 2>/dev/null || run='setarch -R'
$run "$scratch/probe" 2>/dev/null || skip "a program built with -fsanitize does not start here"
folder=$(kept san-address)
it "the tests pass with AddressSanitizer and UndefinedBehaviorSanitizer" \
	inner_make O="$folder" SAN=address,undefined CC="${CC:-cc}" EMULATOR="$run" WITHOUT=build TIMEOUT=600 defconfig check
finish
