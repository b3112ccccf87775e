#!/bin/sh
# SPDX-License-Identifier: MIT
#
# One set of names: declared in include/tenon/, listed in the version script, exported by the library

. tests/build/tap.sh
need nm readelf

# what the headers declare, and the one name that the compatibility library looks for
{
	# those of libraries beside it are below
	for header in include/tenon/*.h; do
		name=$(basename "$header" .h)
		ls -- */libtenon-"$name".map */*/libtenon-"$name".map 2> "$scratch/none" | grep -q . || echo "$header"
	done | xargs sh scripts/declared-names include/tenon/backend/*.h
	echo tenon_tvm_table
} | LC_ALL=C sort -u > "$scratch/declared"
sed -n '/^TENON_0/,/local:/s/^\t\([a-z_0-9A-Z]*\);/\1/p' lib/libtenon.map | LC_ALL=C sort -u \
	> "$scratch/listed"

it "the version script lists what the headers declare" diff "$scratch/declared" "$scratch/listed"
it "the headers declare something" test -s "$scratch/declared"

exported()
{
	nm -D --defined-only "$1" | awk '$2 != "A" && !/@@TENON_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort -u
}

# names that a program linked with the static library would export as its own
visible_names()
{
	readelf -sW "$1" | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }'
}

library=$TENON_BUILD/libtenon.so
if [ -e "$library" ] && [ -z "${SAN:-}" ]; then
	exported "$library" > "$scratch/exported"
	it "the library exports what the headers declare" diff "$scratch/declared" "$scratch/exported"
fi
for map in */libtenon-*.map */*/libtenon-*.map; do
	name=${map##*/libtenon-}
	name=${name%.map}
	sh scripts/declared-names "include/tenon/$name.h" > "$scratch/declared-$name"
	sed -n '/^TENON_/,/local:/s/^\t\([a-z_0-9A-Z]*\);/\1/p' "$map" > "$scratch/listed-$name"
	it "the version script of libtenon-$name lists what its header declares" \
		diff "$scratch/declared-$name" "$scratch/listed-$name"
	library=$TENON_BUILD/libtenon-$name.so
	[ -e "$library" ] && [ -z "${SAN:-}" ] || continue
	exported "$library" > "$scratch/exported-$name"
	it "libtenon-$name exports what its header declares" diff "$scratch/declared-$name" "$scratch/exported-$name"
done
compat=$TENON_BUILD/compat/libtvm_ffi.so
if [ -e "$compat" ] && [ -z "${SAN:-}" ]; then
	exported "$compat" > "$scratch/compat"
	# beside them: what binds it, and two conversions that old LLVM code calls
	it "the compatibility library exports only names of the original" \
		not grep -v '^TVM\|^tenon_tvm_bind$\|^__gnu_[hf]2[hf]_ieee$' "$scratch/compat"
	it "the compatibility library exports something" test -s "$scratch/compat"
fi
# imports_public_names_alone PLUGIN: like the backend of a third party. Builds without messages have a call for all errors,
# in place of texts (lib/brief_errors.h)
imports_public_names_alone()
{
	nm -D --undefined-only "$1" | awk '$2 !~ /^tenon__error_brief@/ { print $2 }' > "$scratch/imported"
	grep -q '^tenon_' "$scratch/imported" && not grep '^tenon__' "$scratch/imported"
}
for plugin in "$TENON_BUILD"/plugins/*.so; do
	[ -e "$plugin" ] && [ -z "${SAN:-}" ] || continue
	name=$(basename "$plugin" .so)
	exported "$plugin" > "$scratch/handed"
	it "the plug-in $name exports what it hands over alone" test "$(cat "$scratch/handed")" = tenon_plugin
	# A third party could build these with the installed headers, and that stays so. The others use more of the library,
	# such as its cache of compiled kernels, its search for libraries of vendors and its readers of formats.
	case $name in
	mortise | null | rocket | torq) it "the plug-in $name calls public functions alone" imports_public_names_alone "$plugin" ;;
	esac
done
visible_names "$TENON_BUILD/libtenon.a" > "$scratch/visible"
it "visible names of the static library have a prefix" not grep -v '^tenon_\|^_*TVM\|^__tvm_\|^__gnu_.*_ieee$' \
	"$scratch/visible"
finish
