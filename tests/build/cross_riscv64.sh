#!/bin/sh
# SPDX-License-Identifier: MIT
#
# riscv64: cross-compiled, and run by qemu-user

. tests/build/tap.sh
. tests/build/inner_make.sh

cross=riscv64-linux-gnu qemu=qemu-riscv64 debian=riscv64 without="fuzz $(spared hil)"
. tests/build/cross.sh
