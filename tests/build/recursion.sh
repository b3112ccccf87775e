#!/bin/sh
# SPDX-License-Identifier: MIT
#
# No bytes from outside decide how deep functions of the libraries call themselves. Cycles of calls are read from the code that the
# compiler made; each leads through a function that tests/build/recursions names with its bound. To take a function's address counts as
# a call. What is called through a table of another source (a loader, a backend, a deleter) is not seen: there stack_room_check() and
# nested_delete() are the bounds, and their tests the proof.

. tests/build/tap.sh

need objdump nm
[ -z "${SAN:-}" ] || skip "sanitizers add calls of their own"
objdump -f "$TENON_BUILD/lib/cursor.o" 2>/dev/null | grep -q x86-64 || skip "calls are read from code of x86-64"

# calls FOLDER: a line "OBJECT:CALLER OBJECT:CALLEE" for each call between functions of the objects below the folders of libraries
calls()
{
	(
		cd "$1" || exit
		for folder in lib driver runtime rpc devices link llm; do
			[ ! -d $folder ] || find $folder -name '*.o'
		done > "$scratch/objects"
		xargs nm -A --defined-only < "$scratch/objects"
		echo "=="
		xargs objdump -dr --no-show-raw-insn < "$scratch/objects"
	) | awk '
		# the name that the source has: of a section for each function, a part that gcc made of one, a name that is kept apart
		function plain(name) {
			sub(/^\.text\.((unlikely|hot|startup|exit)\.)?/, "", name)
			sub(/[-+]0x[0-9a-f]+$/, "", name)
			sub(/\..*/, "", name)
			sub(/^tenon__/, "", name)
			return name
		}
		function called(target, name) {
			name = plain(target)
			return target ~ /^\.text\./ || (object ":" name) in defined ? object ":" name : global[name]
		}
		/^==$/ { code = 1; next }
		!code {
			split($0, part, /[: ]+/)
			key = part[1] ":" plain(part[4])
			if (part[3] ~ /^[TtWi]$/)
				defined[key]
			if (part[3] ~ /^[TW]$/)
				global[plain(part[4])] = key
			next
		}
		/file format/ { object = $1; sub(/:$/, "", object); next }
		/^[0-9a-f]+ <.*>:$/ { gsub(/[<>:]/, "", $2); caller = object ":" plain($2); next }
		# gcc puts what is rarely run into a part of its own, and jumps there and back
		/: R_X86_64_/ {
			callee = called($3)
			if (callee in defined && (callee != caller || (is_call && $3 !~ /unlikely/)))
				print caller, callee
			next
		}
		{ is_call = $2 == "call" }
		is_call && $4 ~ /^<[^+]*>$/ { gsub(/[<>]/, "", $4); print caller, object ":" plain($4) }' | sort -u
}

# cycles LIST < CALLS: a line for each group of functions that call each other where none of LIST is run
cycles()
{
	awk -v list="$1" '
		BEGIN {
			while ((getline line < list) > 0) {
				sub(/ *#.*/, "", line)
				n = split(line, word, " ")
				for (i = 2; i <= n; i++)
					bounded[word[1] ":" word[i]]
			}
		}
		{
			caller = $1; callee = $2
			sub(/.*\//, "", caller); sub(/\.o:/, ":", caller)
			sub(/.*\//, "", callee); sub(/\.o:/, ":", callee)
			if (!(caller in bounded) && !(callee in bounded))
				next_of[$1] = next_of[$1] " " $2
		}
		# all that a function may come to, into seen
		function walk(from, queue, first, last, n, i, callees) {
			split("", seen)
			queue[last = 1] = from
			for (first = 1; first <= last; first++) {
				n = split(next_of[queue[first]], callees, " ")
				for (i = 1; i <= n; i++)
					if (callees[i] in left && !(callees[i] in seen)) {
						seen[callees[i]]
						queue[++last] = callees[i]
					}
			}
		}
		END {
			# functions that call none of those left are in no cycle
			for (f in next_of)
				left[f]
			do {
				gone = 0
				for (f in left) {
					n = split(next_of[f], callees, " ")
					for (i = 1; i <= n && !(callees[i] in left); i++)
						;
					if (i > n) {
						delete left[f]
						gone++
					}
				}
			} while (gone)
			for (f in left) {
				walk(f)
				for (g in seen)
					reaches[f, g]
			}
			for (f in left) {
				group = ""
				for (g in left)
					if (!(g in told) && (f, g) in reaches && (g, f) in reaches) {
						group = group " " g
						told[g]
					}
				if (group)
					print "recursion:" group
			}
		}' | sort
}

# unused LIST < CALLS: a line for each of LIST whose object the tree has, and none of whose functions is in a cycle
unused()
{
	cycles /dev/null | tr ' ' '\n' | sed -n 's/.*\/\([^/]*\)\.o:/\1:/p' > "$scratch/in_cycles"
	sed 's/.*\///; s/\.o$//' "$scratch/objects" > "$scratch/built"
	awk -v cycles="$scratch/in_cycles" -v built="$scratch/built" '
		BEGIN {
			while ((getline line < cycles) > 0)
				in_cycle[line]
			while ((getline line < built) > 0)
				has[line]
		}
		{ sub(/ *#.*/, "") }
		!NF || !($1 in has) { next }
		{
			for (i = 2; i <= NF && !(($1 ":" $i) in in_cycle); i++)
				;
			if (i > NF)
				print "no cycle leads through: " $0
		}' "$1"
}

there_are_calls()
{
	calls "$TENON_BUILD" > "$scratch/calls" && wc -l < "$scratch/calls" && [ "$(wc -l < "$scratch/calls")" -gt 1000 ]
}

each_is_bounded()
{
	cycles tests/build/recursions < "$scratch/calls" > "$scratch/cycles"
	cat "$scratch/cycles"
	[ ! -s "$scratch/cycles" ]
}

each_line_is_needed()
{
	unused tests/build/recursions < "$scratch/calls" > "$scratch/unused"
	cat "$scratch/unused"
	[ ! -s "$scratch/unused" ]
}

# put_in NAME < SOURCE: an object in the tree of one test
put_in()
{
	mkdir -p "$scratch/tree/lib"
	gcc -O2 -ffunction-sections -x c -c - -o "$scratch/tree/lib/$1.o"
}

finds_one_that_calls_itself()
{
	put_in nested <<-'END' || return
		int nested(const char **at);
		int nested(const char **at)
		{
			int deepest = 0, n;

			while (*(*at)++ == '(')
				if ((n = nested(at)) > deepest)
					deepest = n;
			return deepest + 1;
		}
	END
	calls "$scratch/tree" | cycles /dev/null > "$scratch/found"
	cat "$scratch/found"
	grep -q 'lib/nested.o:nested' "$scratch/found"
}

finds_two_sources_that_call_each_other()
{
	put_in first <<-'END' || return
		int second(const char *at, int (*each)(const char *));
		static int each(const char *at);
		static int each(const char *at) { return *at ? second(at + 1, each) + 1 : 0; }
		int first(const char *at);
		int first(const char *at) { return second(at, each) * 2; }
	END
	put_in second <<-'END' || return
		int first(const char *at);
		int second(const char *at, int (*each)(const char *));
		int second(const char *at, int (*each)(const char *)) { return *at == '.' ? first(at + 1) + 1 : each(at) + 1; }
	END
	calls "$scratch/tree" | cycles /dev/null > "$scratch/found"
	cat "$scratch/found"
	grep 'lib/first.o:first' "$scratch/found" | grep -q 'lib/second.o:second'
}

leaves_out_what_is_listed()
{
	echo 'nested nested # as deep as its text nests' > "$scratch/list"
	calls "$scratch/tree" | cycles "$scratch/list" > "$scratch/found"
	cat "$scratch/found"
	not grep -q nested.o "$scratch/found"
}

finds_a_line_that_bounds_nothing()
{
	printf 'nested nested # as deep as its text nests\nfirst gone # it was\nabsent gone # in another build\n' > "$scratch/list"
	calls "$scratch/tree" > "$scratch/some"
	unused "$scratch/list" < "$scratch/some" > "$scratch/found"
	cat "$scratch/found"
	[ "$(cat "$scratch/found")" = "no cycle leads through: first gone" ]
}

if command -v gcc > /dev/null; then
	it "a function that calls itself is found" finds_one_that_calls_itself
	it "sources that call each other are found" finds_two_sources_that_call_each_other
	it "what the list bounds is left out" leaves_out_what_is_listed
	it "a line of the list that bounds nothing is found" finds_a_line_that_bounds_nothing
fi
it "calls are found in the code" there_are_calls
it "each cycle of calls is bounded" each_is_bounded
# others may make a loop of a call, or a function of its own
if ${CC:-cc} --version | grep -q clang; then
	skip_case "each line of the list bounds a cycle" "the list is for gcc"
elif ! echo " ${CFLAGS:--O2} " | grep -q ' -O2 '; then
	skip_case "each line of the list bounds a cycle" "the list is for -O2"
else
	it "each line of the list bounds a cycle" each_line_is_needed
fi
finish
