#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random small graphs, compiled and compared with ONNX Runtime. COMPOSER_GRAPHS is how many (60), COMPOSER_FIRST the
# number of the first (1), which is the seed of that graph.

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python

composer()
{
	# shellcheck disable=SC2086
	(unset CC; "$python" tests/compile/composer.py "$TENON_COMMAND" "${COMPOSER_FIRST:-1}" "${COMPOSER_GRAPHS:-60}" $processors) \
		> "$scratch/composer" 2> "$scratch/warnings"
	status=$?
	cat "$scratch/composer"
	[ "$status" -eq 0 ] || tail -n 20 "$scratch/warnings"
	return "$status"
}
it "random graphs give what ONNX Runtime gives" composer
sed 's/^/# /' "$scratch/composer"
finish
