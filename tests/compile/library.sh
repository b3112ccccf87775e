#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon-compile --library onednn: a network of two regions gives what ONNX Runtime gives

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
for option in LINK DNNL_JSON RELAX_VM DSO SELF_TEST; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"
[ "$(uname -m)" = x86_64 ] || skip "--library onednn is for x86-64"
needs_python

export TENON="$TENON_COMMAND" TENON_CACHE_DIR=''
"$python" tests/compile/small_networks.py "$scratch" || skip "the networks cannot be written"
products=$scratch/products.onnx

it "it is for this machine's kind of processor" refuses "--library onednn is for" "$products" -o "$scratch/none.so" \
	--library onednn --target aarch64 --cc cc
it "it needs the network rewritten" refuses "--as-it-is leaves" "$products" -o "$scratch/none.so" --library onednn --as-it-is
without_command()
{
	TENON=$scratch/none refuses "none is missing" "$products" -o "$scratch/none.so" --library onednn
}
it "it needs the command tenon" without_command

made()
{
	compile "$products" -o "$scratch/model.so" --library onednn --case --explain ${one_processor:+--processor "$one_processor"} |
		tee "$scratch/explained"
	[ -f "$scratch/model.so" ]
}
it "a network becomes a module" made
explained()
{
	cat "$scratch/explained"
	grep -q '^onednn computes 2 regions' "$scratch/explained" && grep -q '1 × sin$' "$scratch/explained" &&
		grep -q 'conv2d of 1x8x20x24 by 8x2x3x3: .*: onednn$' "$scratch/explained" &&
		grep -q 'conv2d of 1x3x20x24 by 8x3x3x3: .*: schedules$' "$scratch/explained"
}
it "what oneDNN computes is explained, and what is left" explained
it "the module has both regions" sh -c '[ "$("$TENON" inspect "$1" | grep -c dnnl_json)" -eq 2 ]' sh "$scratch/model.so"

self_test_of()
{
	"$TENON" run "$1" --self-test
}
TENON_DNNL_LIBRARY=/no/such/library.so self_test_of "$scratch/model.so" > "$scratch/why" 2>&1
it "without oneDNN the error names the package" grep -q 'apt install libdnnl2' "$scratch/why"
if ! ldconfig -p | grep -q 'libdnnl\.so'; then
	skip_case "it gives what ONNX Runtime gives" "libdnnl is not installed"
	finish
fi
it "it gives what ONNX Runtime gives" self_test_of "$scratch/model.so"
it "on one thread, too" env OMP_NUM_THREADS=1 "$TENON" run "$scratch/model.so" --self-test

# oneDNN has bytes where the processor adds their products exactly
in_bytes()
{
	compile "$scratch/bytes.onnx" -o "$scratch/bytes.so" --library onednn --case --explain --processor "$1" |
		tee "$scratch/explained"
	[ -f "$scratch/bytes.so" ]
}
it "a network in 8 bits becomes a module" in_bytes v4+avx512vnni
it "oneDNN has its products, and what makes bytes of them" grep -q '2 × dnnl.conv2d_bias$' "$scratch/explained"
case $processors in
*avx512vnni) it "it gives what ONNX Runtime gives" self_test_of "$scratch/bytes.so" ;;
*) skip_case "it gives what ONNX Runtime gives" "this processor does not add products of bytes" ;;
esac
it "for processors that do not add them it becomes one, too" in_bytes v3
without_onednn()
{
	grep -q '^onednn computes 0 regions' "$scratch/explained" && grep -q '^2 products of 8 bits stay' "$scratch/explained"
}
it "without oneDNN, which is explained" without_onednn

without_products()
{
	compile "$scratch/alike.onnx" -o "$scratch/alike.so" --library onednn --explain \
		${one_processor:+--processor "$one_processor"} | tee "$scratch/explained"
	grep -q '^onednn computes 0 regions' "$scratch/explained" &&
		"$TENON" run "$scratch/alike.so" --input x.y=1xfloat32=ones --input x_y=1xfloat32=ones
}
it "a network without products is left to TVM" without_products
finish
