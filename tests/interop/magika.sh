#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The pretrained network of the demo: types of files by their names, on the processor

. tests/build/tap.sh

for option in DSO TVM_FFI_COMPAT RELAX_VM; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run the module"
[ "$(uname -m)" = x86_64 ] || skip "the module is for x86-64"
export TENON="$TENON_COMMAND" LC_ALL=C

# says WORD OPTION... FILE: the name of the file's type
says()
{
	word=$1
	shift
	examples/magika/classify "$@" > "$scratch/words" || return
	cat "$scratch/words"
	grep -q ": $word [5-9][0-9]\.\|: $word 100\." "$scratch/words"
}

# a short file is filled up at both ends, and white space around it does not count
printf '\n\n#include <stdio.h>\nint main(void)\n{\n\tputs("short");\n\treturn 0;\n}\n\n' > "$scratch/short"

fails_on_a_missing_file()
{
	! examples/magika/classify "$scratch/none" > "$scratch/words" 2> "$scratch/errors" && grep -q none "$scratch/errors"
}

names_the_labels()
{
	! "$TENON" run examples/magika/cpu.so --labels "$scratch/none" > "$scratch/words" 2> "$scratch/errors" &&
		grep -q "$scratch/none" "$scratch/errors"
}

# the code of the first processor uses nothing of better ones
levels()
{
	"$TENON" verify --cpu examples/magika/cpu.so > "$scratch/needs" &&
		grep 'needs x86-64-v2 .*has x86-64-v3 .*has x86-64-v4+avx512vnni' "$scratch/needs"
}

it "the module runs on every processor with SSE4.2, and has code for better ones" levels
it "the README is Markdown" says markdown README.md
it "a short program is C" says c "$scratch/short"
it "the command is an ELF file" says elf "$TENON"
it "a file that is missing is named" fails_on_a_missing_file
it "so is a missing file of labels" names_the_labels
finish
