#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The interfaces of libtenon.so and of the libraries beside it are those of the last release, or the change is announced

. tests/build/tap.sh
. tests/build/inner_make.sh
need abidiff readelf awk

library=$(echo "$TENON_BUILD"/libtenon.so.*.*)
saved=packaging/abi/libtenon-$(uname -m).abi
[ -e "$library" ] || skip "this build has no libtenon.so"
[ -z "${SAN:-}" ] || skip "a build with sanitizers exports other names"
[ -e "$saved" ] || skip "no interface is saved for $(uname -m)"
readelf -h "$library" | grep -q "Machine:.*X86-64" || skip "the library is for another machine"
readelf -S "$library" | grep -q '\.debug_info' || skip "the library was built without debug information"

# options decide which functions there are: compare builds that have all of the default ones
options()
{
	sed -n 's/^\(CONFIG_[A-Z_0-9]*\)=[ym]$/\1/p' "$1" | sort
}
options "$TENON_BUILD/include/config/auto.conf" > "$scratch/here"
inner_make -s O="$scratch/build" defconfig > "$scratch/said" 2>&1 || skip "$(tail -n 1 "$scratch/said")"
options "$scratch/build/.config" | comm -23 - "$scratch/here" > "$scratch/off"
[ ! -s "$scratch/off" ] || skip "off in this build: $(tr '\n' ' ' < "$scratch/off")"

# compare NAME EDIT: with the saved interface after an edit
compare()
{
	sed "$2" "$saved" > "$scratch/$1.abi"
	if [ -n "$2" ] && cmp -s "$saved" "$scratch/$1.abi"; then
		echo "the edit changes nothing"
		return 2
	fi
	ABI=$scratch/$1.abi sh packaging/abi/check "$library"
}

refused()
{
	compare "$@"
	[ $? -eq 1 ]
}

it "nothing was removed or changed since the last release" compare same ''
for beside in "$TENON_BUILD"/libtenon-*.so.*.*; do
	[ ! -e "$beside" ] || it "nor of $(basename "$beside" | sed 's/\.so.*//')" sh packaging/abi/check "$beside"
done
it "a function that is not in the last release may be added" compare added \
	"/elf-symbol name='tenon_version'/d; /function-decl name='tenon_version'/,/<.function-decl>/d"
it "a function that is gone is refused" refused removed "s/'tenon_version'/'tenon_release'/; s/'tenon_version@@/'tenon_release@@/"
it "a member of another type is refused" refused retyped \
	"/class-decl name='tenon_point'/,/<.class-decl>/s/size-in-bits='128'/size-in-bits='192'/"
finish
