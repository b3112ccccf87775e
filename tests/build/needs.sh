#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The build that "tenon needs --kconfig" describes runs the file, and names the option that another file lacks

. tests/build/tap.sh
. tests/build/inner_make.sh

case $(uname -m) in
x86_64)	;;
*)	skip "the modules of the tests are for x86-64" ;;
esac
data=tests/interop/data
graph=$data/tvm-0.8/graph_mlp/graph.so
folder=$(kept needs)
model=$folder/examples/model

builds()
{
	"$TENON_COMMAND" needs --kconfig $graph > "$folder/needs.config" &&
		inner_make -s O="$folder" CPPFLAGS=-Werror KCONFIG_ALLCONFIG="$folder/needs.config" allnoconfig all
}

# Options of Kconfig that are on, but for those that are on by themselves
has_these_options_and_no_others()
{
	sed -n 's/^CONFIG_\(.*\)=y$/\1/p' "$folder/.config" | grep -v '^\(PAYLOAD_FORMATS\|LISTED_PAYLOADS\|EXECUTORS\)$' | sort > "$scratch/are"
	sed -n 's/^CONFIG_\(.*\)=y$/\1/p' "$folder/needs.config" | sort > "$scratch/wanted"
	diff "$scratch/wanted" "$scratch/are"
}

gives_the_numbers_of_the_command()
{
	"$model" $graph 0.5 > "$scratch/small" && cat "$scratch/small" &&
		"$TENON_COMMAND" run $graph --input 1x32xfloat32="$(yes 0.5 | head -n 32 | paste -sd, -)" \
			--expect 1x10xfloat32="$(sed 's/ *$//; s/ /,/g' "$scratch/small")" --rtol 1e-4
}

# refuses FILE OPTION
refuses()
{
	! "$model" "$1" > "$scratch/words" 2>&1 && cat "$scratch/words" && grep -q "CONFIG_$2" "$scratch/words"
}

it "the configuration for a graph builds without a warning" builds
it "it has these options and no others" has_these_options_and_no_others
it "a program with it runs the graph" gives_the_numbers_of_the_command
it "a model of the Relax machine is refused with its option" refuses $data/tvm-0.18/relax_mlp/vm.so RELAX_VM
it "an ahead-of-time model is refused with its option" refuses $data/tvm-0.18/aot_mlp/aot_packed.so AOT_EXECUTOR
it "a module that imports the runtime is refused with its option" refuses $data/tvm-0.27.0.post1/model_mlp/model.so TVM_FFI_COMPAT
finish
