#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A pretrained network from ONNX to oneDNN without TVM: the outputs are those of ONNX Runtime, and how long both take on
# one thread is printed

. tests/build/tap.sh
. tests/compile/compile.sh
need "${CC%% *}"
for option in LINK DNNL_JSON GRAPH_EXECUTOR DSO; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the module is linked without the sanitizer"

prepared=$TENON_BUILD/compile
network=$prepared/networks/rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx
needs_python
[ -f "$network" ] || skip "$network is missing: tests/compile/prepare downloads it"

export TENON="$TENON_COMMAND" TENON_CACHE_DIR='' OMP_NUM_THREADS=1 CFLAGS="-O1 -I$PWD/include"
unset LDFLAGS
graph=$scratch/graph net=$scratch/net

it "the classifier of directions has a reference" "$python" tests/compile/reference.py "$network" "$scratch"
operators()
{
	"$python" examples/compile/operators.py "$network" -o "$graph" "$@"
}
it "it becomes a graph of operators" operators --shape x=1,3,48,192
refuses()
{
	! operators > "$scratch/refused" 2>&1 && cat "$scratch/refused" && grep -q -- '--shape x=' "$scratch/refused"
}
it "a shape that is missing is asked for" refuses

made()
{
	"$TENON" partition --for dnnl --params "$graph/graph.params" -o "$net" "$graph/graph.json" > "$scratch/parts"
	cat "$scratch/parts"
	grep -q ' in 1 region;' "$scratch/parts" && ! grep -q ' kept ' "$scratch/parts" && sh "$net/link.sh" -o "$net/model.so"
}
it "oneDNN takes all of it, in one region" made

"$TENON" run "$net/model.so" --input "x=@$scratch/x.npy" > "$scratch/why" 2>&1 || {
	grep -q libdnnl "$scratch/why" && finish
}
it "it gives what ONNX Runtime gives" "$TENON" run "$net/model.so" --input "x=@$scratch/x.npy" \
	--expect "@$scratch/y.npy" --rtol 1e-3 --atol 1e-4
it "on several threads, too" env OMP_NUM_THREADS=2 "$TENON" run "$net/model.so" --input "x=@$scratch/x.npy" \
	--expect "@$scratch/y.npy" --rtol 1e-3 --atol 1e-4
it "both are timed" "$python" tests/compile/beside_onnxruntime.py "$TENON" "$net/model.so" "$network" "$scratch/x.npy"
sed 's/^/# /' "$scratch/said"
finish
