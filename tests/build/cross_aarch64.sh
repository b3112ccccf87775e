#!/bin/sh
# SPDX-License-Identifier: MIT
#
# aarch64: cross-compiled, and run by qemu-user. Fuzz targets find there what they find on x86-64, and armhf has them in the nightly tier

. tests/build/tap.sh
. tests/build/inner_make.sh

cross=aarch64-linux-gnu qemu=qemu-aarch64 debian=arm64 without="fuzz $(spared hil)"
. tests/build/cross.sh
