#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Random small graphs, compiled and compared with ONNX Runtime. COMPOSER_GRAPHS is how many (60), COMPOSER_FIRST the
# number of the first (1), which is the seed of that graph; COMPOSER_SIZE is about how many operators each has (12).

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python

composer()
{
	(unset CC; "$python" tests/compile/composer.py "$TENON_COMMAND" "${COMPOSER_FIRST:-1}" "$@") \
		> "$scratch/composer" 2> "$scratch/warnings"
	status=$?
	cat "$scratch/composer"
	[ "$status" -eq 0 ] || tail -n 20 "$scratch/warnings"
	return "$status"
}
# shellcheck disable=SC2086
it "random graphs give what ONNX Runtime gives" composer "${COMPOSER_GRAPHS:-60}" $processors
sed 's/^/# /' "$scratch/composer"
if [ "$(uname -m)" = x86_64 ] && grep -qs "^CONFIG_DNNL_JSON=[ym]" "$TENON_BUILD/include/config/auto.conf" &&
	ldconfig -p 2>/dev/null | grep -q 'libdnnl\.so'; then
	export TENON="$TENON_COMMAND" COMPOSER_LIBRARY=onednn
	it "and so they do where oneDNN computes products" composer 20 "$one_processor"
	sed 's/^/# /' "$scratch/composer"
	export ONEDNN_MAX_CPU_ISA=AVX2
	it "and so they do where it wants blocks of channels" composer 10 "$one_processor"
fi
finish
