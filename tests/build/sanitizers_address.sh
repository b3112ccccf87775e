#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The whole suite with AddressSanitizer and UndefinedBehaviorSanitizer

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/sanitizers.sh

sanitizer address,undefined
it "the tests pass with AddressSanitizer and UndefinedBehaviorSanitizer" \
	inner_check O="$(kept san-address)" SAN=address,undefined EMULATOR="$run" WITHOUT=build insideconfig
finish
