#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Readers and writers of numbers in a program whose language has a comma in its numbers: suites of files, protocols and
# JSON, and code that is generated

. tests/build/tap.sh
need "${CC%% *}" localedef
[ -z "$SAN" ] || skip "LD_PRELOAD puts a library in front of the sanitizer's"
[ -z "$EMULATOR" ] || skip "the library is for this machine"
localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" > /dev/null 2>&1 || skip "the sources of locales are not installed"
$CC -shared -fPIC -o "$scratch/comma.so" tests/command/comma.c || skip "no library is linked here"

# german COMMAND...: it runs in that language
german()
{
	LC_ALL='' LANG=C LC_NUMERIC=de_DE.UTF-8 LOCPATH=$scratch LD_PRELOAD=$scratch/comma.so "$@"
}

[ "$(german env printf %.1f 1,5 2> /dev/null)" = 1,5 ] || skip "the C library has no language with a comma"

# generates_the_same FOR GRAPH: in both languages
generates_the_same()
{
	(cd "$scratch" && "$tenon" partition --for "$1" -o plain "$source/tests/partition/$2" > /dev/null &&
		german "$tenon" partition --for "$1" -o german "$source/tests/partition/$2" > /dev/null &&
		diff -r plain german && rm -r plain german)
}

# prints_the_same WORD...: the command in both languages, but for how long it took
prints_the_same()
{
	"$tenon" "$@" > "$scratch/plain.out" && german "$tenon" "$@" > "$scratch/german.out" &&
		for language in plain german; do sed '/"\(min\|median\|p90\|max\)":/d' "$scratch/$language.out" > "$scratch/$language"; done &&
		diff "$scratch/plain" "$scratch/german"
}

for suite in dnnl_json example_json graph_json gguf json json_tree npy params_files safetensors spec tensor tvm_ffi_dropin; do
	[ -x "$TENON_BUILD/tests/unit/${suite}_test" ] || continue
	it "$suite passes" german "$TENON_BUILD/tests/unit/${suite}_test"
done
source=$PWD tenon=$TENON_COMMAND
if [ -x "$tenon" ] && grep -qs '^CONFIG_LINK=y' "$TENON_BUILD/include/config/auto.conf"; then
	for kind in c dnnl; do
		for graph in bias net vec; do
			it "code of $graph for $kind is the same" generates_the_same $kind $graph.json
		done
	done
fi
model=tests/interop/data/tvm-0.18/graph_mlp
if [ -x "$tenon" ] && [ "$(uname -m)" = x86_64 ] && grep -qs '^CONFIG_GRAPH_EXECUTOR=[ym]' "$TENON_BUILD/include/config/auto.conf" &&
	grep -qs '^CONFIG_PARAMS_FILES=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "a model gives the same JSON" prints_the_same run $model/lib.so --graph $model/graph.json --params $model/model.params \
		--input x=@$model/in_x.npy --json
fi
finish
