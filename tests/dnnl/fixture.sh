#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A model that TVM 0.18 partitioned for oneDNN, as a plug-in of the command runs it

. tests/build/tap.sh
for option in TOOL DNNL_JSON GRAPH_EXECUTOR; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
grep -qs '^CONFIG_DSO=y' "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_DSO"
[ -x "$TENON_COMMAND" ] || skip "the command is not built"
[ "$(uname -m)" = x86_64 ] && [ -z "$EMULATOR" ] || skip "the model is for x86-64"
model=tests/interop/data/tvm-0.18/byoc_dnnl_mlp

TENON_DNNL_LIBRARY=/no/such/library.so "$TENON_COMMAND" run "$model/graph.so" --input "x=@$model/in_x.npy" 2> "$scratch/why"
told()
{
	cat "$scratch/why"
	grep -q 'apt install libdnnl2' "$scratch/why"
}
if grep -qs '^CONFIG_ERROR_MESSAGES=y' "$TENON_BUILD/include/config/auto.conf"; then
	it "without oneDNN the error names the package" told
fi
"$TENON_COMMAND" run "$model/graph.so" --input "x=@$model/in_x.npy" > "$scratch/why" 2>&1 || {
	grep -q 'libdnnl' "$scratch/why" && [ $cases -eq 0 ] && skip "oneDNN is not installed"
	grep -q 'libdnnl' "$scratch/why" && finish
}

equal()
{
	"$TENON_COMMAND" run "$model/graph.so" --input "x=@$model/in_x.npy" --expect "@$model/out0.npy"
}
it "its output is what TVM recorded" equal
it "on every run" env OMP_NUM_THREADS=1 "$TENON_COMMAND" run "$model/graph.so" --input "x=@$model/in_x.npy" \
	--expect "@$model/out0.npy" --repeat 20
finish
