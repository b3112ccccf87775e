#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Pages and pictures of models: valid, of bounded size, closed in themselves, whatever names a model has

. tests/build/tap.sh

has()
{
	grep -qs "^CONFIG_$1=[ym]" "$TENON_BUILD/include/config/auto.conf"
}

[ -x "$TENON_COMMAND" ] || skip "the command is not built"
for option in PICTURES EXECUTORS INSPECT RELAX_VM GRAPH_EXECUTOR; do
	has $option || skip "needs CONFIG_$option"
done
new=tests/interop/data/tvm-0.27.0.post1
module=$new/model_resnet_tiny/model.so
library=tests/interop/data/tvm-0.18/graph_mlp/lib.so
[ -e "$module" ] && [ -e "$library" ] || skip "needs the modules of tests/interop/data"
out=$scratch/out

tenon()
{
	$EMULATOR "$TENON_COMMAND" "$@"
}

# valid FILE...: a parser of XML takes them; where there is none, tags are at least closed
valid()
{
	for file in "$@"; do
		[ -s "$file" ] || return
		if command -v xmllint > /dev/null; then
			xmllint --noout --nonet "$file" || return
		elif command -v python3 > /dev/null; then
			python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$file" || return
		else
			tail -n 1 "$file" | grep -qE '^</(svg|html)>$' || return
		fi
	done
}

# closed FILE: no script, and no reference to another file or machine
closed()
{
	not grep -nE '<(script|link|img|iframe|object|embed|base|form)|@import|url\(' "$1" &&
		not grep -nE '<[^>]*( on[a-z]+=|(src|href)="[^#]|javascript:)' "$1"
}

smaller()
{
	size=$(wc -c < "$1")
	echo "$1: $size bytes"
	[ "$size" -lt "$2" ]
}

tree()
{
	tenon inspect --svg $new/tree_nested/lib.so > "$out.svg" && valid "$out.svg" && closed "$out.svg" &&
		grep -q 'opencl' "$out.svg" && grep -q '1 kernel' "$out.svg"
}

graph()
{
	tenon inspect --svg --model $module > "$out.svg" && valid "$out.svg" && closed "$out.svg" &&
		grep -q 'max_pool2d' "$out.svg" && grep -q '1x3x16x16xfloat32' "$out.svg" &&
		not grep -q alloc_tensor "$out.svg"
}

one_form()
{
	tenon inspect --svg --dot $module
	[ $? -eq 2 ] || return
	has JSON || return 0
	tenon bench --svg --json $module
	[ $? -eq 2 ]
}

page()
{
	tenon report $module -o "$out.html" && valid "$out.html" && closed "$out.html" && smaller "$out.html" 100000 &&
		grep -q 'id="graph"' "$out.html" && grep -q 'id="memory"' "$out.html" &&
		grep -q 'id="operators"' "$out.html" && not grep -q 'id="runs"' "$out.html"
}

same_page_twice()
{
	tenon report $module -o "$out.1" && tenon report $module -o "$out.2" && cmp "$out.1" "$out.2"
}

to_standard_output()
{
	tenon report $module -o "$out.1" && tenon report $module -o - > "$out.2" 2> "$out.why" && cmp "$out.1" "$out.2" &&
		[ ! -s "$out.why" ]
}

# a graph of $1 operators, with the name $2 for each
write_graph()
{
	name=$2 awk -v n="$1" 'BEGIN {
		name = ENVIRON["name"]
		printf "{\"nodes\":[{\"op\":\"null\",\"name\":\"%s\",\"inputs\":[]}", name
		for (i = 1; i <= n; i++) {
			second = (i > 40 && i % 7 == 0) ? sprintf(",[%d,0,0]", i - 40) : ""
			printf ",{\"op\":\"tvm_op\",\"name\":\"%s\",\"attrs\":{\"func_name\":\"%s\",\"num_inputs\":\"%d\",\"num_outputs\":\"1\",\"flatten_data\":\"0\"},\"inputs\":[[%d,0,0]%s]}",
				name, name, second == "" ? 1 : 2, i - 1, second
		}
		printf "],\"arg_nodes\":[0],\"heads\":[[%d,0,0]],\"node_row_ptr\":[0", n
		for (i = 1; i <= n + 1; i++)
			printf ",%d", i
		printf "],\"attrs\":{\"dltype\":[\"list_str\",["
		for (i = 0; i <= n; i++)
			printf "%s\"float32\"", i ? "," : ""
		printf "]],\"shape\":[\"list_shape\",["
		for (i = 0; i <= n; i++)
			printf "%s[1,4]", i ? "," : ""
		printf "]],\"storage_id\":[\"list_int\",["
		for (i = 0; i <= n; i++)
			printf "%s%d", i ? "," : "", i
		print "]]}}"
	}'
}

hostile_names()
{
	write_graph 3 '</title><script>alert(1)</script>\" onload=\"x&\u0001\u202e\ufffe' > "$out.json" &&
		tenon report $library --graph "$out.json" -o "$out.html" && valid "$out.html" && closed "$out.html" &&
		grep -q '&lt;script&gt;' "$out.html" &&
		tenon inspect --svg --graph "$out.json" $library > "$out.svg" && valid "$out.svg" && closed "$out.svg"
}

hostile_file()
{
	cp $module "$scratch/<b onclick='x'>&.so" && tenon report "$scratch/<b onclick='x'>&.so" -o "$out.html" &&
		valid "$out.html" && closed "$out.html"
}

large_graph()
{
	write_graph 5000 fused_add > "$out.json" && tenon report $library --graph "$out.json" -o "$out.html" &&
		valid "$out.html" && smaller "$out.html" 3000000 && grep -q '21 × fused_add' "$out.html" &&
		[ "$(grep -c 'class="group"' "$out.html")" -le 300 ]
}

an_input_is_kept()
{
	cp $module "$scratch/m.so" && not tenon report "$scratch/m.so" -o "$scratch/m.so" && cmp $module "$scratch/m.so" &&
		not tenon report "$scratch/m.so"
}

baseline()
{
	tenon bench --json --per-op --repeat 3 $module > "$out.base" &&
		tenon report $module --device cpu --compare cpu --repeat 3 --baseline "$out.base" -o "$out.html" &&
		valid "$out.html" && closed "$out.html" && grep -q 'Runs compared' "$out.html" &&
		grep -q 'Outputs compared with A' "$out.html" && grep -q '<td>equal</td>' "$out.html" &&
		grep -q 'class="s2 fill"' "$out.html"
}

no_baseline()
{
	echo '{"nanoseconds": {"runs": -1, "median": "x"}}' > "$out.base"
	tenon report $module --baseline "$out.base" -o "$out.html" 2> "$out.why"
	[ $? -eq 3 ] && grep -q 'tenon bench --json --per-op' "$out.why"
}

bench()
{
	tenon bench --svg --repeat 3 $module > "$out.svg" && valid "$out.svg" && closed "$out.svg" && grep -q median "$out.svg" &&
		tenon bench --svg --per-op --repeat 3 $module > "$out.svg" && valid "$out.svg" && grep -q max_pool2d "$out.svg"
}

# The browser draws the page: it has more than one colour, and its DOM has what the page has. It keeps a socket in TMPDIR,
# whose path must be short
chromium_shows_it()
{
	tenon report $module -o "$out.html" || return
	TMPDIR=/tmp HOME=$scratch "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
		--user-data-dir="$scratch/profile" --window-size=1150,2600 --screenshot="$out.png" --dump-dom \
		"file://$out.html" > "$out.dom" || return
	grep -q 'max_pool2d' "$out.dom" && smaller "$out.dom" 200000 && not smaller "$out.png" 30000
}

it "the tree of imports is a picture" tree
it "so are the operators of a model" graph
it "a picture is no JSON and no graph for Graphviz" one_form
it "a page has all sections, and none about runs that were not wanted" page
it "a page of the same file has the same bytes" same_page_twice
it "the name - is standard output" to_standard_output
it "names of operators cannot leave their place" hostile_names
it "nor can the name of the file" hostile_file
it "a graph of 5000 operators is a page that can be read" large_graph
it "a page does not replace the model, and has to be named" an_input_is_kept
# what runs is for x86-64
if [ -z "${EMULATOR-}" ] && has DSO && has TVM_FFI_COMPAT; then
	it "the runs of a model are a picture" bench
	if has JSON; then
		it "devices and an earlier measurement are compared" baseline
		it "a file that is no measurement is refused" no_baseline
	fi
else
	skip_case "the runs of a model are a picture" "the model is for x86-64, and needs CONFIG_DSO and CONFIG_TVM_FFI_COMPAT"
fi
browser=$(command -v chromium || command -v chromium-headless-shell)
if [ -z "${EMULATOR-}" ] && [ -z "${SAN-}" ] && [ "$browser" ]; then
	it "a browser shows the page" chromium_shows_it
else
	skip_case "a browser shows the page" "needs chromium (Debian: chromium-headless-shell)"
fi
finish
