#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The fuzz targets that are there, are those that are built, and those that are known here.

. tests/build/tap.sh

known='archive
blob_legacy
blob_modern
cases
chat_template
cmdstream
code
const_loader
dnnl_json
elf_inspect
ethosu
example_json
gguf
graph_json
hil_target
inspect
manifest
mortise_elf
mortise_packet
npy_command
params
params_command
partition
payload
payload_file
probe_report
record
relax_executable
relax_program
rocket
rpc_packet
rpc_reply
run_graph
run_tree
safetensors
serve_request
suite_result
tflite
tflite_run
tokenizer
torq
trace
tracker_message
unpack'

same()
{
	printf '%s\n' "$1" > "$scratch/want"
	printf '%s\n' "$2" > "$scratch/found"
	diff -u "$scratch/want" "$scratch/found"
}

sources=$(ls tests/fuzz/*_fuzz.c | sed 's,.*/,,; s,_fuzz\.c$,,' | sort)
listed=$(sed -n ':a; /\\$/{N; s/\\\n//; ba}; s/^check-y *+= *//p' tests/fuzz/Kbuild | tr ' \t' '\n\n' |
	sed -n 's,_fuzz\.o$,,p' | sort)

built()
{
	for target in $known; do
		[ -x "$TENON_BUILD/tests/fuzz/${target}_fuzz" ] || { echo "$target is not built"; return 1; }
		grep -q LLVMFuzzerTestOneInput "tests/fuzz/${target}_fuzz.c" || return 1
	done
}

it "every target that has a source is known" same "$known" "$sources"
it "every target is run by make check" same "$known" "$listed"
# a build without all that the targets are for skips some of them
complete=yes
for option in DEVICES DEVICE_ROCKET DNNL_JSON INSPECT GRAPH_EXECUTOR HIL KERNEL_CACHE LINK LLM_TOKENIZER METADATA DEVICE_ETHOSU DEVICE_TORQ REMOTE REMOTE_CLIENT RELAX_VM SELF_TEST TFLITE_EXECUTOR TVM_LEGACY; do
	grep -qs "^CONFIG_$option=[ym]" "$TENON_BUILD/include/config/auto.conf" || complete=
done
command -v pkg-config >/dev/null && pkg-config --exists cmocka || complete=
[ -z "$complete" ] || it "every target is built" built
finish
