#!/bin/sh
# SPDX-License-Identifier: MIT
#
# armhf: cross-compiled, and run by qemu-user

. tests/build/tap.sh
. tests/build/inner_make.sh

# device code for the host passes floats in registers there, which the loader of mortise refuses
cross=arm-linux-gnueabihf qemu=qemu-arm debian=armhf without="mortise $(spared fuzz hil)"
. tests/build/cross.sh
