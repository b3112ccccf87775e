#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Any single option can be switched off: the tree still builds, and the tests that remain pass. One folder
# serves for all builds: only objects that read an option that changed are compiled again, and of the tests
# only those whose program became another one are run again. Of the nightly tier; in the full one allnoconfig, tinyconfig,
# boardconfig and the other machines have many options off at once. OPTIONS='JSON NPZ' chooses some options; without NIGHTLY=1
# and OPTIONS, groups of options are tried, and no test is run.

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
	"$@" O="$folder" CFLAGS='-O0 -Werror' CJSON_CFLAGS="$cjson_cflags" LIBZIP_CFLAGS="$libzip_cflags" \
		PCRE2_CFLAGS="$pcre2_cflags" MICROHTTPD_CFLAGS="$microhttpd_cflags"
}

# left_out OPTION: folders of tests that the option does not reach. What runs on drivers, boards and servers takes the
# most time, and few options reach it
left_out()
{
	echo build interop fuzz
	case $1 in
	*DEVICE* | KERNEL_CACHE | DSO | ERROR_MESSAGES | TVM_LEGACY)	;;
	*)	echo cts cuda opencl vulkan ;;
	esac
	case $1 in
	*DEVICES | ERROR_MESSAGES | INSPECT | TOOL | JSON)	;;
	*HIL*)		echo remote llm partition ;;
	*REMOTE*)	echo board llm partition ;;
	*LLM* | LANGUAGE_MODELS | RELAX_VM)	echo board remote partition ;;
	*DNNL* | LINK | *GRAPH*)	echo board remote llm ;;
	*)		echo board remote llm partition ;;
	esac
}

# build OPTION...: and in the nightly tier, or when options are named, run the tests that one of them reaches
build()
{
	if [ -z "${NIGHTLY:-}${OPTIONS:-}" ]; then
		with_flags inner_make -s all
		return
	fi
	folders=$(for option in "$@"; do left_out "$option"; done | tr ' ' '\n' | sort | uniq -c |
		awk -v count=$# '$1 == count { print $2 }' | tr '\n' ' ')
	with_flags inner_check WITHOUT="$folders" PASSED="$scratch/passed"
}

builds_without()
{
	options_off "$folder" "$@" && with_flags inner_make -s "$folder/include/config/auto.conf" &&
		remove_objects_with || return
	cp "$header" "$scratch/autoconf.h"
	# the objects that are left are as good as new
	touch -r "$scratch/old" $settings
	build "$@"
}

# Options from rooms that do not know each other go together, which saves most of the builds; where that fails, each goes
# alone, so that the report names the one.
together='NPZ+DEVICE_VULKAN+MORTISE_BOARDS+KERNEL_CACHE FAST_CALLS+HIL+DEVICE_OPENCL+LINK
REMOTE_CLIENT+DEVICE_ETHOSU+TFLITE_EXECUTOR AOT_EXECUTOR+DNNL_JSON+LLM_SERVE+PARAMS_FILES
GRAPH_EXECUTOR+DEVICE_CUDA+SYSTEM_LIB DEVICE_CPU+LLM_TOKENIZER
DEVICE_ROCKET+DEVICE_TORQ+TVM_FFI_COMPAT LANGUAGE_MODELS+DEVICE_MORTISE TRACE+RELAX_VM
THREAD_POOL+REMOTE+SELF_TEST SHARED_LIBRARY PLUGINS+PICTURES JSON+INSPECT+TVM_LEGACY EXECUTOR_FUNCTIONS'

try_alone()
{
	it "the tree builds without $1" builds_without "$1"
	sed -n 's/^ *\([0-9]* suites are\)/# \1/p' "$scratch/check.log"
}

try_together()
{
	if builds_without "$@" > /dev/null 2>&1; then
		for name in "$@"; do
			it "the tree builds without $name" true
		done
	else
		for name in "$@"; do
			try_alone "$name"
		done
	fi
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

# options that are in no group
alone()
{
	[ -z "${NIGHTLY:-}" ] || awk '$1 == "config" { c = $2 } /^\t(bool|tristate) "/ { print c }' Kconfig */*/Kconfig */*/*/Kconfig | grep -vxF "$(echo "$together" | tr '+ ' '\n\n')"
}

cjson_cflags=$(pkg-config --cflags libcjson 2>/dev/null)
libzip_cflags=$(pkg-config --cflags libzip 2>/dev/null)
pcre2_cflags=$(pkg-config --cflags libpcre2-8 2>/dev/null)
microhttpd_cflags=$(pkg-config --cflags libmicrohttpd 2>/dev/null)
rm -rf "$folder"
mkdir -p "$folder"
it "the tree builds with every option" builds_with_all
for option in ${OPTIONS:-$(alone)}; do
	[ "$option" != OPTIMIZE_SIZE ] || continue
	# what is off by default was off in the first build
	grep -q "^CONFIG_$option=[ym]" "$scratch/all.conf" || continue
	try_alone "$option"
done
[ -n "${OPTIONS:-}" ] || for group in $together; do
	# shellcheck disable=SC2046
	try_together $(echo "$group" | tr + ' ')
done
finish
