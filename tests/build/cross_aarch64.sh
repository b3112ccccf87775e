#!/bin/sh
# SPDX-License-Identifier: MIT
#
# aarch64: cross-compiled, and run by qemu-user

. tests/build/tap.sh
. tests/build/inner_make.sh

cross=aarch64-linux-gnu qemu=qemu-aarch64 debian=arm64
. tests/build/cross.sh
