# SPDX-License-Identifier: MIT
#
# Read by sanitizers_*.sh. sanitizer NAMES: skip where the compiler does not have them; run becomes the
# command that their programs are started with.

sanitizer()
{
	echo 'int main(void) { return 0; }' > "$scratch/probe.c"
	${CC:-cc} -fsanitize="$1" "$scratch/probe.c" -o "$scratch/probe" 2>/dev/null ||
		skip "${CC:-cc} cannot build with -fsanitize=$1 here"
	# some kernels place a program where the sanitizer wants its shadow
	run=
	"$scratch/probe" 2>/dev/null || run='setarch -R'
	$run "$scratch/probe" 2>/dev/null || skip "a program built with -fsanitize=$1 does not start here"
}
