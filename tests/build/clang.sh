#!/bin/sh
# SPDX-License-Identifier: MIT
#
# clang builds the tree without a warning, and the tests pass. NIGHTLY=1 also runs what takes long and is led by a driver, an
# emulator, a process of its own or a failing malloc more than by what the compiler made of the library.

. tests/build/tap.sh
. tests/build/inner_make.sh
need clang

folder=$(kept clang)
it "clang builds everything and the tests pass" \
	inner_check O="$folder" CC="${launcher}clang" CFLAGS='-O2 -Werror' TESTS_CFLAGS=-O0 testconfig \
	WITHOUT="build $(spared board fuzz hil nomem/command_test remote/kernels remote/server_test remote/server_limits_test opencl/warm \
		cts/vulkan_old_backend cts/vulkan_fences_backend trace/trace device/drivers)"
finish
