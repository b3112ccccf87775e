#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Networks in 8-bit integers, compiled and compared with ONNX Runtime; on a machine that has AVX2 with that too

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
needs_python

integers()
{
	(unset CC; "$python" tests/compile/integers.py "$TENON_COMMAND" "$@") > "$scratch/integers" 2>&1
	status=$?
	cat "$scratch/integers"
	return "$status"
}
it "networks in 8-bit integers give what ONNX Runtime gives, or a step beside it" integers ${processors:+--processor "${processors%% *}"}
if [ "$processors" = "v2 v3" ]; then
	it "they do with code for AVX2" integers --processor v3
fi
for feature in avx512_vnni:v4+avx512vnni avx_vnni:v3+avxvnni; do
	if grep -qs "^flags.* ${feature%:*} " /proc/cpuinfo; then
		it "they do with products of four bytes: ${feature#*:}" integers --processor "x86-64-${feature#*:}"
	fi
done
finish
