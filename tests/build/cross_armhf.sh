#!/bin/sh
# SPDX-License-Identifier: MIT
#
# armhf: cross-compiled, and run by qemu-user

. tests/build/tap.sh
. tests/build/inner_make.sh

# device code for the host passes floats in registers there, which the loader of mortise refuses
cross=arm-linux-gnueabihf qemu=qemu-arm debian=armhf without=mortise
# half of the time, emulated: what sizes of 32 bits change in readers, the nightly tier looks for
[ -n "${NIGHTLY:-}" ] || without="$without fuzz"
. tests/build/cross.sh
