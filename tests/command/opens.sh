#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How often the command opens the file of its command line

. tests/build/tap.sh
need "${CC%% *}"
for option in DSO LINK GRAPH_EXECUTOR TVM_LEGACY; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] && [ "$(uname -m)" = x86_64 ] ||
	skip "the command is not there, or not of this machine"
data=$PWD/tests/interop/data/tvm-0.18/graph_mlp
export TENON_CACHE_DIR="$scratch/cache"

# opens NUMBER FILE WORD...: the command with these words opens FILE so often
opens()
{
	want=$1 file=$2
	shift 2
	got=$("$scratch/opens" "$file" "$TENON_COMMAND" "$@" 2> "$scratch/out")
	cat "$scratch/out"
	echo "opened $got times, wanted $want"
	[ "$got" = "$want" ]
}

# runs NUMBER FILE: so does a run of the model in FILE
runs()
{
	opens "$1" "$2" run "$2" --input "x=@$data/in_x.npy" --expect "@$data/out0.npy" --rtol 1e-4 &&
		grep -q '^expected: ' "$scratch/out"
}

it "the counter is built" sh -c '$CC -o "$1" tests/command/opens.c' sh "$scratch/opens"
"$scratch/opens" "$data/graph.so" /bin/true > "$scratch/out" || skip "needs inotify"
# the runtime checks what the dynamic linker then maps
it "a module is opened once by the runtime and once by the dynamic linker" runs 2 "$data/graph.so"
it "inspecting opens it once to see what it is, and once more" opens 2 "$data/graph.so" inspect "$data/graph.so"
if "$TENON_COMMAND" inspect "$data/mlf_graph_c.tar" > /dev/null 2>&1; then
	it "an archive is opened once, when its code is compiled" runs 1 "$data/mlf_graph_c.tar"
	it "and once when its module is in the cache" runs 1 "$data/mlf_graph_c.tar"
fi
finish
