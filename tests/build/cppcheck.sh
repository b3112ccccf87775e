#!/bin/sh
# SPDX-License-Identifier: MIT
#
# cppcheck over each source of the libraries and the command that this build has: a minute of a processor. What is left out of its
# messages is listed here.

. tests/build/tap.sh

need cppcheck

# uninit…: it does not see that a function that returns 0 has set what it was given a pointer to
# readdir…, get…: each stream of a folder is one thread's; accounts are asked for before there are threads
left_out='uninitvar uninitStructMember legacyUninitvar ctuuninitvar readdirCalled getpwnamCalled getgrnamCalled getpwuidCalled
getgrgidCalled'

cat > "$scratch/known" << 'END'
# what version 2.10 cannot read: an array's element behind "&", and a compound literal behind "?"
/\/rpc_model\.c:.*\[internalAstError\]/d
/\/relax_builtin_tensor\.c:.*\[internalAstError\]/d
# descriptors in a struct that the function closes; mappings and copies that the caller gets
/\/elf_opening\.c:.*\[memleak\]/d
/\/file_map\.c:.*\[memleak\]/d
/\/archive_files\.c:.*\[memleak\]/d
/\/const_loader\.c:.*\[memleak\]/d
/\/relax_weights\.c:.*\[memleak\]/d
/\/target_module\.c:.*\[memleak\]/d
/\/trace_store\.c:.*\[memleak\]/d
/\/chat\.c:.*\[memleak\]/d
# libraries that stay open for the functions that were found in them
/lib\/plugin\.c:.*\[resourceLeak\]/d
/\/compat_library\.c:.*\[resourceLeak\]/d
/\/tvm\/server\.c:.*\[resourceLeak\]/d
# the list of before is kept where realloc() fails
/\/json_buffers\.c:.*\[memleakOnRealloc\]/d
/\/core\/module\.c:.*\[memleakOnRealloc\]/d
# accept4() from any address
/\/server_admit\.c:.*\[nullPointer\]/d
/\/proxy\.c:.*\[nullPointer\]/d
# payloads of kinds that were found to have a format
/\/link_payload\.c:.*\[nullPointerRedundantCheck\]/d
/\/link_payload\.c:.*\[ctunullpointer\]/d
/\/program_file\.c:.*\[nullPointerRedundantCheck\]/d
# arithmetic with what may be NULL, before the test of it
/\/graph_place\.c:.*\[nullPointerArithmeticRedundantCheck\]/d
# fields of bits, which are unsigned
/\/ethosu_describe\.c:.*\[invalidPrintfArgType_uint\]/d
# gcc and clang shift signed numbers arithmetically
/\/sim_map\.c:.*\[shiftTooManyBitsSigned\]/d
# slots that hold numbers and addresses
/\/relax_run\.c:.*\[AssignmentAddressToInteger\]/d
# what a call in between changes
/\/relax_link\.c:.*\[identicalInnerCondition\]/d
# an address that is used before the function returns
/\/mortise_elf\.c:.*\[autoVariables\]/d
END

# As C99: version 2.10 stops at _Generic, with which the public headers check references in C11.
cppcheck_of()
{
	for id in $left_out; do
		set -- "$@" "--suppress=$id"
	done
	cppcheck --quiet --std=c99 --enable=warning,portability --library=posix --library=gnu --template='{file}:{line}: {message} [{id}]' \
		-Iinclude -I. "-I$TENON_BUILD/include" "--include=$TENON_BUILD/include/generated/autoconf.h" -D_GNU_SOURCE -D__x86_64__ -D__cppcheck__ \
		'-DElfW(type)=Elf64_##type' -DTENON_VERSION_TEXT='"0"' -DVK_VERSION_1_3=1 "$@" > "$scratch/messages" 2>&1 ||
		{ echo "cppcheck: exit status $?"; cat "$scratch/messages"; return 1; }
	sed -f "$scratch/known" "$scratch/messages"
}

checked()
{
	find "$1" -name '*.c' | while read -r source; do
		[ ! -e "$TENON_BUILD/${source%.c}.o" ] || echo "$source"
	done > "$scratch/read"
	[ -s "$scratch/read" ] || { echo "no source of $1 was compiled"; return 1; }
	cppcheck_of --file-list="$scratch/read" > "$scratch/left" && [ ! -s "$scratch/left" ] && return
	cat "$scratch/left"
	return 1
}

finds_what_is_wrong()
{
	printf '#include <stdlib.h>\nvoid f(void);\nvoid f(void)\n{\n\tchar *p = malloc(4);\n\n\tif (p)\n\t\tp[9] = 0;\n\tfree(p);\n}\n' \
		> "$scratch/wrong.c"
	cppcheck_of "$scratch/wrong.c" | grep arrayIndexOutOfBounds
}

it "a store behind the end of a block is found" finds_what_is_wrong
for folder in lib driver runtime rpc devices link llm tools; do
	it "$folder has nothing to find" checked "$folder"
done
finish
