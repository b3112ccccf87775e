# SPDX-License-Identifier: MIT
#
# Read by sanitizers_*.sh. sanitizer NAMES: skip where the compiler does not have them; run becomes the
# command that their programs are started with.

# oneDNN starts threads of OpenMP, which are not built for sanitizers: LeakSanitizer crashes when it looks at them, and
# ThreadSanitizer does not see their locks
export OMP_NUM_THREADS=1
# LeakSanitizer follows its records of thread-local storage into libraries that were closed, and now and then crashes
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}intercept_tls_get_addr=0"

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
