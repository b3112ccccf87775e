#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The suites with threads, with ThreadSanitizer: in one thread it has nothing to find

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/sanitizers.sh

sanitizer thread
it "the tests with threads pass with ThreadSanitizer" \
	inner_check O="$(kept san-thread)" SAN=thread EMULATOR="$run" WITHOUT=build ONLY=threads insideconfig
finish
