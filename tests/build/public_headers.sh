#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Public headers stand alone, in plain C11 and in C++, and know nothing of the configuration

. tests/build/tap.sh

cc=${CC:-cc}
cxx=
for candidate in "${CXX:-}" c++ g++ clang++; do
	if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1; then
		cxx=$candidate
		break
	fi
done

# once without and once with each header in front of itself: guards hold
stands_alone()
{
	printf '#include <%s>\n#include <%s>\nint one_line_of_code;\n' "$2" "$2" > "$scratch/alone.$3"
	$1 -Iinclude -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$scratch/alone.$3"
}

for header in include/tenon/*.h include/tenon/backend/*.h; do
	name=${header#include/}
	it "$name compiles alone as C11" stands_alone "$cc -std=c11" "$name" c
	if [ -n "$cxx" ]; then
		it "$name compiles alone as C++11" stands_alone "$cxx -std=c++11" "$name" cc
	fi
done
it "no header asks for the configuration" not grep -n 'CONFIG_[A-Z]\|autoconf' include/tenon/*.h include/tenon/backend/*.h

# the form of the kernel's documentation: a comment above each declared function that names it
documented()
{
	status=0
	for name in $(sh scripts/declared-names include/tenon/*.h include/tenon/backend/*.h); do
		grep -q "^ \* $name - \|^/\*\* $name - " include/tenon/*.h include/tenon/backend/*.h || { echo "$name"; status=1; }
	done
	return $status
}
it "every declared function has its comment" documented

# compiles STATEMENT: with objects, handles and values to name
compiles()
{
	{
		printf '#include <tenon/tenon.h>\n#include <tenon/model.h>\n'
		printf 'void f(struct tenon_module *module, struct tenon_model *model, struct tenon_value value, void *any)\n{\n%s;\n}\n' "$1"
	} > "$scratch/typed.c"
	$cc -std=c11 -Iinclude -Werror -fsyntax-only "$scratch/typed.c" 2> /dev/null
}

only_objects_are_released()
{
	compiles 'tenon_object_unref(module)' && compiles 'tenon_object_unref(any)' &&
		compiles 'tenon_value_object(&value, TENON_TYPE_MODULE, &module)' || return
	for wrong in 'tenon_object_unref(model)' 'tenon_object_unref(&module)' 'tenon_object_ref(&value)' \
		'tenon_value_object(&value, TENON_TYPE_MODULE, module)' 'tenon_value_object(&value, TENON_TYPE_INT, &value.type)'; do
		not compiles "$wrong" || { echo "compiles: $wrong"; return 1; }
	done
}
it "what is no counted object is not released as one" only_objects_are_released

# Structs grow where they begin with their size: options, requests, callbacks. Objects are made by the library. The others
# are listed here, and keep their layout: values, points and what each call on a fast path has; elements of arrays, whose
# stride a program has compiled in; what the library makes, and a program only reads; tables of backends, which have a number of
# their ABI.
fixed='tenon_dispatch tenon_point tenon_slice tenon_sync tenon_value
	tenon_artifact tenon_llm_message tenon_llm_part tenon_op tenon_param tenon_params_part tenon_params_rename tenon_target
	tenon_backend tenon_llm_info tenon_object tenon_probe tenon_program'

# lines "FILE STRUCT" of what a public function for programs takes, and does not begin with a size or an object's header
without_a_size()
{
	awk '
		/^struct [a-z_0-9]* [{]$/ { name = $2; wait = 1; next }
		wait && NF && !/^\t(\/\*| \*)/ { wait = 0; sized[name] = /^\tsize_t size;/ || /^\tstruct tenon_object object;/; known[name] = 1 }
		/^TENON_API / && FILENAME !~ /backend/ { text = ""; inside = 1 }
		inside { text = text " " $0 }
		inside && /;$/ {
			inside = 0
			while (match(text, /const struct [a-z_0-9]* \*/)) {
				split(substr(text, RSTART, RLENGTH), word, " ")
				taken[word[3]] = 1
				text = substr(text, RSTART + RLENGTH)
			}
		}
		END { for (name in taken) if (known[name] && !sized[name]) print name }' include/tenon/*.h include/tenon/backend/*.h | LC_ALL=C sort
}

options_begin_with_their_size()
{
	echo $fixed | tr ' ' '\n' | LC_ALL=C sort > "$scratch/fixed"
	without_a_size | diff "$scratch/fixed" -
}
it "a struct that a program fills in begins with its size" options_begin_with_their_size

# so that CONFIG_ERROR_MESSAGES=n leaves their texts out; devices/null is for copying out of the tree, and devices/mortise includes
# public headers alone: its Kbuild has the compiler include that one
raises_without_texts()
{
	grep -q -- '-include lib/brief_errors.h' devices/mortise/Kbuild || { echo devices/mortise/Kbuild; return 1; }
	! grep -rlE '\<tenon_(error|cursor_error|error_in)\(' --include='*.c' lib runtime rpc link llm devices driver |
		grep -v '^devices/\(null\|mortise\)/' | xargs grep -LE '"lib/(brief_errors|switched_off)[.]h"' | grep .
}
it "what raises errors includes lib/brief_errors.h" raises_without_texts
finish
