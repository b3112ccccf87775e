# SPDX-License-Identifier: MIT
#
# Read by the scripts of this folder. TAP from the shell: "it" runs a command as one case and shows
# what it printed when it fails; "skip" says why all of a script cannot run here.

set -u
cases=0 failures=0
scratch=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

it()
{
	sentence=$1
	shift
	cases=$((cases + 1))
	if "$@" > "$scratch/said" 2>&1; then
		echo "ok $cases - $sentence"
	else
		echo "not ok $cases - $sentence"
		tail -n 60 "$scratch/said" | sed 's/^/# /'
		failures=$((failures + 1))
	fi
}

# skip_case SENTENCE REASON: one case that cannot run here
skip_case()
{
	cases=$((cases + 1))
	echo "ok $cases - $1 # SKIP $2"
}

not()
{
	! "$@"
}

finish()
{
	echo "1..$cases"
	[ "$failures" -eq 0 ]
	exit
}

skip()
{
	echo "$*"
	exit 77
}

# commands that a script cannot do without
need()
{
	for command in "$@"; do
		command -v "$command" >/dev/null 2>&1 || skip "$command is not installed"
	done
}
