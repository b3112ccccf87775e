#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sources begin with a sentence, name functions for what they act on, and look as clang-format 14 writes them: other versions break some lines elsewhere

. tests/build/tap.sh

# The comment is the second line. Public headers begin with their page, a comment of kernel-doc below the guard or in its place.
# Its first paragraph has four words at least, and an end; that of an example may end with the command that runs it.
begins_with_a_sentence()
{
	find "$@" -type f \( -name '*.[chS]' -o -name '*.cpp' -o -name '*.sv' \) -exec awk '
		function complain(what) { print FILENAME ": " what; bad = 1; state = DONE }
		BEGIN { SEEK = 0; READ = 1; DONE = 2 }
		FNR == 1 { state = SEEK; text = ""; page = FILENAME ~ /^include\/.*\.h$/; next }
		state == DONE || (state == SEEK && page && /^(#ifndef .*|#define .*|)$/) { next }
		state == SEEK && !/^(\/\*|\/\/)/ { complain("no comment below the SPDX line says what the file is for"); next }
		state == SEEK { state = READ; line = /^\/\// }
		{
			ended = line ? !/^\/\/ ?[^ ]/ || /^\/\/ verilator/ : /\*\// || /^ \*$/
			said = $0
			gsub(/^ ?(\/\*+|\*\/|\*|\/\/) ?|\*\/.*/, "", said)
			if (!line || !ended)
				text = text " " said
		}
		ended {
			sub(/ +$/, "", text)
			if (page) {
				if (text !~ /^ +DOC: /)
					complain("it does not begin with its page, DOC: ")
			} else if (split(text, words, " ") < 4) {
				complain("what the file is for takes more than " text)
			} else if (text !~ /[.:!?]$/ && FILENAME !~ /^examples\//) {
				complain("the sentence has no end:" text)
			}
			state = DONE
		}
		END { exit bad }' {} +
}

# A backtrace without debug information has names alone: those of static functions say on what they act.
say_what_they_act_on()
{
	! grep -rnE '^static [^;=]*\<(run|describe|make_room)\(' --include='*.c' "$@"
}

# Scripts, too, begin with a comment below the SPDX line; those without a suffix are told by their first line
scripts_begin_with_a_sentence()
{
	find "$@" -type f \( -name '*.py' -o -name '*.awk' -o -name '*.sh' -o ! -name '*.*' \) -exec awk '
		FNR == 1 { begun = FILENAME !~ /\.[a-z]+$/ && !/^#!/; if (/^#!/) next }
		begun || /SPDX-License/ || /^#?$/ { next }
		{ begun = 1 }
		!/^(#|r?""")/ { print FILENAME ": no comment below the SPDX line says what the file is for"; bad = 1 }
		END { exit bad }' {} +
}

# A list of a folder's objects says what they are together
lists_begin_with_a_sentence()
{
	git ls-files '*Kbuild' | xargs awk '
		FNR == 2 && !/^# / { print FILENAME ": no comment below the SPDX line says what the file is for"; bad = 1 }
		END { exit bad }'
}

# What a compiler leaves beside a source by accident names the machine it ran on
keeps_nothing_of_a_compiler()
{
	! git ls-files | grep -E '\.(d|gcno|gcda|gch)$|(^|/)(a\.out|core)$'
}

formatted()
{
	find "$@" -name '*.[ch]' -print0 | xargs -0 -n 64 clang-format --dry-run -Werror
}

cannot_format=
if ! command -v clang-format > /dev/null 2>&1; then
	cannot_format="clang-format is not installed"
elif ! clang-format --version | grep -q 'version 14\.'; then
	cannot_format="$(clang-format --version) is not version 14"
fi

for folder in devices driver examples firmware include lib link llm python rpc runtime tests tools; do
	it "each file of $folder/ begins with a sentence" begins_with_a_sentence "$folder"
done
it "static functions are named for what they act on" say_what_they_act_on devices driver firmware lib link llm python rpc runtime tools
it "each script begins with a sentence" scripts_begin_with_a_sentence compile driver examples firmware hil packaging python rpc scripts tests tools
if git rev-parse --git-dir > /dev/null 2>&1; then
	it "each Kbuild begins with a sentence" lists_begin_with_a_sentence
	it "the tree keeps nothing that a compiler writes" keeps_nothing_of_a_compiler
else
	skip_case "each Kbuild begins with a sentence" "this is no checkout of git"
	skip_case "the tree keeps nothing that a compiler writes" "this is no checkout of git"
fi
for folder in compile devices driver examples firmware hil include lib link llm python rpc runtime tests tools; do
	if [ -z "$cannot_format" ]; then
		it "$folder/ is formatted" formatted "$folder"
	else
		skip_case "$folder/ is formatted" "$cannot_format"
	fi
done
finish
