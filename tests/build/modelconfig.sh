#!/bin/sh
# SPDX-License-Identifier: MIT
#
# modelconfig builds, runs a graph in static arrays, of a file and of the program itself, and is no larger than it was

. tests/build/tap.sh
. tests/build/inner_make.sh
need size

limit=65536
# of gcc 12, which docs/size.md is of; others may have 2 KiB more
static_limit=40960
[ "$(${CC:-cc} -dumpversion)" = 12 ] || static_limit=43008
folder=$(kept modelconfig)

small_enough()
{
	sh tests/bench/tiny-size "$folder" static_memory > "$scratch/sizes" || return
	read -r bytes < "$scratch/sizes"
	echo "$bytes bytes of text and data, at most $limit"
	[ "$bytes" -gt 0 ] && [ "$bytes" -le $limit ]
}

runs_a_graph()
{
	"$folder/examples/static_memory" tests/interop/data/tvm-0.18/graph_mlp/graph.so > "$scratch/out" &&
		cat "$scratch/out" && grep -q '^[0-9.e-]* \.\.\.$' "$scratch/out"
}

# The model of this one is linked into the program: operators, graph.json and parameters.
runs_a_graph_in_the_program()
{
	sh tests/bench/static-size "$folder" > "$scratch/static" || return
	"$folder/static_model/program" > "$scratch/out.static" && diff "$scratch/out" "$scratch/out.static"
}

small_enough_with_the_model()
{
	read -r bytes < "$scratch/static"
	echo "$bytes bytes of text and data, at most $static_limit"
	[ "$bytes" -gt 0 ] && [ "$bytes" -le $static_limit ]
}

# the message of a build with messages names CONFIG_EXECUTOR_FUNCTIONS; this one has the status
has_no_functions_of_executors()
{
	cat > "$scratch/default.c" <<-END
	#include <tenon/tenon.h>
	int main(int argc, char **argv)
	{
		struct tenon_module *m;
		struct tenon_function *f;
		if (tenon_module_load(argv[1], &m))
			return 2;
		return tenon_module_get_function(m, "default", &f) != -TENON_E_UNSUPPORTED;
	}
	END
	${CC:-cc} -Iinclude "$scratch/default.c" "$folder/libtenon.a" -pthread -ldl -o "$scratch/default" &&
		"$scratch/default" tests/interop/data/tvm-0.18/graph_mlp/graph.so
}

it "modelconfig builds without a warning" \
	inner_make O="$folder" CPPFLAGS=-Werror modelconfig all
case $(uname -m) in
x86_64)
	it "a program with it runs a graph in static arrays" runs_a_graph
	it "a program that has the model in it runs it, with the same result" runs_a_graph_in_the_program
	it "that adds at most $static_limit bytes of text and data" small_enough_with_the_model
	it "the function that makes an executor is refused: CONFIG_EXECUTOR_FUNCTIONS is off" has_no_functions_of_executors
	;;
esac
it "it adds at most $limit bytes of text and data to a program" small_enough
awk '{ print "# modelconfig: " $1 " bytes" (NR == 1 ? " more in a program" : " in all objects") }' "$scratch/sizes"
finish
