#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ThreadSanitizer on the extension and the library, loaded before a Python that has no sanitizer: a million calls of eight threads,
# and threads that share a queue

. tests/build/tap.sh
. tests/build/inner_make.sh
. tests/build/sanitizers.sh
. tests/python/can_run.sh
# a program: what is loaded before a script of the shell is loaded before the shell
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || skip "python3 is not installed"
can_run "$python"
sanitizer thread
library=$(${CC:-cc} -print-file-name=libtsan.so)
[ -e "$library" ] || skip "${CC:-cc} has no libtsan.so that could be loaded before Python"
folder=$(kept san-thread-python)

build_it()
{
	inner_make -s O="$folder" PYTHON="$python" SAN=thread CFLAGS='-O1 -g1' insideconfig python
}

# with_tsan ARGUMENT...: Python, which ends with 66 where a race is found
with_tsan()
{
	PYTHONPATH="$folder/python:tests/python" TSAN_OPTIONS='exitcode=66 halt_on_error=0' \
		$run env LD_PRELOAD="$library" "$python" "$@"
}

in_use()
{
	with_tsan -c 'import tenon; maps = open("/proc/self/maps").read(); assert "libtsan" in maps and "san-thread-python" in maps'
}

it "the package is built" build_it
it "Python runs with the sanitizer" in_use
it "a million calls of eight threads race with nothing" \
	with_tsan -c 'import many; many.a_million_calls_of_eight_threads_keep_no_reference()'
it "queues, timelines and recordings race with nothing" with_tsan tests/python/run.py awaiting queues
finish
