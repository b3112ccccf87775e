#!/bin/sh
# SPDX-License-Identifier: MIT
#
# modelconfig builds, runs a graph in static arrays, and is no larger than it was

. tests/build/tap.sh
. tests/build/inner_make.sh
need size

limit=73728
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
	it "the function that makes an executor is refused: CONFIG_EXECUTOR_FUNCTIONS is off" has_no_functions_of_executors
	;;
esac
it "it adds at most $limit bytes of text and data to a program" small_enough
awk '{ print "# modelconfig: " $1 " bytes" (NR == 1 ? " more in a program" : " in all objects") }' "$scratch/sizes"
finish
