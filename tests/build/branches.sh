#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/coverage counts the branches that tests take, and those that tests/build/branches explains; each line of that list is in the
# source.

. tests/build/tap.sh

# absent LIST: a line for each of LIST whose file, function or text is not in the tree
absent()
{
	awk '
		/^[ \t]*(#|$)/ { next }
		!/^\t/ {
			place = $0
			file = $1
			of = $2
			sub(/:$/, "", of)
			if (!(file in read)) {
				read[file]
				while ((getline line < file) > 0) {
					for (rest = line; match(rest, /[A-Za-z_][A-Za-z_0-9]*/); rest = substr(rest, RSTART + RLENGTH))
						names[file, substr(rest, RSTART, RLENGTH)]
					gsub(/\t/, " ", line)
					gsub(/^ +| +$/, "", line)
					lines[file, line]
				}
				close(file)
			}
			if (!((file, of) in names) || $2 !~ /:$/ || NF < 3)
				print "no such function, or no reason: " place
			next
		}
		{
			line = $0
			sub(/^\t/, "", line)
			gsub(/\t/, " ", line)
			if (!((file, line) in lines))
				print "no such line: " file ": " line
		}' "$1"
}

each_line_is_in_the_source()
{
	absent tests/build/branches > "$scratch/absent"
	cat "$scratch/absent"
	[ ! -s "$scratch/absent" ]
}

finds_what_is_not_in_the_source()
{
	{
		printf 'lib/cursor.c tenon_cursor_gone: it was\n'
		printf 'lib/cursor.c tenon_cursor_skip:\n'
		printf 'lib/cursor.c tenon_cursor_skip: it holds\n\tif (gone)\n'
	} > "$scratch/list"
	absent "$scratch/list" > "$scratch/absent"
	cat "$scratch/absent"
	[ "$(wc -l < "$scratch/absent")" = 3 ]
}

# a tree of one source, whose program was run
tree()
{
	mkdir -p "$scratch/tree/scripts" "$scratch/tree/lib" "$scratch/tree/build/lib"
	cp scripts/coverage "$scratch/tree/scripts/"
	cat > "$scratch/tree/lib/sign.c" <<-'END'
		static int sign(int n)
		{
			if (n > 0)
				return 1;
			if (n < 0)
				return -1;
			return 0;
		}
		int main(void)
		{
			return sign(1) + sign(0) != 1;
		}
	END
	(
		cd "$scratch/tree" || exit
		gcc -O0 --coverage -c lib/sign.c -o build/lib/sign.o && gcc --coverage build/lib/sign.o -o build/sign && build/sign
	)
}

coverage()
{
	(cd "$scratch/tree" && O=build BRANCHES=../list scripts/coverage "$@") > "$scratch/told" 2>&1
	status=$?
	cat "$scratch/told"
	return $status
}

counts_open_branches()
{
	tree || return
	: > "$scratch/list"
	coverage --table && grep -q '^lib  *8  *87.5 %  *4  *75.0 %  *0  *1$' "$scratch/told" || return
	coverage --untaken lib/sign.c && [ "$(cat "$scratch/told")" = "lib/sign.c:5: sign: 1 of 2 never taken: if (n < 0)" ]
}

counts_explained_branches()
{
	printf 'lib/sign.c sign: the caller has none below zero\n\tif (n < 0)\n' > "$scratch/list"
	coverage --table lib && grep -q '^lib .* 75.0 %  *1  *0$' "$scratch/told" || return
	coverage --untaken lib/sign.c && [ ! -s "$scratch/told" ]
}

refuses_what_explains_nothing()
{
	printf 'lib/sign.c sign: the caller has none below zero\n\tif (n < 0)\n\tif (n < 1)\n' > "$scratch/list"
	not coverage --table lib && grep -q '/list:3: explains no branch: lib/sign.c: sign: if (n < 1)' "$scratch/told"
}

refuses_what_is_taken()
{
	printf 'lib/sign.c sign: all are positive\n\tif (n > 0)\n' > "$scratch/list"
	not coverage --table lib && grep -q '/list:2: is taken now:' "$scratch/told" || return
	printf 'lib/sign.c sign: timing: most are positive\n\tif (n > 0)\n' > "$scratch/list"
	coverage --table lib
}

leaves_out_files_that_were_not_built()
{
	printf 'lib/gone.c gone: an option has it\n\tif (gone)\n' > "$scratch/list"
	coverage --table lib
}

# a program that is killed when it was given a word, and so is a child of it
counts_killed_processes()
{
	mkdir -p "$scratch/killed/scripts" "$scratch/killed/lib" "$scratch/killed/build/lib" "$scratch/killed/build/counters" &&
		cp scripts/coverage "$scratch/killed/scripts/" || return
	cat > "$scratch/killed/lib/sign.c" <<-'END'
		#include <signal.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static int sign(int n)
		{
			if (n > 0)
				return 1;
			if (n < 0)
				return -1;
			return 0;
		}
		int main(int argc, char **argv)
		{
			if (argc > 1)
				return fork() ? wait(0) < 0 || raise(SIGKILL) : sign(1) + raise(SIGKILL);
			return sign(-1) + sign(0) != -1;
		}
	END
	gcc -O2 -DCOUNTERS="\"$scratch/killed/build/counters\"" -c tests/coverage_counters.c -o "$scratch/killed/counters.o" || return
	source=$PWD
	(
		cd "$scratch/killed" || exit
		gcc -O0 --coverage -fdata-sections -c lib/sign.c -o build/lib/sign.o &&
			gcc --coverage build/lib/sign.o counters.o -o build/sign \
				-Wl,--wrap=_exit,-T,"$source/tests/coverage_counters.ld" || exit
		build/sign killed
		# counts of 64 bits that double each time are 0 after these
		for run in $(seq 70); do
			build/sign
		done
	) || return
	: > "$scratch/list"
	(cd "$scratch/killed" && O=build BRANCHES=../list scripts/coverage --untaken lib/sign.c) > "$scratch/told" 2>&1
	cat "$scratch/told"
	! grep 'lib/sign.c:[0-9]*: sign' "$scratch/told"
}

it "each explained branch is a line of the source" each_line_is_in_the_source
it "a line of the list that is not in the source is found" finds_what_is_not_in_the_source
if command -v gcov > /dev/null && command -v gcc > /dev/null && [ -z "${SAN:-}" ]; then
	it "branches that were never taken are open" counts_open_branches
	it "branches that the list explains are counted apart" counts_explained_branches
	it "a line of the list that matches no branch fails" refuses_what_explains_nothing
	it "a line of the list whose branches are taken fails, but for timing" refuses_what_is_taken
	it "files that were not built are left out" leaves_out_files_that_were_not_built
	it "what processes ran that were killed is counted" counts_killed_processes
fi
finish
