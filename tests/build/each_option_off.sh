#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Any single option can be switched off: the tree still builds and the tests that remain pass. One folder
# serves for all builds: only objects that read an option that changed are compiled again, and of the tests
# only those whose program became another one are run again. OPTIONS='JSON NPZ' chooses some options.

. tests/build/tap.sh
. tests/build/inner_make.sh

folder=$(kept one-off)
header=$folder/include/generated/autoconf.h
settings="$folder/.config $folder/include/config/auto.conf $header"

# the symbols that the last configuration and this one give different values; tables have them without CONFIG_
changed_symbols()
{
	diff "$scratch/autoconf.h" "$header" | sed -n 's/^[<>].*CONFIG_\([A-Z0-9_]*\).*/CONFIG_\1\n\1/p' | sort -u
}

# remove the objects whose source or headers name one of the symbols
remove_objects_with()
{
	changed_symbols > "$scratch/symbols"
	[ -s "$scratch/symbols" ] || return 0
	find . -path './build*' -prune -o -name '*.[ch]' -print | sed 's,^\./,,' |
		xargs grep -lwF -f "$scratch/symbols" > "$scratch/readers"
	[ -s "$scratch/readers" ] || return 0
	find "$folder" -name '*.d' -exec awk '
		NR == FNR { reads[$0] = 1; next }
		{ for (i = 1; i <= NF; i++) if ($i in reads) stale[FILENAME] = 1 }
		END { for (name in stale) { sub(/d$/, "o", name); print name } }' "$scratch/readers" {} + |
		xargs rm -f
}

# flags that come with a library are the same with and without it, else everything would be compiled again
with_flags()
{
	"$@" O="$folder" CFLAGS='-O0 -Werror' CJSON_CFLAGS="$cjson_cflags" LIBZIP_CFLAGS="$libzip_cflags"
}

# build OPTION: and run the tests. What runs on drivers takes the most time, and few options reach it
build()
{
	left_out='build interop fuzz'
	case $1 in
	*DEVICE* | KERNEL_CACHE | BACKEND_PLUGINS | ERROR_* | TVM_LEGACY | PAYLOAD_FORMATS)	;;
	*)	left_out="$left_out cts cuda opencl vulkan" ;;
	esac
	with_flags inner_check WITHOUT="$left_out" PASSED="$scratch/passed"
}

builds_without()
{
	options_off "$folder" "$1" && with_flags inner_make -s "$folder/include/config/auto.conf" &&
		remove_objects_with || return
	cp "$header" "$scratch/autoconf.h"
	# the objects that are left are as good as new
	touch -r "$scratch/old" $settings
	build "$1"
}

builds_with_all()
{
	inner_make -s O="$folder" testconfig &&
		with_flags inner_make -s "$folder/include/config/auto.conf" || return
	touch "$scratch/old"
	cp "$header" "$scratch/autoconf.h"
	cp "$folder/include/config/auto.conf" "$scratch/all.conf"
	build DEVICES
}

cjson_cflags=$(pkg-config --cflags libcjson 2>/dev/null)
libzip_cflags=$(pkg-config --cflags libzip 2>/dev/null)
rm -rf "$folder"
mkdir -p "$folder"
it "the tree builds and passes with every option" builds_with_all
for option in ${OPTIONS:-$(sed -n 's/^config //p' Kconfig)}; do
	case $option in
	OPTIMIZE_SIZE)	continue ;;
	esac
	# what is off by default was off in the first build
	grep -q "^CONFIG_$option=[ym]" "$scratch/all.conf" || continue
	it "the tree builds and passes without $option" builds_without "$option"
	sed -n 's/^ *\([0-9]* suites are\)/# \1/p' "$scratch/check.log"
done
finish
