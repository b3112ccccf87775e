#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Records of runs, and their replay: models on the processor and on OpenCL, two modules of which one has a fault, and
# records that were cut or forged.

. tests/build/tap.sh
need python3

[ -z "${EMULATOR:-}" ] || skip "the recorded models are for this machine"
case $(uname -m) in
x86_64) ;;
*) skip "the recorded models are for x86-64" ;;
esac
for option in RECORD TOOL DSO TVM_FFI_COMPAT TVM_LEGACY GRAPH_EXECUTOR RELAX_VM ERROR_MESSAGES; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
tenon=$TENON_COMMAND
data=tests/interop/data
graph=$data/tvm-0.18/graph_mlp
relax=$data/tvm-0.27.0.post1/model_mlp
opencl=$data/tvm-0.27.0.post1/model_mlp_opencl

record_graph()
{
	"$tenon" run $graph/graph.so --input "x=@$graph/in_x.npy" --record "$@"
}

# fails_with STATUS TEXT WORD...
fails_with()
{
	wanted=$1 text=$2
	shift 2
	"$@" > "$scratch/out" 2>&1
	is=$?
	cat "$scratch/out"
	[ $is = "$wanted" ] && grep -q -- "$text" "$scratch/out"
}

# forge NAME CODE: a copy of the record of the graph whose manifest, m, the code in Python changes
forge()
{
	rm -rf "$scratch/$1"
	cp -R "$scratch/graph" "$scratch/$1"
	python3 -c "
import json, sys
path = sys.argv[1] + '/record.json'
m = json.load(open(path))
a = m['operations'][0]['arguments']
$2
json.dump(m, open(path, 'w'))" "$scratch/$1"
}

refused()
{
	forge forged "$2" && fails_with 3 "$1" "$tenon" replay "$scratch/forged" --device cpu:0
}

a_graph_is_equal_to_its_record()
{
	record_graph "$scratch/graph" && "$tenon" replay "$scratch/graph" --device cpu:0 > "$scratch/out" &&
		grep -q '^3 operations of .* equal to the record' "$scratch/out"
}

contents_are_named_by_their_hash()
{
	for file in "$scratch"/graph/*; do
		name=$(basename "$file")
		case $name in
		record.json) ;;
		*) [ "$(sha256sum < "$file" | cut -d' ' -f1)" = "${name%%.*}" ] || return ;;
		esac
	done
}

what_does_not_fit_is_left_out()
{
	record_graph "$scratch/small" --record-limit 60000 2> "$scratch/err" && cat "$scratch/err" &&
		grep -q 'left out: the record is full; raise --record-limit' "$scratch/err" &&
		[ "$(cat "$scratch"/small/*[0-9a-fo] | wc -c)" -le 60000 ] &&
		python3 -c "import json, sys; assert json.load(open(sys.argv[1]))['left_out']['limit']" "$scratch/small/record.json"
}

a_limit_below_the_module_leaves_it_out()
{
	record_graph "$scratch/tiny" --record-limit 30000 2> "$scratch/err" && grep -q 'file of the module' "$scratch/err" &&
		fails_with 3 'has no copy of graph.so; give the file' "$tenon" replay "$scratch/tiny" --device cpu:0 &&
		"$tenon" replay "$scratch/tiny" --device cpu:0 --module $graph/graph.so
}

one_folder_for_one_record()
{
	fails_with 3 'exists; a record is written to a new folder' record_graph "$scratch/graph" &&
		fails_with 2 'one of them at a time' record_graph "$scratch/new" --trace "$scratch/trace.json" && [ ! -e "$scratch/new" ]
}

a_changed_result_is_named()
{
	# the third operation is softmax, whose result becomes that of the second
	forge other "m['operations'][2]['arguments'][1]['after'] = m['operations'][1]['arguments'][2]['after']" &&
		fails_with 1 'operation 3: operator tvmgen_default_fused_nn_softmax' "$tenon" replay "$scratch/other" --device cpu:0 &&
		grep -q 'argument 1, 1x10xfloat32: differs in 10 of 10 elements' "$scratch/out"
}

a_tolerance_is_obeyed()
{
	"$tenon" replay "$scratch/other" --device cpu:0 --atol 1e30
}

a_cut_manifest()
{
	forge cut pass && head -c 700 "$scratch/graph/record.json" > "$scratch/cut/record.json" &&
		fails_with 3 'record.json: not JSON' "$tenon" replay "$scratch/cut" --device cpu:0 && rm "$scratch/cut/record.json" &&
		fails_with 3 'record.json' "$tenon" replay "$scratch/cut" --device cpu:0
}

changed_bytes()
{
	forge changed pass && printf x | dd of="$scratch/changed/$(content)" bs=1 conv=notrunc 2> "$scratch/dd" &&
		fails_with 3 'operation 1: .*changed after they were recorded' "$tenon" replay "$scratch/changed" --device cpu:0 &&
		printf x >> "$scratch/changed/$(content)" &&
		fails_with 3 '129 bytes, want 128' "$tenon" replay "$scratch/changed" --device cpu:0
}

# the contents of the first argument
content()
{
	python3 -c "import json, sys; print(json.load(open(sys.argv[1]))['operations'][0]['arguments'][0]['before'])" \
		"$scratch/graph/record.json"
}

a_changed_module()
{
	forge module pass && for module in "$scratch"/module/*.so; do printf x >> "$module"; done &&
		fails_with 3 'changed after they were recorded' "$tenon" replay "$scratch/module" --device cpu:0
}

forged_manifests()
{
	refused 'no SHA-256' "a[0]['before'] = '../graph/record.json'" &&
		refused 'not named by its SHA-256' "m['modules'][0]['file'] = '/bin/true'" &&
		refused 'not named by its SHA-256' "m['modules'][0]['file'] = '0' * 64 + '.so/../x'" &&
		refused 'version 2 of the format' "m['version'] = 2" &&
		refused 'is no record' "m['format'] = 'x'" &&
		refused 'no list of operations' "del m['operations']" &&
		refused 'does not grow' "m['operations'][1]['number'] = 1" &&
		refused 'no earlier operation' "m['operations'][1]['within'] = 2" &&
		refused 'of the form' "a[0]['tensor'] = '32xfloat32=@/etc/passwd'" &&
		refused 'operation 1' "a[0]['tensor'] = '9223372036854775807x9223372036854775807xfloat32'" &&
		refused '128 bytes, want' "a[0]['tensor'] = '1000000000000xfloat32'" &&
		refused 'neither before nor after' "a[0] = {'tensor': '1xfloat32'}" &&
		refused 'no known kind' "a[0] = {'pointer': 1}" &&
		refused 'at most 4096' "m['operations'][0]['arguments'] = [{}] * 4097" &&
		refused 'is none of operator' "m['operations'][0]['kind'] = 'x'" &&
		refused 'no \[tag, extent\]' "m['operations'][0].update(kind='kernel', extents=[[99, 1]])" &&
		refused 'no pattern' "m['operations'][0].update(kind='fill', arguments=[a[0]], pattern=-1, width=3)" &&
		refused 'two arguments' "m['operations'][0].update(kind='copy')"
}

no_function_of_the_process_is_called()
{
	forge global "m['operations'] = m['operations'][:1]; m['operations'][0]['function'] = 'runtime.GlobalFunctionNames'" &&
		fails_with 5 'nothing to compare' "$tenon" replay "$scratch/global" --device cpu:0
}

wrong_options()
{
	fails_with 2 'on which device?' "$tenon" replay "$scratch/graph" &&
		fails_with 2 'want two devices' "$tenon" replay "$scratch/graph" --compare cpu:0 &&
		fails_with 2 'either --device' "$tenon" replay "$scratch/graph" --device cpu:0 --compare cpu:0 cpu:0 &&
		fails_with 4 'opencl:77' "$tenon" replay "$scratch/graph" --device opencl:77
}

json_has_the_difference()
{
	"$tenon" replay "$scratch/other" --compare cpu:0 cpu:0 --json > "$scratch/json" &&
		python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))
assert r['equal'] and r['compared'] == 3 and r['first'] is None and r['devices'] == ['cpu:0', 'cpu:0']" "$scratch/json" &&
		! "$tenon" replay "$scratch/other" --device cpu:0 --json > "$scratch/json" &&
		python3 -c "
import json, sys
r = json.load(open(sys.argv[1]))
assert not r['equal'] and r['first']['number'] == 3 and r['first']['comparison']['differing'] == 10" "$scratch/json"
}

a_failed_run_has_a_record()
{
	fails_with 4 'opencl:77' "$tenon" run $graph/graph.so --input "x=@$graph/in_x.npy" --device opencl:77 --record "$scratch/none"
	[ ! -e "$scratch/none" ] || python3 -m json.tool "$scratch/none/record.json" "$scratch/json"
}

record_relax()
{
	"$tenon" run $relax/model.so --input "@$relax/r0_x.npy" --record "$scratch/relax" &&
		"$tenon" replay "$scratch/relax" --device cpu:0
}

# a limit of files stands in for a disk that is full
a_full_disk_is_told()
{
	(
		trap '' XFSZ
		ulimit -f 8
		record_graph "$scratch/full" 2>&1
		echo "status $?"
	) | cat > "$scratch/out"
	cat "$scratch/out"
	grep -q 'full: File too large' "$scratch/out" && grep -q 'status 3' "$scratch/out" && [ ! -e "$scratch/full/record.json" ] &&
		fails_with 3 record.json "$tenon" replay "$scratch/full" --device cpu:0
}

# ---- OpenCL

one_model_for_both()
{
	"$tenon" replay "$scratch/relax" --compare cpu:0 opencl:0 --module opencl:0=$opencl/model.so --rtol 1e-4 --atol 1e-5 \
		> "$scratch/out" && cat "$scratch/out" && grep -q '^3 operations of .*equal to cpu:0' "$scratch/out"
}

kernels_are_recorded()
{
	"$tenon" run $opencl/model.so --device opencl:0 --input "@$opencl/r0_x.npy" --record "$scratch/opencl" &&
		grep -q '"within":8,"device":"opencl:0","name":"fused_matmul_add_relu_kernel"' "$scratch/opencl/record.json" &&
		"$tenon" replay "$scratch/opencl" --device opencl:0
}

# The second product of this module has another source: a function of OpenCL in place of max(), as long as that.
break_model()
{
	python3 - $opencl/model.so "$scratch/broken.so" <<- 'END'
		import sys
		code = open(sys.argv[1], 'rb').read()
		at = code.index(b'__kernel', code.index(b'// Function: fused_matmul1_add_relu_kernel'))
		at = code.index(b'max(', at)
		open(sys.argv[2], 'wb').write(code[:at] + b'min(' + code[at + 4:])
	END
}

the_operator_that_differs_is_named()
{
	break_model &&
		fails_with 1 'operation 2: operator fused_matmul1_add_relu' "$tenon" replay "$scratch/relax" \
			--compare cpu:0 opencl:0 --module "opencl:0=$scratch/broken.so" --rtol 1e-4 --atol 1e-5 &&
		grep -q 'xfloat32: differs in .* first at .* expected' "$scratch/out"
}

the_kernel_that_differs_is_named()
{
	fails_with 1 'its operation .*: kernel fused_matmul1_add_relu_kernel' "$tenon" replay "$scratch/opencl" --device opencl:0 \
		--module "$scratch/broken.so" --rtol 1e-4 --atol 1e-5
}

a_module_for_one_device_fails_on_the_other()
{
	fails_with 5 'failed; the first on cpu:0, operation .*: operator fused_matmul_add_relu' "$tenon" replay "$scratch/opencl" \
		--compare cpu:0 opencl:0
}

a_forged_launch_is_refused()
{
	python3 - "$scratch/opencl/record.json" <<- 'END' || return
		import json, sys
		m = json.load(open(sys.argv[1]))
		kernel = next(o for o in m['operations'] if o['kind'] == 'kernel')
		del kernel['within']
		kernel['arguments'].pop()
		m['operations'] = [kernel]
		json.dump(m, open(sys.argv[1], 'w'))
	END
	fails_with 5 'takes other arguments or extents' "$tenon" replay "$scratch/opencl" --device opencl:0
}

it "a graph is equal to its record" a_graph_is_equal_to_its_record
it "contents are named by their SHA-256" contents_are_named_by_their_hash
it "what does not fit is left out, and said" what_does_not_fit_is_left_out
it "a module that does not fit is given to the replay" a_limit_below_the_module_leaves_it_out
it "a record has a new folder, and no trace beside it" one_folder_for_one_record
it "the first operation whose result differs is named" a_changed_result_is_named
it "a tolerance is obeyed" a_tolerance_is_obeyed
it "a manifest that was cut, or is missing, is refused" a_cut_manifest
it "contents that changed are refused" changed_bytes
it "a module that changed is not loaded" a_changed_module
it "forged manifests are refused" forged_manifests
it "a record calls no function outside its module" no_function_of_the_process_is_called
it "wrong options are refused" wrong_options
it "JSON has the difference" json_has_the_difference
it "a run that fails ends its record" a_failed_run_has_a_record
it "a record that the disk has no room for is told, and has no manifest" a_full_disk_is_told
it "a model of Relax is equal to its record" record_relax
if "$tenon" devices 2> "$scratch/err" | grep -q '^opencl:0'; then
	it "one model, compiled for both, is equal on the processor and OpenCL" one_model_for_both
	it "kernels are recorded within their operators" kernels_are_recorded
	it "the operator that differs is named" the_operator_that_differs_is_named
	it "the kernel that differs is named" the_kernel_that_differs_is_named
	it "a module for one device fails on the other" a_module_for_one_device_fails_on_the_other
	it "a launch that does not fit the kernel is refused" a_forged_launch_is_refused
else
	skip_case "records of OpenCL" "no OpenCL device"
fi
finish
