#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The suites with threads, with ThreadSanitizer: in one thread it has nothing to find. NIGHTLY=1 also runs those that do with one
# more driver or board what another one of these does.

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/sanitizers.sh

sanitizer thread
it "the tests with threads pass with ThreadSanitizer" \
	inner_check O="$(kept san-thread)" SAN=thread CFLAGS='-O1 -g1' TESTS_CFLAGS=-O0 EMULATOR="$run" ONLY=threads \
	WITHOUT="build $(spared opencl/warm cts/vulkan_old_backend cts/cuda_fake_old_backend cts/old_plugin_backend \
		cts/mortise_rv32_backend cts/mortise_cm3_backend cts/mortise_hexagon_backend cts/mortise_fastrpc_backend \
		mortise/stream_rv32_test mortise/stream_cm3_test mortise/stream_hexagon_test)" insideconfig
finish
