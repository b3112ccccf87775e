#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tenon partition with each code generator: the module that is linked gives what the graph gives without partitions

. tests/build/tap.sh
need "${CC%% *}"
config=$TENON_BUILD/include/config/auto.conf
for option in LINK DSO ERROR_MESSAGES GRAPH_EXECUTOR; do
	grep -qs "^CONFIG_$option=[ym]" "$config" || skip "needs CONFIG_$option"
done
[ -x "$TENON_COMMAND" ] && [ -z "$EMULATOR" ] || skip "the command cannot run what the compiler makes"
[ -z "$SAN" ] || skip "the modules are linked without the sanitizer"

export CC TENON="$TENON_COMMAND" TENON_CACHE_DIR='' CFLAGS="-O1 -Wall -Wextra -Werror -I$PWD/include"
unset LDFLAGS
source=$PWD graphs=$PWD/tests/partition
fixture=$PWD/tests/interop/data/tvm-0.18/graph_mlp_opencl
cd "$scratch" || exit 1

# made GENERATORS GRAPH OUT: partition, generate and link
made()
{
	"$TENON" partition --for "$1" -o "$3.d" "$2" | tee said && sh "$3.d/link.sh" -o "$3.so"
}

net="--input x=1x3x12x12xfloat32=random:1 --input w1=8x3x3x3xfloat32=random:2 --input b1=8x1x1xfloat32=random:3
	--input w2=8x8x3x3xfloat32=random:4 --input b2=8xfloat32=random:5 --input dw=8x1x3x3xfloat32=random:6
	--input w3=10x128xfloat32=random:7 --input b3=10xfloat32=random:8"
int="--input x=4x16xint8=random:1 --input w=8x16xint8=random:2 --input b=4x8xint32=random:3 --input y=4x8xint32=random:4"
vec="--input a=2x3xfloat32=random:1 --input b=2x3xfloat32=random:2 --input c=2x3xfloat32=random:3 --input d=2x3xfloat32=random:4"

# ---- C, compared with what TVM recorded of the graph that it compiled

of_tvm()
{
	made "$1" "$fixture/graph.so" "tvm.$1" && grep -q '3 of 3 nodes in 1 region;' said &&
		"$TENON" run "tvm.$1.so" --input "x=@$fixture/in_x.npy" --expect "@$fixture/out0.npy"
}
it "a model of TVM becomes C, with the outputs that TVM recorded" of_tvm c

reference()
{
	made c "$graphs/net.json" net && "$TENON" run net.so $net --output '1x10xfloat32=>o0.npy' --output '1x8x12x12xfloat32=>o1.npy' &&
		made c "$graphs/int.json" int && "$TENON" run int.so $int --output '4x8xint32=>i0.npy' --output '4x8xint32=>i1.npy' &&
		made c "$graphs/vec.json" vec && "$TENON" run vec.so $vec --output '2x3xfloat32=>v0.npy'
}
it "graphs of operators become C" reference

# as on an accelerator; -ftrapv ends the program where C leaves the result undefined
wraps()
{
	printf '\377\377\377\177%.0s' $(seq 32) > large
	# clang warns of the option when it links
	CFLAGS="$CFLAGS -ftrapv -Wno-unused-command-line-argument" made c "$graphs/int.json" wraps && "$TENON" run wraps.so --input x=4x16xint8=ones \
		--input w=8x16xint8=ones --input b=4x8xint32=@large --input y=4x8xint32=@large
}
it "sums and products of int32 wrap" wraps

infinite()
{
	sed 's/"a_max": "6"/"a_max": "inf"/' "$graphs/net.json" > inf.json && ! cmp -s inf.json "$graphs/net.json" &&
		made c inf.json inf && "$TENON" run inf.so $net
}
it "an attribute may be infinite" infinite

legacy()
{
	sh vec.d/link.sh --abi legacy -o old.so && "$TENON" run old.so $vec --expect @v0.npy
}
it "which TVM 0.8 to 0.19 can load, too" legacy

# A bias whose axis is not that of the channels, of as many elements.
one_node()
{
	sed "s/FUNCTION/$1/; s/SHAPES/$2/" << 'END'
{"nodes": [
  {"op": "null", "name": "x", "inputs": []},
  {"op": "null", "name": "b", "inputs": []},
  {"op": "tvm_op", "name": "y", "attrs": {"func_name": "FUNCTION", "num_inputs": "2", "num_outputs": "1", "flatten_data": "0"}, "inputs": [[0, 0, 0], [1, 0, 0]]}],
 "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3],
 "attrs": {"dltype": ["list_str", ["float32", "float32", "float32"]], "storage_id": ["list_int", [0, 1, 2]],
  "shape": ["list_shape", [SHAPES]]}}
END
}

not_taken()
{
	one_node "$1" "$2" > one.json
	"$TENON" partition --for "$3" -o one.d one.json | tee said
	grep -q "$1  *kept" said
}
it "a bias that has another shape than its operator is not taken" not_taken nn.bias_add '[2, 3], [2], [3, 2]' c,dnnl
it "nor a sum that does not broadcast" not_taken add '[2, 3], [4], [2, 3]' c,dnnl
it "nor a dense with other weights" not_taken nn.dense '[2, 3], [4, 5], [2, 4]' c,dnnl,mortise

# ---- a runtime of its own

example_json()
{
	mkdir -p backends && $CC -std=c11 $CFLAGS -shared -fPIC "$source"/examples/example_json/*.c -o backends/examplejson.so || return
	export TENON_BACKEND_PATH="$PWD/backends"
	made examplejson,c "$graphs/vec.json" mixed && grep -q '5 of 5 nodes in 3 regions' said &&
		"$TENON" inspect mixed.so | grep 'examplejson' && "$TENON" run mixed.so $vec --expect @v0.npy
	status=$?
	unset TENON_BACKEND_PATH
	return $status
}
lacks_its_plugin()
{
	"$TENON" inspect mixed.so | tee listed && grep -q 'examplejson.*examples/example_json' listed
}
if grep -qs '^CONFIG_SHARED_LIBRARY=y' "$config"; then
	it "ExampleJSON takes chains, with its plug-in from examples/, and C what is between them" example_json
	it "without the plug-in inspect says where it is" lacks_its_plugin
fi

# ---- an accelerator

mortise()
{
	made mortise "$graphs/int.json" stream && "$TENON" verify stream.so &&
		"$TENON" run stream.so $int --expect @i0.npy --expect @i1.npy
}
if grep -qs '^CONFIG_DEVICE_MORTISE=[ym]' "$config" && grep -qs '^CONFIG_CMDSTREAM=y' "$config"; then
	it "command streams run on mortise" mortise
fi

# sums COUNT FUNCTION: a graph that adds so many inputs, each by a node; or all by one node of a function
sums()
{
	awk -v count="$1" -v fused="$2" '
		function node(op, name, rest) { nodes = nodes (nodes ? "," : "") sprintf("\n{\"op\": \"%s\", \"name\": \"%s\", %s}", op, name, rest) }
		function call(name, of, inputs, words) {
			words = sprintf("\"attrs\": {\"func_name\": \"%s\", \"num_inputs\": \"%d\", \"num_outputs\": \"1\", ", of, inputs)
			return words "\"flatten_data\": \"0\"}, \"inputs\": [" name "]"
		}
		BEGIN {
			for (i = 0; i < count; i++) {
				node("null", "x" i, "\"inputs\": []")
				inputs = inputs (i ? ", " : "") "[" i ", 0, 0]"
				places = places (i ? ", " : "") i
			}
			total = count
			if (fused)
				node("tvm_op", "sum" total++, call(inputs, fused, count))
			for (i = 1; i < count && !fused; i++)
				node("tvm_op", "sum" total++, call("[" (i > 1 ? total - 2 : 0) ", 0, 0], [" i ", 0, 0]", "add", 2))
			for (i = 0; i < total; i++) {
				types = types (i ? ", " : "") "\"int32\""
				shapes = shapes (i ? ", " : "") "[4]"
				numbers = numbers (i ? ", " : "") i
			}
			printf "{\"nodes\": [%s],\n\"arg_nodes\": [%s], \"heads\": [[%d, 0, 0]], ", nodes, places, total - 1
			printf "\"node_row_ptr\": [%s, %d],\n\"attrs\": {\"dltype\": [\"list_str\", [%s]], ", numbers, total, types
			printf "\"storage_id\": [\"list_int\", [%s]], \"shape\": [\"list_shape\", [%s]]}}\n", numbers, shapes
		}'
}

# A stream has at most 64 values: 150 inputs and 149 sums are those of eight regions.
parted()
{
	sums 150 '' > sums.json
	inputs=$(i=0; while [ $i -lt 150 ]; do echo "--input x$i=4xint32=random:$i"; i=$((i + 1)); done)
	made mortise sums.json parted && grep -q '149 of 149 nodes in 8 regions' said && ! grep -q kept said &&
		[ "$(grep -c '; parted: a function has at most 64 values' said)" -eq 8 ] || return
	[ "$1" != run ] || { made c sums.json whole && "$TENON" run whole.so $inputs --output '4xint32=>sum.npy' &&
		"$TENON" run parted.so $inputs --expect @sum.npy; }
}

# A node cannot be parted.
crowded()
{
	sums 65 "tvmgen_default_fused$(printf '_add%.0s' $(seq 64))" > crowded.json
	"$TENON" partition --for mortise -o crowded.d crowded.json | tee said
	grep -q 'kept  *more values than' said && grep -q '^0 of 1 nodes' said &&
		"$TENON" partition --for mortise,c -o crowded.d crowded.json | tee said && grep -q '1 of 1 nodes in 1 region' said
}
if grep -qs '^CONFIG_CMDSTREAM=y' "$config"; then
	running=
	! grep -qs '^CONFIG_DEVICE_MORTISE=[ym]' "$config" || running=run
	it "a region of too many values is parted" parted $running
	it "a node of too many is left to another code generator, or to the host" crowded
fi

# ---- a vendor's library

dnnl()
{
	made dnnl "$graphs/net.json" onednn && grep -aq '"dnnl.conv2d_bias_sum_relu"' onednn.d/dnnl_0.payload &&
		"$TENON" run onednn.so $net --expect @o0.npy --expect @o1.npy --rtol 1e-3 --atol 1e-4
}
# The channels, the height and the width are 4, and so is the bias.
bias()
{
	sed "s/\"axis\": \"3\"/\"axis\": \"$1\"/" "$graphs/bias.json" > bias.json
	set -- "$2" --input x=1x2x4x4xfloat32=random:1 --input w=4x2x3x3xfloat32=random:2 --input b=4xfloat32=random:3
	made c bias.json cbias && made dnnl bias.json dbias && ! grep kept said || return
	[ "$(grep -ac '"dnnl.conv2d_bias"' dbias.d/dnnl_0.payload)" -eq "$1" ] || return
	shift
	"$TENON" run cbias.so "$@" --output '1x4x4x4xfloat32=>bias.npy' &&
		"$TENON" run dbias.so "$@" --expect @bias.npy --rtol 1e-4 --atol 1e-5
}

if grep -qs '^CONFIG_DNNL_JSON=[ym]' "$config"; then
	made dnnl "$graphs/vec.json" probe > said 2>&1
	if "$TENON" run probe.so $vec > said 2>&1 || ! grep -q libdnnl said; then
		it "oneDNN runs fused convolutions" dnnl
		it "and the model of TVM, whose parameters become constants" of_tvm dnnl
		it "a convolution takes a bias of its channels" bias 1 1
		it "and none of another axis" bias 3 0
	fi
fi

# ---- what is left over, and errors

kept()
{
	made examplejson "$graphs/vec.json" kept && grep -q 'nn.relu  *kept' said && "$TENON" partition --json --for examplejson \
		-o kept.d "$graphs/vec.json" > json && grep -A1 '"kept"' json | grep -q 'nn.relu'
}
it "what no generator supports keeps its function" kept

# refused STATUS WORDS ARGUMENT...
refused()
{
	status=$1 words=$2
	shift 2
	"$TENON" partition -o none "$@" 2> why
	got=$?
	cat why
	[ $got -eq "$status" ] && grep -qF -- "$words" why && [ ! -e none ]
}
sed 's/"shape": \["list_shape", \[\[2, 3\]/"shape": ["list_shape", [[2, -3]/' "$graphs/vec.json" > negative.json
sed 's/"shape": \["list_shape", \[\[2, 3\], \[2, 3\]/"shape": ["list_shape", [[2, 3], [2, 0]/' "$graphs/vec.json" > none.json
sed 's/"shape": \["list_shape", \[\[2, 3\]/"shape": ["list_shape", [[1, 1, 1, 1, 1, 1, 1, 2, 3]/' "$graphs/vec.json" > many.json
sed -e 's/"shape": \["list_shape", \[\[2, 3\]/"shape": ["list_shape", [[2147483647, 2147483647]/' -e 's/"float32"/"int8"/' "$graphs/vec.json" > large.json
sed 's/"name": "s"/"name": "s\\"t"/' "$graphs/vec.json" > quote.json
sed 's/"func_name": "add"/"func_name": "a\\\\b"/' "$graphs/vec.json" > call.json
awk 'BEGIN {
	printf "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}"
	for (i = 0; i < 8192; i++) {
		printf ",\n{\"op\": \"tvm_op\", \"name\": \"y%d\", \"inputs\": [[%d, 0]], \"attrs\": {\"func_name\": \"exp\", ", i, i
		printf "\"num_inputs\": \"1\", \"num_outputs\": \"1\", \"flatten_data\": \"0\"}}"
	}
	printf "],\n\"arg_nodes\": [0], \"heads\": [[8192, 0]], \"node_row_ptr\": [0"
	for (i = 1; i <= 8193; i++)
		printf ", %d", i
	for (i = 0; i < 8193; i++) {
		comma = i ? ", " : ""
		types = types comma "\"int8\""
		storages = storages comma i
		shapes = shapes comma "[1]"
	}
	printf "], \"attrs\": {\"dltype\": [\"list_str\", [%s]],\n", types
	printf "\"storage_id\": [\"list_int\", [%s]], \"shape\": [\"list_shape\", [%s]]}}\n", storages, shapes
}' > chain.json
echo '{"nodes": []}' > empty.json
sed 's/"float32"\]\]/]]/; s/, \]\]/]]/' "$graphs/vec.json" > types.json
it "an unknown generator is refused" refused 2 'examplejson' --for examplejso "$graphs/vec.json"
it "a missing file is refused" refused 3 'nowhere.json' nowhere.json
it "a graph without heads is refused" refused 3 'key "arg_nodes" is missing' empty.json
it "a graph with fewer types than values is refused" refused 3 'dltype has 8 items for 9 entries' types.json
it "a negative extent is refused with its place" refused 3 'negative.json, line 16, column 32' negative.json
it "and an empty tensor, with its node" refused 3 'none.json, line 3, column 3: node 1 ("b") has an extent of 0' none.json
it "more dimensions than code generators know" refused 3 'node 0 ("a") has a shape of more than 8 dimensions' many.json
it "a tensor too large for them" refused 3 'node 0 ("a") has a tensor too large' large.json
it "a name that would end in the middle of a text" refused 3 'node 4 ("s"t") has a name with a quote' quote.json
it "and such a function" refused 3 'node 4 ("s") has a name with a quote' call.json
it "more nodes than a graph may have" refused 3 'node 8192 ("y8191") has 8192 nodes before it' chain.json
it "a module without a graph is refused" refused 4 'no module of kind GraphExecutorFactory' "$fixture/../host_vecadd/lib.so"
finish
