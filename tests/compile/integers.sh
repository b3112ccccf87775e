#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Networks in 8-bit integers, compiled and compared with ONNX Runtime, with the code of each level of x86-64 that the machine has

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
case $processors in
*v3*)
	it "they do with code for AVX2" integers --processor v3
	it "and with each code of a module for all" integers --processor v2,v3,v4+avx512vnni
	;;
esac
for feature in avx512_vnni:v4+avx512vnni avx_vnni:v3+avxvnni; do
	if grep -qs "^flags.* ${feature%:*} " /proc/cpuinfo; then
		it "they do with products of four bytes: ${feature#*:}" integers --processor "x86-64-${feature#*:}"
	fi
done
finish
