#!/bin/sh
# SPDX-License-Identifier: MIT
#
# armhf: cross-compiled, and run by qemu-user

. tests/build/tap.sh
. tests/build/inner_make.sh

cross=arm-linux-gnueabihf qemu=qemu-arm debian=armhf
. tests/build/cross.sh
