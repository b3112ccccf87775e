/* SPDX-License-Identifier: MIT */
/* The command lines that command_test disturbs: at least one for each verb, and the files that it reads. */
#ifndef TESTS_NOMEM_COMMAND_LINES_H
#define TESTS_NOMEM_COMMAND_LINES_H

#include <stddef.h>

#include "tools/commands.h"

#define D18 "tests/interop/data/tvm-0.18/"
#define D27 "tests/interop/data/tvm-0.27.0.post1/"
#define FFI "tests/interop/data/tvm-ffi-0.1.15.post2/"

#define GRAPH D18 "graph_mlp/graph.so"
#define APART                                                                                      \
	D18 "graph_mlp/lib.so --graph " D18 "graph_mlp/graph.json --params " D18                   \
	    "graph_mlp/model.params"
#define MLP_INPUT " --input @" D18 "graph_mlp/in_x.npy"
#define PARAMS	  D18 "params_file/all.params"
#define VECADD                                                                                     \
	D18 "host_vecadd/lib.so --function vecadd --input @" D18                                   \
	    "host_vecadd/c0_in0.npy --input @" D18 "host_vecadd/c0_in1.npy --output 1024xfloat32"
#define ADD4                                                                                       \
	D27 "host_several/lib.so --function add_4 --input @" D27                                   \
	    "host_several/c0_in0.npy --input @" D27 "host_several/c0_in1.npy"
#define WORDS  "tests/llm/data/bytes/model.so"
#define SIGNED D18 "host_vecadd/lib.so"
#define PAIR   D27 "model_two_outputs/r0_"

#define KERNELS D18 "opencl_multi/lib.so"
#define FUZZ	"tests/fuzz/corpus/"

#define REFUSED (-1)

struct line {
	int code; /* of the run that nothing disturbs; REFUSED: any failure */
	const char *words;
};

/* Command lines, words between blanks. @TMP is the folder of this suite, @FILE the file the line writes, @SERVER and @TRACKER are there. */
static const struct line lines[] = {
	{ CLI_OK, "help" },
	{ CLI_OK, "--version" },
	{ CLI_OK, "help run" },
	{ REFUSED, "nonsense" },
	{ REFUSED, "run --nonsense" },

	{ CLI_OK, "inspect " GRAPH },
	{ CLI_OK, "inspect " GRAPH " --functions" },
	{ CLI_OK, "inspect " GRAPH " --model" },
	{ CLI_OK, "inspect " GRAPH " --dot" },
	{ CLI_OK, "inspect " GRAPH " --dot --model" },
	{ CLI_OK, "inspect " GRAPH " --json --functions" },
	{ CLI_OK, "inspect " GRAPH " --json --model" },
	{ CLI_OK, "inspect " APART },
	{ CLI_OK, "inspect " D18 "aot_mlp/aot_packed.so --json" },
	{ CLI_OK, "inspect " D18 "opencl_multi/lib.so --functions" },
	{ CLI_OK, "inspect " D18 "opencl_multi/lib.so --json --functions" },
	{ CLI_OK, "inspect " D18 "cuda_vecadd/lib.so --json" },
	{ CLI_OK, "inspect " D18 "vulkan_multi/lib.so --functions" },
	{ CLI_OK, "inspect " D18 "dev_source_only/metal.so --functions" },
	{ CLI_OK, "inspect " D18 "relax_mlp/vm.so --model" },
	{ CLI_OK, "inspect " D18 "relax_mlp/vm.so --json --model" },
	{ CLI_OK, "inspect " D27 "model_branch/model.so --dot --model" },
	{ CLI_OK, "inspect " D27 "model_mlp/model.so" },
	{ CLI_OK, "inspect " D27 "tree_nested/lib.so --json" },
	{ CLI_OK, "inspect " FFI "cpp_metadata/lib.so --functions" },
	{ CLI_OK, "inspect " FFI "cpp_metadata/lib.so --json" },
	{ REFUSED, "inspect " D18 "graph_mlp/in_x.npy" },

	{ CLI_OK, "verify " GRAPH },
	{ CLI_OK, "verify --cpu " GRAPH },
	{ CLI_OK, "verify " D27 "tree_nested/lib.so --json" },
	{ REFUSED, "verify " D18 "graph_mlp/in_x.npy --json" },
	{ CLI_OK, "unpack " D18 "opencl_vecadd/lib.so @TMP/parts" },
	{ CLI_OK, "link -o @FILE @TMP/parts/manifest.json" },
	{ REFUSED, "link -o @FILE examples/link/vecadd.c two.c=nonsense@key" },

#ifdef CONFIG_MBEDTLS
	{ CLI_OK, "sign --key @TMP/key.pem -o @FILE " SIGNED },
	{ CLI_OK, "verify --key @TMP/public.pem --signature @TMP/signature " SIGNED },
#endif

	{ CLI_OK, "params list " PARAMS },
	{ CLI_OK, "params list " PARAMS " --json" },
	{ CLI_OK, "params align " PARAMS " @FILE" },
	{ CLI_OK, "params extract " PARAMS " i64 -o @TMP/out" },
	{ REFUSED, "params extract " PARAMS " nonsense -o @TMP/out" },
	{ CLI_OK,
	  "params from-npy " D18 "params_file/p_f32.npy b=" D18 "params_file/p_i8.npy @FILE" },
#ifdef CONFIG_NPZ
	{ CLI_OK, "params from-npz @TMP/arrays.npz @FILE" },
#endif

	{ CLI_OK, "run " VECADD " --expect @" D18 "host_vecadd/c0_out2.npy --top 3 --timeout 60" },
	{ CLI_OK, "run " D27 "host_parallel_sum/lib.so --function rowsum --input @" D27
		  "host_parallel_sum/c0_in0.npy --output 64xfloat32" },
	{ CLI_DIFFERS, "run " VECADD " --expect @" D18 "host_vecadd/c0_in0.npy --device cpu:0" },
	{ CLI_OK, "run " ADD4 " --output 4xfloat32=>@FILE --json" },
	{ REFUSED, "run " D27 "host_several/lib.so --function ad_4" },
	{ REFUSED, "run " D27 "host_several/lib.so" },
	{ CLI_OK,
	  "run " GRAPH MLP_INPUT " --expect @" D18 "graph_mlp/out0.npy --profile --trace @FILE" },
	{ CLI_OK, "run " GRAPH MLP_INPUT " --json --profile --repeat 2" },
	{ CLI_OK, "run " APART MLP_INPUT " --top 2" },
	{ CLI_OK, "run " GRAPH " --stream" },
	{ REFUSED, "run " GRAPH MLP_INPUT " --device opencl:0" },
	{ CLI_OK, "run " D18 "aot_mlp/aot_packed.so" MLP_INPUT " --json" },
	{ CLI_OK, "run " D18 "aot_mlp/aot_chost.so" MLP_INPUT },
	{ CLI_OK, "run " D18 "relax_mlp/vm.so --input @" D18 "relax_mlp/n1_in_x.npy --profile" },
	{ CLI_OK, "run " D27 "model_mlp/model.so --function forward --input x=@" D27
		  "model_mlp/r0_x.npy --expect @" D27 "model_mlp/r0_out0.npy --json" },
	{ REFUSED, "run " D27 "model_mlp/model.so --function backward" },
	{ CLI_OK, "run " D27 "model_two_outputs/model.so --input pair.0=@" PAIR
		  "pair.0.npy --input pair.1=@" PAIR "pair.1.npy --input z=@" PAIR "z.npy" },
	{ REFUSED, "run " FFI "cpp_arrays/lib.so --function nonsense" },

	{ CLI_OK, "bench " GRAPH " --runs 2 --warmup 1 --per-op" },
	{ CLI_OK, "bench " GRAPH " --runs 2 --warmup 0 --per-op --json" },
	{ CLI_OK, "bench " D27 "model_mlp/model.so --function forward --runs 2" },

	{ CLI_OK, "run " GRAPH " --memory" },
	{ CLI_OK, "inspect " KERNELS " --show 1" },
	{ CLI_OK, "needs " GRAPH },
	{ CLI_OK, "needs " GRAPH " " KERNELS " --json" },
	{ CLI_OK, "needs --kconfig " GRAPH },
	{ CLI_OK, "unpack " D27 "tree_nested/lib.so @TMP/nested" },
	{ CLI_OK, "inspect " D18 "graph_mlp/mlf_graph_c.tar --json" },
	{ CLI_OK,
	  "link --abi legacy --format mlf -o @TMP/written.tar --graph " D18
	  "graph_mlp/graph.json --params " D18 "graph_mlp/model.params examples/link/vecadd.c" },
	{ CLI_OK, "params list " FUZZ "gguf/numbers-and-blocks" },
	{ CLI_OK, "params convert " FUZZ "gguf/numbers-and-blocks --dequantize float16 @FILE" },
	{ CLI_OK, "params convert " FUZZ "safetensors/two-tensors @FILE" },
#ifdef CONFIG_DEVICE_ETHOSU
	{ CLI_OK, "inspect tests/ethosu/data/small/mean.tflite --json" },
	{ CLI_OK, "inspect tests/ethosu/data/u65_conv1x1/vela.tflite --disassemble" },
	{ CLI_OK, "needs tests/ethosu/data/small/mean.tflite" },
#endif
#ifdef CONFIG_DEVICE_TORQ
	{ CLI_OK, "inspect tests/torq/data/add/add.vmfb" },
#endif
	{ CLI_OK, "partition tests/partition/net.json -o @TMP/regions" },
	{ CLI_OK, "partition tests/partition/int.json -o @TMP/regions" },
	{ CLI_OK, "partition tests/partition/bias.json -o @TMP/regions" },
	{ CLI_OK, "partition tests/partition/vec.json -o @TMP/regions" },
	{ REFUSED, "partition README.md -o @TMP/regions" },
	{ CLI_OK, "warm " KERNELS " --device null:0" },
	{ CLI_OK, "warm " GRAPH " --device cpu:0 --json" },
	{ CLI_OK, "params convert " PARAMS " --rename i8=other @FILE" },
	{ REFUSED, "link -o @FILE README.md=opencl examples/link/vecadd.c" },
#ifdef CONFIG_PICTURES
	{ CLI_OK, "report " GRAPH " -o @FILE" },
	{ CLI_OK, "inspect " GRAPH " --svg" },
	{ CLI_OK, "bench " GRAPH " --runs 2 --warmup 0 --svg" },
#endif
#ifdef CONFIG_RECORD
	{ CLI_OK, "replay @TMP/record --device cpu:0" },
	{ CLI_OK, "replay @TMP/record --compare cpu:0 cpu:0 --json" },
#endif
#ifdef CONFIG_HIL
	{ REFUSED, "hil run --target hil/here.json nonsense" },
	{ REFUSED, "hil run --target README.md" },
#endif
#ifdef CONFIG_REMOTE
	{ REFUSED, "rpc ping 127.0.0.1:1" },
	{ REFUSED, "rpc tracker status 127.0.0.1:1 --json" },
	{ REFUSED, "rpc serve --listen nonsense --key a --tracker 127.0.0.1:1" },
	{ REFUSED, "rpc proxy --listen nonsense --tracker 127.0.0.1:1" },
	{ REFUSED, "devices --remote 127.0.0.1:1" },
#endif
#if defined(CONFIG_REMOTE) && defined(CONFIG_REMOTE_CLIENT)
	{ CLI_OK, "rpc tracker status @TRACKER" },
	{ CLI_OK, "rpc tracker status @TRACKER --json" },
	{ CLI_OK, "rpc ping @SERVER --count 2 --json" },
	{ CLI_OK, "rpc functions @SERVER" },
	{ CLI_OK, "rpc upload @SERVER LICENSE" },
	{ CLI_OK, "rpc call @SERVER tvm.contrib.random.random_fill 4xfloat32=zeros --json" },
	{ CLI_OK, "devices --remote @SERVER --json" },
	{ CLI_OK, "run --remote @SERVER " VECADD },
#endif

	{ REFUSED, "doctor --board mortise://uio/0 --root @TMP" },
	{ REFUSED, "device program fpga0 README.md --root @TMP" },
	{ REFUSED, "device" },
	{ REFUSED, "device reset nonsense://x" },
	{ REFUSED, "device reset cpu" },
	{ CLI_OK, "devices" },
	{ CLI_OK, "devices --json" },
	{ CLI_OK, "doctor" },
	{ CLI_OK, "doctor --json" },

#ifdef CONFIG_LLM
	{ CLI_OK, "chat " WORDS " --message hello --max-tokens 2" },
	{ CLI_OK, "chat " WORDS " --tokens 104,105 --max-tokens 2 --json" },
#endif
#ifdef CONFIG_LLM_TOKENIZER
	{ CLI_OK, "chat " WORDS " --weights @TMP/words --message x<x>abx --max-tokens 2 --quiet" },
#endif
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

#endif
