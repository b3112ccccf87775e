#!/bin/sh
# SPDX-License-Identifier: MIT
#
# sparse over each source of the libraries and the command that this build has. What is left out of its messages is listed here.

. tests/build/tap.sh

need sparse

# -Wno-non-pointer-null: "{ 0 }" begins with a pointer in some structs
# -Wno-override-init: a value's union is set to 0 as a whole, and then one member
options='-std=gnu11 -Wno-non-pointer-null -Wno-override-init'

known()
{
	# sparse has no built-in functions of processors, nor those that gcc has for its cache; it calls no pointer that was declared by
	# the type of a function: __typeof__(tenon_params_join) *join
	sed -e "/__builtin_ia32_/d; /cast from unknown type/d; /^\/usr\/lib\/gcc\//d; /__builtin___clear_cache/d" \
		-e '/^\/usr\/include\/jsmn\.h:.*external linkage/d' \
		-e '/: note: in included file/d' \
		-e '/: error: not a function [a-z_]*$/d' \
		-e "/^\.\/[a-z_/]*plugin\.h:.*symbol 'plugin_/d" \
		-e "/^include\/tenon\/launcher\.h:.*symbol '__/d" \
		-e '/dso_library\.c:.*\(invalid type for argument 1\|enum dso_unprefixed_abi\)/d'
}

checked()
{
	: > "$scratch/read"
	find "$1" -name '*.c' | while read -r source; do
		[ -e "$TENON_BUILD/${source%.c}.o" ] || continue
		echo "$source" >> "$scratch/read"
		# shellcheck disable=SC2086
		sparse $options -Iinclude -I. -I"$TENON_BUILD/include" -I/usr/include/cjson -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
			-DTENON_VERSION_TEXT='"0"' -include "$TENON_BUILD/include/generated/autoconf.h" "$source" 2>&1
	done | known > "$scratch/messages"
	cat "$scratch/messages"
	[ -s "$scratch/read" ] || echo "no source of $1 was compiled"
	[ -s "$scratch/read" ] && [ ! -s "$scratch/messages" ]
}

finds_what_is_wrong()
{
	printf 'extern int f(void);\nint f(void) { return 0; }\nint not_declared;\n' > "$scratch/wrong.c"
	sparse $options "$scratch/wrong.c" 2>&1 | known | grep -q 'not_declared'
}

cd "$TENON_SOURCE" || exit
it "a symbol that no header declares is found" finds_what_is_wrong
for folder in lib driver runtime rpc devices link llm tools; do
	it "$folder has nothing to find" checked "$folder"
done
finish
