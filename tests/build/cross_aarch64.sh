#!/bin/sh
# SPDX-License-Identifier: MIT
#
# aarch64: cross-compiled, and run by qemu-user. Fuzz targets find there what they find on x86-64, and armhf has them
# in the nightly tier, where the fake driver of CUDA is tried too, which is slow under an emulator

. tests/build/tap.sh
. tests/build/inner_make.sh

cross=aarch64-linux-gnu qemu=qemu-aarch64 debian=arm64 without="fuzz $(spared hil cuda cts/cuda_fake_backend cts/cuda_fake_old_backend cts/cuda_fake_threads_backend)"
. tests/build/cross.sh
