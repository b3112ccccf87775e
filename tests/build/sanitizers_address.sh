#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The suites with AddressSanitizer and UndefinedBehaviorSanitizer. FULL=1 runs all but those where other programs do the work,
# or that run the same code for one more board or driver; NIGHTLY=1 runs these too. Otherwise those of what reads foreign bytes:
# suites of drivers and boards read what this tree or a driver wrote, and most of the time of commands is that of processes.

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/sanitizers.sh

without="build board compile cts cuda device driver ethosu fastrpc hil mortise npu opencl operators partition trace vulkan \
	nomem/command_test remote/server_limits_test remote/client link/commands"
[ -z "${FULL:-}" ] || without="build $(spared board remote/kernels opencl/warm cts/vulkan_old_backend cts/vulkan_fences_backend \
	cts/mortise_rv32_backend cts/mortise_cm3_backend cts/mortise_hexagon_backend cts/mortise_fastrpc_backend \
	hil/rv32_board hil/cm3_board hil/hexagon_board hil/fastrpc_board \
	mortise/stream_rv32_test mortise/stream_cm3_test mortise/stream_hexagon_test)"
sanitizer address,undefined
# at -O1 the compiler takes half of the time that it takes at -O2, and a sanitizer sees no less; tests are not what is looked at
it "the tests pass with AddressSanitizer and UndefinedBehaviorSanitizer" \
	inner_check O="$(kept san-address)" SAN=address,undefined CFLAGS='-O1 -g1' TESTS_CFLAGS=-O0 EMULATOR="$run" \
	WITHOUT="$without" insideconfig
finish
