#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Documents that are made of sources agree with them, and lead to files that exist

. tests/build/tap.sh

is_current()
{
	sh scripts/matrix --check
}

# each fixture of TVM with results has a line in docs/results.tsv, and no line is of a fixture that is gone
has_results()
{
	status=0
	for file in tests/interop/data/*/*/cases.json; do
		fixture=${file#tests/interop/data/}
		fixture=${fixture%/cases.json}
		grep -q '"expect": \[$' "$file" || continue
		grep -q "^interop/cases_test	${fixture%/*} ${fixture#*/}	" docs/results.tsv ||
			{ echo "$fixture has no result: make check SUITE=interop/cases_test && make matrix"; status=1; }
	done
	for fixture in $(sed -n 's|^interop/cases_test	\([^ ]*\) \([^	]*\)	.*|\1/\2|p' docs/results.tsv); do
		[ -d "tests/interop/data/$fixture" ] || { echo "$fixture is gone"; status=1; }
	done
	return $status
}

# links between documents, and to files of the tree
links_lead_somewhere()
{
	status=0
	pages=$(find devices driver examples firmware lib link llm packaging rpc runtime tests tools -name README.md)
	for page in README.md CONTRIBUTING.md SECURITY.md docs/*.md docs/*/*.md $pages; do
		for link in $(grep -o ']([^)#: ]*[)#]' "$page" | sed 's/^](//; s/[)#]$//' | sort -u); do
			[ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link"; status=1; }
		done
	done
	return $status
}

# What a reader meets first is short: the README, the introduction, and the page of a room
stays_short()
{
	most=$1
	shift
	wc -l "$@" | awk -v most="$most" '$2 != "total" && $1 > most { print $2 ": " $1 " lines, at most " most; bad = 1 } END { exit bad }'
}

# the comments of headers are in the form that manual pages are made of
becomes_a_page()
{
	LC_ALL=C awk -v header="$1" -f scripts/header-pages.awk "$1" > "$scratch/page.scd" &&
		for name in $(sh scripts/declared-names "$1"); do
			tr -d '\\' < "$scratch/page.scd" | grep -q "^## $name\$" || { echo "$name is missing"; return 1; }
		done &&
		{ ! command -v scdoc >/dev/null 2>&1 || scdoc < "$scratch/page.scd" > "$scratch/page"; }
}

become_pages()
{
	for header in include/tenon/*.h include/tenon/*/*.h; do
		becomes_a_page "$header" || { echo "$header"; return 1; }
	done
}

# of each command that shells complete
commands_become_pages()
{
	for name in $(sed -n 's/^\([a-z]*\) | .* | .*/\1/p' tools/completion/words); do
		[ "$name" = help ] || LC_ALL=C awk -v command="$name" -f scripts/command-pages.awk tools/completion/words \
			docs/tenon.1.scd > "$scratch/$name.scd" || return
	done
	grep -q '^tenon-run - load a module' "$scratch/run.scd" && grep -q '^tenon-rpc - ' "$scratch/rpc.scd"
}

# ranges of versions of TVM in documents and messages are those of lib/tvm_versions.h
version_of()
{
	sed -n "s/^#define TVM_$1[[:space:]]*\"\([^\"]*\)\".*/\1/p" lib/tvm_versions.h
}

ranges_are_known()
{
	sed -n 's/^#define TVM_[A-Z_]*[[:space:]]*"\(0\.8 to [^"]*\)".*/\1/p' lib/tvm_versions.h > "$scratch/known"
	[ -s "$scratch/known" ] || return
	grep -Eo '0\.8( to |-|–)0\.[0-9]+' README.md NEWS Kconfig */*/Kconfig */*/*/Kconfig docs/*.md docs/*.scd packaging/buildroot/package/tenon/Config.in |
		grep -vwFf "$scratch/known" | awk '{ print } END { exit NR > 0 }'
}

# what Tenon loads is told alike everywhere
loads_the_same()
{
	blob=$(version_of BLOB_LEGACY) modern=$(version_of BLOB_MODERN)
	grep -q "both generations ($blob, and $modern" README.md &&
		grep -q "^\* Loads modules of Apache TVM $blob and of $modern" NEWS &&
		grep -q "^## The blob, TVM $blob\$" docs/modules.md &&
		grep -q "^Every module that TVM $blob, or $modern, exported" docs/making-modules.md &&
		grep -q "\"legacy\" for TVM $blob, " docs/tenon.1.scd &&
		grep -q "or for $(version_of LINK_LEGACY): the form of" docs/tenon.1.scd &&
		grep -q "such as \"$(version_of CALLS_LEGACY)\", " docs/tenon.1.scd
}

no_range_in_messages()
{
	grep -rnE '"[^"]*0\.8 to ' --include='*.c' --include='*.h' lib runtime rpc link llm devices driver tools | grep -v '^lib/tvm_versions.h:\|/\*.*0\.8 to\|:[0-9]*: \* ' |
		awk '{ print } END { exit NR > 0 }'
}

it "documents know the ranges of versions of TVM that messages have" ranges_are_known
it "documents agree on what is loaded" loads_the_same
it "messages take these ranges from one place" no_range_in_messages
it "docs/matrix.md is what docs/results.tsv says" is_current
it "each fixture of TVM has a result" has_results
it "links in documents lead to files" links_lead_somewhere
it "the README has fewer than 120 lines" stays_short 119 README.md
it "the introduction to the architecture has at most 120 lines" stays_short 120 docs/architecture.md
it "the page of a room has at most 100 lines" stays_short 100 $(find devices driver firmware lib link llm rpc runtime tools -name README.md)
it "each command becomes a manual page" commands_become_pages
it "each public header becomes a manual page with all its functions" become_pages
if command -v lowdown >/dev/null 2>&1 && command -v mandoc >/dev/null 2>&1 && command -v scdoc >/dev/null 2>&1; then
	it "the site is made" sh -c 'scdoc < docs/tenon-serve.1.scd > "$1/tenon-serve.1" && scdoc < docs/tenon.1.scd > "$1/tenon.1" &&
		sh scripts/site "$1/site" "$1/tenon.1" "$1/tenon-serve.1"' sh "$scratch"
	# the picture comes from the command, so it takes one that runs here, and a compiler for it
	has_picture()
	{
		[ ! -e "$scratch/site/import-tree.svg" ] && grep -q '<code class="language-dot">digraph modules' "$scratch/site/docs/modules.html" &&
			sed -n '/^<svg/,/<\/svg>/p' "$scratch/site/docs/modules.html" > "$scratch/picture" &&
			grep -q '>vecadd.so<' "$scratch/picture" && grep -q '>library<' "$scratch/picture" && grep -q '>opencl<' "$scratch/picture"
	}
	if command -v dot >/dev/null 2>&1 && [ -x "$TENON_COMMAND" ] && [ -z "${EMULATOR:-}${SAN:-}" ] &&
		grep -qs '^CONFIG_LINK=y' "$TENON_BUILD/include/config/auto.conf"; then
		it "the import tree in it is a picture of what the command says" has_picture
	else
		cases=$((cases + 1))
		echo "ok $cases - the import tree in it is a picture of what the command says # SKIP needs dot, and CONFIG_LINK in a build that runs here"
	fi
else
	cases=$((cases + 1))
	echo "ok $cases - the site is made # SKIP lowdown, mandoc or scdoc is not installed"
fi
finish
