#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Any single option can be switched off: the tree still builds and the tests that remain pass

. tests/build/tap.sh
. tests/build/inner_make.sh

# what runs on drivers takes the most time, and few options reach it
left_out()
{
	case $1 in
	*DEVICE* | KERNEL_CACHE | BACKEND_PLUGINS | ERROR_* | TVM_LEGACY | PAYLOAD_FORMATS)
		echo build interop fuzz ;;
	*)
		echo build interop fuzz cts vulkan opencl cuda ;;
	esac
}

builds_without()
{
	options_off "$folder" "$1" &&
		inner_make O="$folder" CFLAGS='-O0 -Werror' WITHOUT="$(left_out "$1")" check
}

folder=$(kept one-off)
for option in $(sed -n 's/^config //p' Kconfig); do
	case $option in
	OPTIMIZE_SIZE)	continue ;;
	esac
	it "the tree builds and passes without $option" builds_without "$option"
done
finish
