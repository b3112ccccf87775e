#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each function that reads foreign bytes is run by a fuzz target. The list is made from the tree: functions with a parameter that
# is a cursor. Their files are compiled once more to count, and the targets read their seeds and their corpus, and 2000 mutants.
# A function that none of them reaches needs a target or a seed, or a line with the reason in tests/fuzz/unreached.

. tests/build/tap.sh
. tests/build/inner_make.sh

case ${CC:-cc} in
*clang*)	skip "gcov of gcc counts" ;;
esac
need gcov
# not --coverage, with which make's own probes of the linker would leave files in the source
counters='-Wl,-u,__gcov_init,-u,__gcov_exit,-u,__gcov_merge_add -lgcov'
rooms='lib driver runtime rpc devices link llm tools'

# readers FILE...: "FILE FUNCTION" of each that takes a cursor
readers()
{
	awk '
		FNR == 1 { head = "" }
		/^[a-z]/ { head = "" }
		/^[a-z].*\(/ || head != "" { head = head " " $0 }
		/^\{/ {
			if (head ~ /struct tenon_cursor [*a-z]/ && head !~ /;/) {
				# "int (name)(struct" where the name is that of a macro, too
				if (match(head, /\([a-z_]+\)\(/))
					head = substr(head, RSTART + 1, RLENGTH - 3)
				sub(/\(.*/, "", head)
				sub(/.*[ *]/, "", head)
				print FILENAME, head
			}
			head = ""
		}' "$@"
}

# Objects of libtenon.a and tool.a whose sources have readers, in a copy of the build. Plug-ins are inside of libtenon.a.
build()
{
	copy_build "$scratch/build" || return
	mkdir -p "$scratch/build/tests"
	(cd "$TENON_BUILD" && find tests/case_filter.* tests/fuzz/*.o tests/fuzz/*.d device 2>/dev/null | cpio -pdm --quiet "$scratch/build")
	set --
	while read -r source; do
		set -- "$@" "CFLAGS_${source%.c}.o=-O0 --coverage" "CFLAGS_static/${source%.c}.o=-O0 --coverage" \
			"CFLAGS_tests/hil/mortise/${source%.c}.o=-O0 --coverage"
		find "$scratch/build" -path "*/${source%.c}.o" -delete
	done < "$scratch/files"
	programs=$(sed -n ':a; /\\$/{N; s/\\\n//; ba}; s/^check-y *+= *//p' tests/fuzz/Kbuild | tr ' \t' '\n\n' |
		sed -n "s,\(.*_fuzz\)\.o\$,$scratch/build/tests/fuzz/\1,p")
	make_in_copy -s O="$scratch/build" LDFLAGS="$counters" "$@" $programs
}

run()
{
	for program in "$scratch"/build/tests/fuzz/*_fuzz; do
		for pattern in 'the_*' 'a_short*'; do
			TENON_CASE=$pattern TENON_BUILD=$scratch/build "$program" > "$scratch/log" 2>&1 || { tail -n 20 "$scratch/log"; return 1; }
		done
	done
}

# "FILE FUNCTION" of the readers that were run
count()
{
	find "$scratch/build" -name '*.gcda' > "$scratch/counted"
	(cd "$TENON_SOURCE" && xargs -n 1 gcov -n -f < "$scratch/counted" 2>/dev/null) |
		awk -F "'" '
			BEGIN { n = 0 }
			/^Function / { name[n] = $2; sub(/^\*tenon__/, "", name[n++]) }
			/^Lines executed:/ { run[n - 1] = $0 !~ /:0\.00%/ }
			/^File / { for (i = 0; i < n; i++) if (run[i]) print $2, name[i]; n = 0 }' | sort -u > "$scratch/reached"
	[ -s "$scratch/reached" ]
}

# what is not reached, less what is known, and what is known although it is reached or is not there
compare()
{
	comm -23 "$scratch/readers" "$scratch/reached" > "$scratch/unreached"
	sed -n 's/^\([^# ][^ ]* [^ ]*\) .*/\1/p' tests/fuzz/unreached | sort > "$scratch/known"
	diff "$scratch/known" "$scratch/unreached" > "$scratch/differ" && return
	sed -n 's/^> \(.*\)/\1: no fuzz target runs it/p; s/^< \(.*\)/\1: tests\/fuzz\/unreached names it, and it is run, or not there/p' "$scratch/differ"
	return 1
}

cd "$TENON_SOURCE" || exit
readers $(find $rooms -name '*.c') | sort -u > "$scratch/readers"
cut -d ' ' -f 1 "$scratch/readers" | sort -u > "$scratch/files"

it "there are functions that read foreign bytes" test "$(wc -l < "$scratch/readers")" -gt 200
it "they are compiled to count" build
it "the targets read their seeds, their corpus and mutants" run
it "what was run is counted" count
it "each of them is run, or the reason why not is known" compare
echo "# $(wc -l < "$scratch/readers") functions in $(wc -l < "$scratch/files") files"
finish
