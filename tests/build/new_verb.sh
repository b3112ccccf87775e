#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The recipe of tools/README.md for a verb of the command, line by line, in a copy of the tree and of the build under test: a folder, and
# five places outside of it

. tests/build/tap.sh
. tests/build/inner_make.sh
[ -z "${SAN:-}" ] || skip "the build under test is a sanitizer's"
[ -x "$TENON_BUILD/tenon" ] || skip "this build has no command"

tree=$scratch/tree
built=$scratch/built
outer=$PWD
command=$built/tenon

# the lines between ```sh and ``` under the heading, as a script; the test makes what they changed by itself
recipe()
{
	awk '
		/^## / { in_part = $0 == "## Add a verb" }
		/^```/ { in_code = in_part && /^```sh/; next }
		in_code && !/^make$/' tools/README.md
}

# Paths in objects are relative to the source: with those of the outer make, and its flags, its objects serve here as they are.
make_verb()
{
	TENON_SOURCE=$tree
	make_in_copy -s O="$built" ${CFLAGS+CFLAGS="$CFLAGS"} tenon-maps="-ffile-prefix-map=$outer=. -ffile-prefix-map=$built/=build/" "$@"
}

# what differs outside of the folder, as lines "FILE LINE": one for each run of changed lines
places()
{
	(cd "$tree" && find . -type f ! -path './tools/greet/*' | LC_ALL=C sort) | while read -r file; do
		diff -U 0 "$outer/$file" "$tree/$file" | sed -n "s|^@@ [^+]*+\([0-9]*\).*|$file \1|p"
	done
}

five_places()
{
	places > "$scratch/places"
	sed 's/ .*//' "$scratch/places" | uniq -c | awk '{ print $2, $1 }' > "$scratch/counted"
	printf './%s\n' 'docs/tenon.1.scd 2' 'tools/cli/verbs.h 1' 'tools/commands.c 1' 'tools/completion/words 1' | diff - "$scratch/counted" ||
		{ cat "$scratch/places"; return 1; }
}

# says LINE COMMAND...: it succeeds, and the line is one of its output
says()
{
	line=$1
	shift
	"$@" > "$scratch/log" 2>&1 && grep -x -- "$line" "$scratch/log" || { cat "$scratch/log"; return 1; }
}

helps()
{
	says '  tenon greet *Say hello' "$command" help && says '  --twice  say it twice' "$command" help greet &&
		says 'Usage: tenon greet \[--twice\]' "$command" greet --help
}

runs()
{
	says hello "$command" greet && says 'hello, hello' "$command" greet --twice || return
	"$command" greet --thrice 2> "$scratch/log"
	[ $? -eq 2 ] && grep -q 'tenon help greet' "$scratch/log" || { cat "$scratch/log"; return 1; }
}

rooms_agree()
{
	(cd "$tree" && TENON_SOURCE=. TENON_BUILD=$built sh tests/build/rooms.sh)
}

recipe > "$scratch/recipe"
it "the page has a recipe" test -s "$scratch/recipe"
it "the tree is copied" copy_source "$tree"
it "what is built can be copied" copy_build "$built"
it "the recipe is followed" sh -ec 'cd "$1" && . "$2"' sh "$tree" "$scratch/recipe"
it "five places outside of the folder are touched" five_places
it "the command is built" make_verb "$built/tenon" "$built/completion/tenon.bash"
it "tenon help lists and explains it" helps
it "it runs, and knows its options" runs
it "it is completed" grep -q greet "$built/completion/tenon.bash"
if command -v scdoc > /dev/null 2>&1; then
	it "it has a page in the manual" make_verb "$built/man1/tenon-greet.1"
fi
it "its folder needs no row in the table of rooms" rooms_agree
finish
