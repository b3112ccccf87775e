#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The suites with AddressSanitizer and UndefinedBehaviorSanitizer. FULL=1 runs all; otherwise those of what reads foreign bytes:
# suites of drivers and boards read what this tree or a driver wrote.

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/sanitizers.sh

without=build
[ -n "${FULL:-}" ] ||
	without='build board compile cts cuda driver ethosu hil mortise npu opencl operators partition vulkan'
sanitizer address,undefined
it "the tests pass with AddressSanitizer and UndefinedBehaviorSanitizer" \
	inner_check O="$(kept san-address)" SAN=address,undefined EMULATOR="$run" WITHOUT="$without" insideconfig
finish
