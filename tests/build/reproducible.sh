#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Two builds in different folders are the same bytes, and no path of either is in them

. tests/build/tap.sh
. tests/build/inner_make.sh
need cmp

# what a cache gave twice would be the same without proof
export CCACHE_DISABLE=1

build_in()
{
	TENON_SOURCE=$scratch/$1 inner_make O="$2" "$3" all install DESTDIR="$scratch/$1-root" prefix=/usr
}

same_bytes()
{
	(cd "$scratch/one-root" && find . -type f | sort) > "$scratch/files"
	[ -s "$scratch/files" ] || return
	status=0
	while read -r file; do
		cmp "$scratch/one-root/$file" "$scratch/a-much-longer-name-root/$file" || status=1
	done < "$scratch/files"
	(cd "$scratch/a-much-longer-name-root" && find . -type f | sort) | diff "$scratch/files" - || status=1
	return $status
}

it "the source is copied" copy_source "$scratch/one"
it "it builds with O inside" build_in one build defconfig
it "another copy can be made" copy_source "$scratch/a-much-longer-name"
it "it builds with O elsewhere" build_in a-much-longer-name "$scratch/elsewhere/out" defconfig
it "what they install is the same, byte for byte" same_bytes
it "no path of the build is in it" not grep -rl "$scratch" "$scratch/one-root" \
	"$scratch/a-much-longer-name-root"
finish
