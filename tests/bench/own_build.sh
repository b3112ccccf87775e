# SPDX-License-Identifier: MIT
#
# Read by the scripts that measure sizes. own_build CONFIG [FILE]: a build of CONFIG in $folder, beside the one in use, or that file
# of it, by the tree's own flags: the caller's CFLAGS would give it another size.

: "${TENON_SOURCE:=$PWD}" "${TENON_BUILD:=build}"
. tests/build/inner_make.sh

own_build()
{
	folder=$(kept "$1")
	inner_make -s O="$folder" "$1" >/dev/null 2>&1
	inner_make -s O="$folder" ${2:+"$folder/$2"} >/dev/null 2>&1
}
