# SPDX-License-Identifier: MIT
#
# Read behind tap.sh by scripts that run the command on what Vela made.

config=$TENON_BUILD/include/config/auto.conf

# needs_options VALUES OPTION...: skip unless each has one of the values, "y" or "ym"
needs_options()
{
	values=$1
	shift
	for option in "$@"; do
		grep -qs "^CONFIG_$option=[$values]" "$config" || skip "needs CONFIG_$option"
	done
	[ -x "$TENON_COMMAND" ] || skip "the command is not built"
}

tenon()
{
	$EMULATOR "$TENON_COMMAND" "$@"
}

# says STATUS WORDS COMMAND...: it exits so, and prints the words
says()
{
	status=$1 words=$2
	shift 2
	"$@" > said.txt 2>&1
	got=$?
	cat said.txt
	[ $got -eq "$status" ] && grep -qF -- "$words" said.txt
}
