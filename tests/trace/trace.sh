#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Traces that the command writes: of models on the processor and on OpenCL, of chats and of remote sessions. check.py
# reads each by the rules of the format, independently of what wrote it.

. tests/build/tap.sh
. tests/build/server.sh
need python3

[ -z "${EMULATOR:-}" ] || skip "the recorded models are for this machine"
case $(uname -m) in
x86_64) ;;
*) skip "the recorded models are for x86-64" ;;
esac
for option in TRACE TOOL DSO TVM_FFI_COMPAT TVM_LEGACY GRAPH_EXECUTOR RELAX_VM ERROR_MESSAGES; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done
tenon=$TENON_COMMAND
data=tests/interop/data
server=
trap 'kill $server 2> "$scratch/kill"; wait 2> /dev/null; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

has()
{
	grep -qsE "^CONFIG_$1=[ym]" "$TENON_BUILD/include/config/auto.conf"
}

# check WORD...
check()
{
	python3 tests/trace/check.py "$scratch/trace.json" "$@"
}

graph=$data/tvm-0.18/graph_mlp
relax=$data/tvm-0.27.0.post1/model_mlp
opencl=$data/tvm-0.27.0.post1/model_mlp_opencl

operators()
{
	"$tenon" run $graph/graph.so --input "x=@$graph/in_x.npy" --expect "@$graph/out0.npy" --rtol 1e-4 --atol 1e-5 \
		--repeat 2 --trace "$scratch/trace.json" &&
		check model=run operator=tvmgen inside=run,tvmgen counter=tenon 'track=main thread'
}

operators_of_relax()
{
	"$tenon" run $relax/model.so --input "@$relax/r0_x.npy" --trace "$scratch/trace.json" --profile > "$scratch/out" &&
		grep -q '^operator ' "$scratch/out" && check model=run operator= inside=run,
}

queues()
{
	"$tenon" run $opencl/model.so --device opencl:0 --input "@$opencl/r0_x.npy" --expect "@$opencl/r0_out0.npy" \
		--rtol 1e-4 --atol 1e-5 --trace "$scratch/trace.json" &&
		check kernel= copy=write copy=read wait= build= memory=allocate device-time process=opencl:0 track=queue \
			counter=opencl:0 operator=
}

a_function()
{
	function=$data/tvm-0.18/opencl_vecadd
	"$tenon" run $function/lib.so --device opencl:0 --function vecadd --input "@$function/c0_in0.npy" \
		--input "@$function/c0_in1.npy" --output "$(sizes)xfloat32" --trace "$scratch/trace.json" &&
		check kernel= device-time
}

sizes()
{
	python3 -c "import re; print(re.search(rb'shape.: \((\d+)', open('$function/c0_in0.npy', 'rb').read()).group(1).decode())"
}

chat()
{
	"$tenon" chat tests/llm/data/bytes --message Hello --message 'Good morning' --max-tokens 5 --ignore-end --quiet \
		--trace "$scratch/trace.json" &&
		check 'track=sequence 1' 'track=sequence 2' 'inside=sequence 1,prompt' 'inside=sequence 2,token 5'
}

a_failed_run()
{
	"$tenon" run $graph/graph.so --input "x=@$graph/in_x.npy" --device opencl:77 --trace "$scratch/trace.json"
	[ $? = 4 ] && check
}

no_file()
{
	"$tenon" run $graph/graph.so --input "x=@$graph/in_x.npy" --trace "$scratch/nowhere/trace.json" 2> "$scratch/err"
	[ $? = 3 ] && grep -q "nowhere/trace.json: cannot be created" "$scratch/err"
}

# serve WORD...: a server behind the command that the words are, if any; sets port
serve()
{
	kill $server 2> "$scratch/kill"
	# the server before wrote its port there
	rm -f "$scratch/log"
	"$@" "$tenon" rpc serve --listen 127.0.0.1:0 --folder "$scratch" 2> "$scratch/log" &
	server=$!
	port_of "$scratch/log" $server
}

run_there()
{
	"$tenon" run $graph/graph.so --remote "127.0.0.1:$port" --input "x=@$graph/in_x.npy" --expect "@$graph/out0.npy" \
		--rtol 1e-4 --atol 1e-5 --trace "$scratch/trace.json"
}

remote()
{
	serve && run_there &&
		check 'track=remote ' program=call model=run 'process=remote 1: 127.0.0.1:' there=operator there=request \
			related
}

remote_queues()
{
	"$tenon" run $opencl/model.so --remote "127.0.0.1:$port" --device opencl:0 --input "@$opencl/r0_x.npy" \
		--expect "@$opencl/r0_out0.npy" --rtol 1e-4 --atol 1e-5 --trace "$scratch/trace.json" &&
		check there=kernel there=build there=copy there=memory related
	"$tenon" run $opencl/model.so --remote "127.0.0.1:$port" --device opencl:0 --input "@$opencl/r0_x.npy" \
		--trace "$scratch/trace.json" && grep -q ': opencl:0 (' "$scratch/trace.json"
}

# The clock of a machine begins when it does: eleven days and a half lie between these two.
other_clock()
{
	serve unshare --time --monotonic 1000000 && run_there && check there=operator there=request related
}

# a client that TVM's own would be: without the extension
plain()
{
	TENON_REMOTE_PLAIN=1 run_there && check 'track=remote ' program=call model=run &&
		not python3 tests/trace/check.py "$scratch/trace.json" there=request
}

# rejects EDIT: check.py finds what a sed script does to a good trace
rejects()
{
	sed "$1" "$scratch/good.json" > "$scratch/bad.json"
	! cmp -s "$scratch/good.json" "$scratch/bad.json" && not python3 tests/trace/check.py "$scratch/bad.json"
}

it "operators of a graph are in the trace" operators
cp "$scratch/trace.json" "$scratch/good.json"
it "the reader finds a missing comma" rejects '5s/,$//'
it "the reader finds spans that overlap" rejects '/"cat":"operator"/s/"dur":[0-9]*/"dur":9999999/'
it "the reader finds a negative time" rejects '0,/"ts":/s/"ts":/&-1/'
it "the reader finds a track without a name" rejects '/thread_name/d'
it "operators of a Relax model are in the trace, beside a profile" operators_of_relax
if has DEVICE_OPENCL && "$tenon" devices 2> "$scratch/err" | grep -q 'opencl:0'; then
	it "kernels, copies, allocations, waits and builds of a device are in the trace" queues
	it "a function is traced" a_function
fi
if has LLM && has JSON; then
	it "sequences and tokens of a chat are in the trace" chat
fi
it "a run that failed leaves a whole file" a_failed_run
it "a file that cannot be created is an error" no_file
if has REMOTE && has REMOTE_CLIENT && has INSPECT; then
	it "what a remote session asks for and what its server does are in the trace" remote
	it "a session without the extension has its own requests in the trace" plain
	if has DEVICE_OPENCL && "$tenon" devices 2> "$scratch/err" | grep -q 'opencl:0'; then
		it "so are kernels, copies, allocations and builds of the server's device" remote_queues
	fi
	if unshare --time --monotonic 1000000 true 2> "$scratch/err"; then
		it "the clock of a server may differ" other_clock
	else
		skip_case "the clock of a server may differ" "no time namespace here: $(tail -n 1 "$scratch/err")"
	fi
fi
finish
