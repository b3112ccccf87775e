#!/bin/sh
# SPDX-License-Identifier: MIT
#
# scripts/kconfig.awk against small Kconfig files, and against kconfig-conf on the tree's own

. tests/build/tap.sh

awk_kconfig()
{
	LC_ALL=C "${AWK:-awk}" -f scripts/kconfig.awk "$@"
}

# resolve KCONFIG-TEXT CONFIG-TEXT: the complete configuration, sorted
resolve()
{
	printf '%b' "$1" > "$scratch/Kconfig"
	printf '%b' "$2" > "$scratch/config"
	awk_kconfig -v mode=full -v kconfig="$scratch/Kconfig" -v config="$scratch/config" \
		-v out="$scratch/out" ${strict:+-v strict=1} || return
	grep CONFIG_ "$scratch/out" | sort | tr '\n' ';'
}

gives()
{
	got=$(resolve "$1" "$2") || return
	[ "$got" = "$3" ] || { printf 'want %s\ngot  %s\n' "$3" "$got"; return 1; }
	command -v kconfig-conf > /dev/null 2>&1 || return 0
	KCONFIG_CONFIG=$scratch/theirs kconfig-conf "--defconfig=$scratch/config" "$scratch/Kconfig" > "$scratch/talk" 2>&1 ||
		{ cat "$scratch/talk"; return 1; }
	got=$(grep CONFIG_ "$scratch/theirs" | sort | tr '\n' ';')
	[ "$got" = "$3" ] || { printf 'want %s\nkconfig-conf gives %s\n' "$3" "$got"; return 1; }
}

# refuses KCONFIG-TEXT CONFIG-TEXT PATTERN: an error that says so
refuses()
{
	if resolve "$1" "$2" > "$scratch/words" 2>&1; then
		echo "was accepted"
		return 1
	fi
	cat "$scratch/words"
	grep -q -e "$3" "$scratch/words"
}

AB='config A\n\tbool "a"\nconfig B\n\tbool "b"\n\tdefault y\n\tdepends on A\n'

it "a default holds only where its dependencies do" gives "$AB" "" "# CONFIG_A is not set;"
it "a default holds where its dependencies do" gives "$AB" "CONFIG_A=y\n" "CONFIG_A=y;CONFIG_B=y;"
it "what the person chose wins over the default" \
	gives "$AB" "CONFIG_A=y\n# CONFIG_B is not set\n" "# CONFIG_B is not set;CONFIG_A=y;"
it "the last of two lines for a symbol counts" \
	gives "$AB" "CONFIG_A=y\nCONFIG_A=n\n" "# CONFIG_A is not set;"
it "the first default whose condition holds is taken" \
	gives 'config A\n\tbool "a"\nconfig B\n\tbool "b"\n\tdefault n if A\n\tdefault y\n' \
	"CONFIG_A=y\n" "# CONFIG_B is not set;CONFIG_A=y;"
it "a select wins over what the person chose" \
	gives 'config A\n\tbool "a"\n\tselect B\nconfig B\n\tbool "b"\n' \
	"CONFIG_A=y\n# CONFIG_B is not set\n" "CONFIG_A=y;CONFIG_B=y;"
SEL='config A\n\tbool "a"\n\tselect D if !B\nconfig B\n\tbool "b"\nconfig C\n\tbool "c"\n\tselect D if B\nconfig D\n\tbool\n'
it "a select counts where its condition holds" \
	gives "$SEL" "CONFIG_A=y\n" "# CONFIG_B is not set;# CONFIG_C is not set;CONFIG_A=y;CONFIG_D=y;"
it "a select does not count where its condition does not hold, nor one of a symbol that is off" \
	gives "$SEL" "CONFIG_A=y\nCONFIG_B=y\n" "# CONFIG_C is not set;CONFIG_A=y;CONFIG_B=y;"
it "an if holds for what is in it, and for an if in it" \
	gives 'config A\n\tbool "a"\nif !A\nconfig B\n\tbool "b"\n\tdefault y\nif A || A && !A\nconfig C\n\tbool "c"\nendif\nendif\n' \
	"" "# CONFIG_A is not set;CONFIG_B=y;"
it "an and goes before an or, and parentheses before both" \
	gives 'config A\n\tbool "a"\nconfig B\n\tbool\n\tdefault y if !A || A && A\nconfig C\n\tbool\n\tdefault y if (!A || A) && A\n' \
	"" "# CONFIG_A is not set;CONFIG_B=y;"
it "a help text is not read as attributes" \
	gives 'config A\n\tbool "a"\n\thelp\n\t  select X\n\n\t  config Y\nconfig B\n\tbool "b"\n' \
	"" "# CONFIG_A is not set;# CONFIG_B is not set;"

sources()
{
	printf 'config B\n\tbool "b"\n\tdepends on A\n\tdefault y\n\thelp\n\t  text\n' > "$scratch/part"
	gives "config A\n\tbool \"a\"\n\tdefault y\nif A\nsource \"$scratch/part\"\nconfig C\n\tbool \"c\"\nendif\n" "$1" "$2"
}
it "the lines of another file stand where it is named" sources "CONFIG_C=y\n" "CONFIG_A=y;CONFIG_B=y;CONFIG_C=y;"
it "an if holds for another file that is named in it" sources "# CONFIG_A is not set\n" "# CONFIG_A is not set;"
it "a file that is not there is refused" refuses 'source "nowhere/Kconfig"\n' "" "nowhere/Kconfig: cannot be read"
it "a file that names itself is refused" sh -c 'printf "source \"%s\"\n" "$1" > "$1"; ! awk -f scripts/kconfig.awk -v mode=full -v kconfig="$1" -v out=/dev/null 2>&1' - "$scratch/self"

MOD='config MODULES\n\tbool "m"\n\tdefault y\n\toption modules\n'
TRI='config A\n\ttristate "a"\n'
it "a tristate can be a plug-in" gives "$MOD$TRI" "CONFIG_A=m\n" "CONFIG_A=m;CONFIG_MODULES=y;"
it "a tristate is a bool where plug-ins are switched off" \
	gives "$MOD$TRI" "CONFIG_A=m\n# CONFIG_MODULES is not set\n" "# CONFIG_MODULES is not set;CONFIG_A=y;"
it "what depends on a plug-in is one at most" \
	gives "$MOD${TRI}config B\n\ttristate \"b\"\n\tdepends on A\n" "CONFIG_A=m\nCONFIG_B=y\n" \
	"CONFIG_A=m;CONFIG_B=m;CONFIG_MODULES=y;"
it "a bool that depends on a plug-in can be y" \
	gives "$MOD${TRI}config B\n\tbool \"b\"\n\tdefault y\n\tdepends on A\n" "CONFIG_A=m\n" \
	"CONFIG_A=m;CONFIG_B=y;CONFIG_MODULES=y;"
it "a plug-in selects a tristate as a plug-in, and the person may make it y" \
	gives "$MOD${TRI}\tselect B\nconfig B\n\ttristate \"b\"\nconfig C\n\ttristate \"c\"\n\tselect D\nconfig D\n\ttristate \"d\"\n" \
	"CONFIG_A=m\nCONFIG_B=n\nCONFIG_C=m\nCONFIG_D=y\n" \
	"CONFIG_A=m;CONFIG_B=m;CONFIG_C=m;CONFIG_D=y;CONFIG_MODULES=y;"
it "not, and, or know the value in the middle" \
	gives "$MOD${TRI}config B\n\ttristate \"b\"\n\tdefault y if !A && (A || !A)\n" "CONFIG_A=m\n" \
	"CONFIG_A=m;CONFIG_B=m;CONFIG_MODULES=y;"
it "a tristate that is none of its values is refused" \
	refuses "$MOD$TRI" "CONFIG_A=x\n" 'is y, m or n, not x'

# leaves_out KCONFIG-TEXT CONFIG-TEXT PATTERN RESULT: a message that says so, and the rest holds
leaves_out()
{
	got=$(resolve "$1" "$2" 2> "$scratch/words")
	cat "$scratch/words"
	[ "$got" = "$4" ] || { printf 'want %s\ngot  %s\n' "$4" "$got"; return 1; }
	grep -q -e "$3" "$scratch/words"
}
it "an unknown symbol is left out, with file, line and the nearest name" \
	leaves_out 'config TVM_LEGACY\n\tbool "a"\n' "\n\nCONFIG_TVM_LEGASY=y\nCONFIG_TVM_LEGACY=y\n" \
	'config:3: unknown symbol CONFIG_TVM_LEGASY is left out; did you mean CONFIG_TVM_LEGACY?' 'CONFIG_TVM_LEGACY=y;'
it "an unknown symbol that is not set is left out as well" \
	leaves_out "$AB" "# CONFIG_C is not set\n" 'unknown symbol CONFIG_C' '# CONFIG_A is not set;'
strictly_refuses()
{
	strict=1
	refuses "$@"
	result=$?
	strict=
	return $result
}
it "an unknown symbol is refused where that is asked for" strictly_refuses "$AB" "CONFIG_C=y\n" 'unknown symbol CONFIG_C$'
it "a bool that is neither y nor n is refused" refuses "$AB" "CONFIG_A=m\n" 'is y or n, not m'
it "a line that is no setting is refused" refuses "$AB" "CONFIG A=y\n" 'config:1: not understood'
it "what is not of the grammar is refused with file and line" \
	refuses 'config N\n\tint "n"\n' "" "Kconfig:2: 'int' is not known here"
it "an expression without an end is refused" \
	refuses 'config A\n\tbool "a"\nconfig B\n\tbool "b"\n\tdefault y if (A ||\n' "" 'expression not understood'
it "a symbol that depends on itself is refused" \
	refuses 'config A\n\tbool "a"\n\tdepends on B\nconfig B\n\tbool "b"\n\tdepends on A\n' "" \
	'depends on itself'
it "a dependency on an unknown symbol is refused" \
	refuses 'config A\n\tbool "a"\n\tdepends on NOBODY\n' "" 'unknown symbol NOBODY'
it "a symbol defined twice is refused" refuses "${AB}config A\n\tbool\n" "" 'defined twice'
it "a menu without end is refused" refuses 'menu "m"\n' "" 'menu is not closed'

# header NAME VALUE: what C sees of the configuration
header_has()
{
	printf 'CONFIG_A=y\nCONFIG_P=m\n' > "$scratch/config"
	printf 'config P\n\ttristate "p"\nconfig M\n\tbool\n\tdefault y\n\toption modules\n' > "$scratch/Kconfig"
	printf 'config A\n\tbool "a"\nconfig B\n\tbool "b"\n' >> "$scratch/Kconfig"
	awk_kconfig -v mode=build -v kconfig="$scratch/Kconfig" -v config="$scratch/config" \
		-v conf="$scratch/auto.conf" -v header="$scratch/autoconf.h" || return
	grep -v '^/[*]' "$scratch/autoconf.h" > "$scratch/got"
	printf '#%s\n' 'ifdef TENON_PLUGINS_INSIDE' 'define CONFIG_P 1' else 'define CONFIG_P_MODULE 1' \
		endif 'define CONFIG_M 1' > "$scratch/want"
	echo '#define CONFIG_A 1' >> "$scratch/want"
	echo '#define TENON_CONFIG_TEXT "P=m M A"' >> "$scratch/want"
	diff "$scratch/want" "$scratch/got"
}
it "the header defines what is on and leaves out what is off" header_has

comments_out()
{
	grep CONFIG_ "$1" | sort
}

# same_as_conf OUR-ARGUMENTS ITS-ARGUMENTS: both programs resolve the tree's Kconfig alike
same_as_conf()
{
	ours=$1 theirs=$2
	awk_kconfig $ours -v kconfig=Kconfig -v out="$scratch/ours" || return
	KCONFIG_CONFIG=$scratch/theirs kconfig-conf $theirs Kconfig > "$scratch/talk" 2>&1 ||
		{ cat "$scratch/talk"; return 1; }
	comments_out "$scratch/ours" > "$scratch/ours.sorted"
	comments_out "$scratch/theirs" > "$scratch/theirs.sorted"
	[ -s "$scratch/ours.sorted" ] && diff "$scratch/theirs.sorted" "$scratch/ours.sorted"
}

same_minimal()
{
	awk_kconfig -v mode=full -v kconfig=Kconfig -v config="$1" -v out="$scratch/full" &&
		awk_kconfig -v mode=minimal -v kconfig=Kconfig -v config="$scratch/full" \
			-v out="$scratch/minimal" &&
		grep -v '^# SPDX' "$1" | diff - "$scratch/minimal"
}

# An option that went leaves no #if or OPTION_ON() behind, nor a suite that is skipped for ever
names_only_options()
{
	sed -n 's/^config //p' Kconfig */*/Kconfig */*/*/Kconfig | sort -u > "$scratch/options"
	{
		find . -path './build*' -prune -o -name '*.[ch]' -print | xargs grep -hE '^#(if|elif)' |
			grep -oE 'CONFIG_[A-Z0-9_]+' | sed 's/^CONFIG_//; s/_MODULE$//'
		# not what a comment says of them
		find . -path './build*' -prune -o -name '*.[ch]' -print | xargs grep -hvE '^\s*(/?[*]|//)' |
			grep -oE '(OPTION_(ON|SLOT|ROWS|CHOOSE)|PLUGIN_SLOT)[(][A-Z0-9_]+' | sed 's/.*[(]//'
		find . -path './build*' -prune -o -name Kbuild -print | xargs grep -hv '^#' > "$scratch/kbuild"
		grep -hv '^#' scripts/Makefile.* >> "$scratch/kbuild"
		grep -oE '[(]CONFIG_[A-Z0-9_]+[)]' "$scratch/kbuild" | sed 's/^(CONFIG_//; s/)$//'
		sed -n 's/.*needs-[^ ]* *[:+]= *\([^)]*\).*/\1/p' "$scratch/kbuild" | grep -oE '[A-Z][A-Z0-9_]+'
	} | sort -u > "$scratch/named"
	comm -13 "$scratch/options" "$scratch/named" > "$scratch/unknown"
	cat "$scratch/unknown"
	[ -s "$scratch/named" ] && [ ! -s "$scratch/unknown" ]
}
it "every option that sources and suites name is there" names_only_options

for config in configs/*config; do
	it "$config is in the form that savedefconfig writes" same_minimal "$config"
done
if command -v kconfig-conf >/dev/null 2>&1; then
	it "allyesconfig is what kconfig-conf makes" same_as_conf "-v mode=allyes" --allyesconfig
	it "allnoconfig is what kconfig-conf makes" same_as_conf "-v mode=allno" --allnoconfig
	for config in configs/*config; do
		it "$config becomes what kconfig-conf makes of it" same_as_conf \
			"-v mode=full -v config=$config" "--defconfig=$config"
	done
else
	cases=$((cases + 1))
	echo "ok $cases - the same as kconfig-conf # SKIP kconfig-conf is not installed"
fi
finish
