#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ELF files that packagers look at: names, paths, headers

. tests/build/tap.sh
need readelf
[ -z "${SAN:-}" ] || skip "a build with sanitizers is not packaged"

says()
{
	readelf "$1" "$2" | grep -q -e "$3" || { readelf "$1" "$2"; return 1; }
}

silent_about()
{
	if readelf "$1" "$2" | grep -e "$3"; then
		return 1
	fi
}

no_text()
{
	! LC_ALL=C grep -a -n -o -e "$2" "$1"
}

# the command finds the library that was installed with it
has_no_strange_path()
{
	! readelf -d "$1" | grep 'RPATH\|RUNPATH' | grep -v '\[$ORIGIN\(/[./a-z0-9_-]*\)*\(:$ORIGIN/[.]*\)\?\]$'
}

check_elf()
{
	it "$1 has no run path but one from its own folder" has_no_strange_path "$2"
	it "$1 has no relocations in its text" silent_about -d "$2" TEXTREL
	it "$1 has no executable stack" silent_about -lW "$2" 'GNU_STACK.*E'
	it "$1 holds no path of the source folder" no_text "$2" "$TENON_SOURCE"
	it "$1 needs no C++ library" silent_about -d "$2" 'stdc++'
}

if [ -e "$TENON_BUILD/libtenon.so" ]; then
	check_elf libtenon.so "$TENON_BUILD/libtenon.so"
	it "libtenon.so carries its versioned name" says -d "$TENON_BUILD/libtenon.so" \
		'SONAME.*\[libtenon\.so\.0\]'
	it "libtenon.so has a version node" says -V "$TENON_BUILD/libtenon.so" 'TENON_0\.1'
fi
for library in "$TENON_BUILD"/libtenon-*.so; do
	[ -e "$library" ] || continue
	name=$(basename "$library" .so)
	check_elf "$name.so" "$library"
	it "$name.so carries its versioned name" says -d "$library" "SONAME.*\[$name\.so\.0\]"
	it "$name.so needs the library" says -d "$library" 'NEEDED.*\[libtenon\.so\.0\]'
done
if [ -e "$TENON_BUILD/compat/libtvm_ffi.so" ]; then
	check_elf libtvm_ffi.so "$TENON_BUILD/compat/libtvm_ffi.so"
	it "libtvm_ffi.so carries the name that modules need" \
		says -d "$TENON_BUILD/compat/libtvm_ffi.so" 'SONAME.*\[libtvm_ffi\.so\]'
	it "libtvm_ffi.so does not need libtenon" \
		silent_about -d "$TENON_BUILD/compat/libtvm_ffi.so" 'NEEDED.*tenon'
fi
if [ -e "$TENON_BUILD/compat/libtvm_runtime.so" ]; then
	check_elf libtvm_runtime.so "$TENON_BUILD/compat/libtvm_runtime.so"
	it "libtvm_runtime.so needs the library and Tenon's libtvm_ffi.so" eval \
		'says -d "$TENON_BUILD/compat/libtvm_runtime.so" "NEEDED.*\[libtenon\.so\.0\]" &&
		says -d "$TENON_BUILD/compat/libtvm_runtime.so" "NEEDED.*\[libtvm_ffi\.so\]"'
fi
for plugin in "$TENON_BUILD"/plugins/*.so; do
	[ -e "$plugin" ] || continue
	name=plugins/$(basename "$plugin")
	check_elf "$name" "$plugin"
	it "$name needs the library" says -d "$plugin" 'NEEDED.*\[libtenon\.so\.0\]'
done
if [ -e "$TENON_BUILD/install/tenon" ]; then
	check_elf "the command" "$TENON_BUILD/install/tenon"
	it "the command needs the library" says -d "$TENON_BUILD/install/tenon" 'NEEDED.*\[libtenon\.so\.0\]'
elif [ -e "$TENON_BUILD/tenon" ]; then
	check_elf "the command" "$TENON_BUILD/tenon"
	it "the command has the library inside" silent_about -d "$TENON_BUILD/tenon" 'NEEDED.*libtenon'
fi

# what git knows, or in an unpacked archive what lies there beside build folders
sources()
{
	git ls-files --cached --others --exclude-standard 2>/dev/null ||
		find . \( -path './build*' -o -path ./.git \) -prune -o -type f -print
}

without_licence()
{
	# REUSE-IgnoreStart
	sources | grep -e '\.[ch]$' -e '\.sh$' -e '\.awk$' -e '\.py$' -e '\.scd$' -e '\.map$' -e 'config$' \
		-e 'Kbuild$' -e 'Kconfig$' -e 'Makefile' -e 'scripts/' | grep -v -e 'help\.txt$' -e '/data/' |
		while read -r file; do
			[ ! -f "$file" ] || grep -q 'SPDX-License-Identifier: MIT' "$file" || echo "$file"
		done
	# REUSE-IgnoreEnd
}
it "every source, script and fragment has its licence line" test -z "$(without_licence)"
finish
