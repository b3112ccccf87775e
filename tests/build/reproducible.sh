#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Two builds in different folders are the same bytes, and no path of either is in them. The second one has a source that is
# read-only: everything that is made goes to O. With debug information, which has the paths, and without optimisation, which has
# none; the packages of build/debian are optimised, and hold no path either. NIGHTLY=1 also runs the tests in the read-only source.

. tests/build/tap.sh
. tests/build/inner_make.sh
need cmp

# what a cache gave twice would be the same without proof
export CCACHE_DISABLE=1
one=$scratch/one two=$scratch/a-much-longer-name out=$scratch/elsewhere/out

# build_in SOURCE FOLDER GOAL...
build_in()
{
	source=$1 folder=$2
	shift 2
	TENON_SOURCE=$source inner_make O="$folder" CFLAGS='-O0 -g' "$@"
}

install_in()
{
	build_in "$1" "$2" defconfig all install DESTDIR="$1-root" prefix=/usr
}

same_bytes()
{
	(cd "$one-root" && find . -type f | sort) > "$scratch/files"
	[ -s "$scratch/files" ] || return
	status=0
	while read -r file; do
		cmp "$one-root/$file" "$two-root/$file" || status=1
	done < "$scratch/files"
	(cd "$two-root" && find . -type f | sort) | diff "$scratch/files" - || status=1
	return $status
}

copy_read_only()
{
	copy_source "$two" && chmod -R a-w "$two"
}

# root may write anywhere, so what counts is that nothing was written
snapshot()
{
	(cd "$two" && find . -exec ls -ld --time-style=full-iso {} + 2>/dev/null || find .) | sort
}

unchanged()
{
	snapshot | diff "$scratch/before" -
}

it "the source is copied" copy_source "$one"
it "it builds with O inside" install_in "$one" build
it "another copy can be made, which is read-only" copy_read_only
snapshot > "$scratch/before"
it "it builds with O elsewhere" install_in "$two" "$out"
it "what they install is the same, byte for byte" same_bytes
it "no path of the build is in it" not grep -rl "$scratch" "$one-root" "$two-root"
if [ -n "${NIGHTLY:-}" ]; then
	TENON_SOURCE=$two
	it "the tests pass in the read-only source" inner_check O="$out" CFLAGS='-O0 -g' WITHOUT='build fuzz'
else
	it "the tests of commands pass in the read-only source" build_in "$two" "$out" check \
		SUITE='command/ interop/examples link/archives link/commands link/targets python/package ethosu/commands tflite/run'
fi
it "the configuration can be changed" build_in "$two" "$out" allnoconfig olddefconfig savedefconfig
it "the read-only source is unchanged" unchanged
it "mrproper removes all that was made" build_in "$two" "$out" mrproper
it "so that nothing is left" not test -e "$out"
finish
