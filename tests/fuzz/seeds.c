/* SPDX-License-Identifier: MIT */
/* Write valid payloads, trees, graphs and files, the seeds of targets. */
#include "tests/fuzz/seeds.h"

#include <tenon/backend/buffer.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mortise_window.h"
#include "tests/unit/elf_image.h"

struct sink {
	void (*visit)(void *context, const char *name, struct tenon_slice bytes);
	void *context;
};

static void give(const struct sink *sink, const char *name, struct tenon_buffer *b)
{
	sink->visit(sink->context, name, slice_of(b));
	tenon_buffer_fini(b);
}

static const char text[] = "subgraph_0\n  input 0 2 3\n  input 1 2 3\n"
			   "  add 2 inputs: 0 1 shape: 2 3\n  mul 3 inputs: 2 2 shape: 2 3\n"
			   "other_subgraph_1\n  input 0 4\n  sub 1 inputs: 0 0 shape: 4\n";

static void put_constants(struct tenon_buffer *b)
{
	static const float values[3] = { 1, 2, 3 };

	tenon_buffer_u64(b, 2);
	put_string(b, "p0");
	put_string(b, "p1");
	tenon_buffer_u64(b, 2);
	put_tensor(b, values, 3);
	put_tensor(b, values, 1);
	tenon_buffer_u64(b, 2);
	put_string(b, "f");
	put_string(b, "g");
	tenon_buffer_u64(b, 2);
	tenon_buffer_u64(b, 1);
	put_string(b, "p1");
	tenon_buffer_u64(b, 0);
}

static void put_executor(struct tenon_buffer *b, const char *graph)
{
	static const float values[2] = { 1, 2 };

	if (graph)
		put_string(b, graph);
	tenon_buffer_u64(b, 1);
	tenon_buffer_u64(b, 1);
	put_string(b, "p0");
	put_tensor(b, values, 2);
	put_string(b, "default");
}

static void put_spirv_part(struct tenon_buffer *b, bool sized)
{
	tenon_buffer_u64(b, 1);
	put_string(b, "kernel");
	if (sized)
		tenon_buffer_u64(b, 20);
	tenon_buffer_u32(b, 0);
	tenon_buffer_u64(b, 2);
	tenon_buffer_u32(b, 0x07230203);
	tenon_buffer_u32(b, 0);
}

static void put_relax(struct tenon_buffer *b)
{
	tenon_buffer_u64(b, UINT64_C(0xd225de2f4214151d));
	put_string(b, "0.14");
	tenon_buffer_u64(b, 1);
	tenon_buffer_u32(b, 1);
	put_string(b, "main");
	tenon_buffer_append(b, (const char[32]){ 0 }, 32);
	tenon_buffer_u64(b, 1);
	put_string(b, "x");
	tenon_buffer_u64(b, 0);
}

static void put_kernel_parts(struct tenon_buffer *b)
{
	tenon_buffer_u64(b, 1);
	put_string(b, "kernel");
	put_string(b, "text of the kernel");
}

static void put_strings(struct tenon_buffer *b, const char *const *words)
{
	for (; *words; words++)
		put_string(b, *words);
}

#define STRINGS(...)                                                                               \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* a payload of the kind, as TVM would write it */
static void put_payload(struct tenon_buffer *b, const char *kind, bool current)
{
	static const char *const kernel = "kernel";
	struct tenon_buffer inner = TENON_BUFFER_INIT;

	if (!strcmp(kind, "vulkan")) {
		put_string(b, "vulkan");
		put_kernels(b, &kernel, 1, current);
		put_spirv_part(b, current);
	} else if (!strcmp(kind, "metal")) {
		put_string(b, current ? "metal" : "0.1.0");
		if (!current)
			put_kernel_parts(b);
		put_kernels(b, &kernel, 1, current);
		if (current)
			put_kernel_parts(b);
		else
			put_string(b, "metal");
	} else if (!strcmp(kind, "webgpu")) {
		put_kernels(b, &kernel, 1, current);
		put_kernel_parts(b);
	} else if (!strcmp(kind, "const_loader")) {
		put_constants(b);
	} else if (!strcmp(kind, "GraphExecutorFactory")) {
		put_executor(b, "{\"nodes\": [{\"op\": \"null\"}, {}], \"heads\": []}");
	} else if (!strcmp(kind, "AotExecutorFactory")) {
		put_executor(b, NULL);
	} else if (strstr(kind, "VMExecutable")) {
		put_relax(&inner);
		if (current)
			tenon_buffer_slice(b, slice_of(&inner));
		else
			tenon_buffer_string(b, slice_of(&inner));
		tenon_buffer_fini(&inner);
	} else if (!strcmp(kind, "dnnl_json")) {
		put_strings(b, STRINGS("symbol", "{\"nodes\": [{}]}"));
		tenon_buffer_u64(b, 1);
		put_string(b, "constant");
	} else if (!strcmp(kind, "mrvl_hw")) {
		put_strings(b, STRINGS("symbol", "{}", "binary"));
		tenon_buffer_append(b, "\1\0\0\0\1\0\0\0\1\0\0", 12);
	} else if (!strcmp(kind, "torch")) {
		put_strings(b, STRINGS("symbol", "module"));
	} else if (!strcmp(kind, "VitisAIRuntime")) {
		put_strings(b, STRINGS("model", "path", "symbol"));
		tenon_buffer_u64(b, 0);
	} else if (!strcmp(kind, "ethos-n")) {
		tenon_buffer_u64(b, 1);
		put_strings(b, STRINGS("name", "stream"));
		tenon_buffer_u64(b, 1);
		tenon_buffer_u64(b, 0);
		tenon_buffer_u64(b, 0);
	} else if (!strcmp(kind, "c")) {
		put_strings(b, STRINGS("int f(void);", "c"));
		tenon_buffer_u64(b, 1);
		put_string(b, "f");
		tenon_buffer_u64(b, 0);
	} else if (!strcmp(kind, "static_library")) {
		put_string(b, "!<arch>\n");
		tenon_buffer_u64(b, 1);
		put_string(b, "f");
	} else if (!strcmp(kind, "examplejson")) {
		put_string(b, text);
	} else if (strcmp(kind, "metadata_module")) {
		put_device(b, "cl", kernel, "// code", current);
	}
}

static void payload_seeds(const struct sink *sink)
{
	int i, current;

	for (i = 0; fuzz_kinds[i]; i++) {
		for (current = 0; current < 2; current++) {
			struct tenon_buffer b = TENON_BUFFER_INIT;

			tenon_buffer_u8(&b, (uint8_t)(2 * i + current));
			put_payload(&b, fuzz_kinds[i], current);
			give(sink, fuzz_kinds[i], &b);
		}
	}
}

static void real_seeds(const struct sink *sink, const char *const *files)
{
	for (; *files; files++) {
		struct real_blob r = real_blob_open(*files);

		sink->visit(sink->context, *files, r.bytes);
		file_map_close(&r.file);
	}
}

/* a file as it is */
static void file_seed(const struct sink *sink, const char *path)
{
	struct tenon_slice bytes;

	if (file_map_open(path, &bytes)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		abort();
	}
	sink->visit(sink->context, path, bytes);
	file_map_close(&bytes);
}

/* the payloads of the executables at the roots of files */
static void relax_seeds(const struct sink *sink, const char *const *files)
{
	for (; *files; files++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct tenon_module *root;

		if (tenon_module_inspect(data_file(*files), &root) || tenon_module_save(root, &b)) {
			fprintf(stderr, "%s\n", tenon_error_message());
			abort();
		}
		tenon_object_unref(root);
		give(sink, *files, &b);
	}
}

/* a tree of four, with a module that two import, and no bytes that are no structure */
static void blob_seeds(const struct sink *sink, enum tenon_generation g)
{
	struct tenon_buffer payload[3] = { TENON_BUFFER_INIT, TENON_BUFFER_INIT,
					   TENON_BUFFER_INIT },
			    b;
	int i;

	put_payload(&payload[0], "const_loader", g == TENON_GENERATION_FFI);
	put_payload(&payload[1], "opencl", g == TENON_GENERATION_FFI);
	put_payload(&payload[2], "examplejson", g == TENON_GENERATION_FFI);
	const struct part parts[] = { { "const_loader", slice_of(&payload[0]) },
				      { "_lib", { NULL, 0 } },
				      { "opencl", slice_of(&payload[1]) },
				      { "examplejson", slice_of(&payload[2]) } };

	b = blob_of(g, parts, 4, ROWS(0, 2, 4, 4, 4), ROWS(1, 3, 2, 3));
	give(sink, "tree of four", &b);
	for (i = 0; i < 3; i++)
		tenon_buffer_fini(&payload[i]);
}

/* a model of TVM 0.6: its root has the older name of the kind, and the code below */
static void old_model_seed(const struct sink *sink)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT, b;

	put_executor(&payload, "{\"nodes\": [{\"op\": \"null\"}, {}], \"heads\": []}");
	const struct part parts[] = { { "GraphRuntimeFactory", slice_of(&payload) },
				      { "_lib", { NULL, 0 } } };

	b = blob_of(TENON_GENERATION_LEGACY, parts, 2, ROWS(0, 1, 1), ROWS(1));
	give(sink, "old model", &b);
	tenon_buffer_fini(&payload);
}

static void elf_seeds(const struct sink *sink)
{
	static const char *const names[] = { "__tvm_ffi_add", "__tvm_ffi__library_bin", NULL };
	struct image i = { .names = names, .content_of = 1 };
	struct tenon_buffer payload = TENON_BUFFER_INIT, blob, b;
	int n;

	put_payload(&payload, "opencl", true);
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "opencl", slice_of(&payload) } };

	blob = blob_of(TENON_GENERATION_FFI, parts, 2, ROWS(0, 1, 1), ROWS(1));
	i.content = slice_of(&blob);
	for (n = 0; n < 12; n++) {
		i.wide = n & 1;
		i.big = n & 2;
		i.way = (enum image_way)(n / 4);
		i.machine = 62;
		b = image_of(&i);
		give(sink, "small ELF file", &b);
	}
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&blob);
}

/* Decisions of no meaning: relax_program.c makes programs of any. */
static void decision_seeds(const struct sink *sink)
{
	struct tenon_buffer b;
	uint32_t seed, x, i;

	for (seed = 1; seed <= 3; seed++) {
		b = (struct tenon_buffer)TENON_BUFFER_INIT;
		for (i = 0, x = seed; i < 480; i++) {
			x = x * 1664525 + 1013904223;
			tenon_buffer_u8(&b, (uint8_t)(x >> 24));
		}
		give(sink, "decisions", &b);
	}
}

static const char *const legacy_files[] = {
	"tvm-0.18/opencl_vecadd/lib.so",     "tvm-0.18/vulkan_vecadd/lib.so",
	"tvm-0.18/dev_source_only/metal.so", "tvm-0.18/dev_source_only/webgpu.so",
	"tvm-0.18/dev_opencl_cuda/lib.so",   "tvm-0.8/opencl_vecadd/lib.so",
	"tvm-0.8/graph_nop/graph.so",	     NULL,
};

static const char *const modern_files[] = {
	"tvm-0.25.0.post1/opencl_vecadd/lib.so", "tvm-0.25.0.post1/relax_mlp/vm.so",
	"tvm-0.27.0.post1/tree_nested/lib.so",	 "tvm-0.27.0.post1/metal_vecadd/lib.so",
	"tvm-0.27.0.post1/webgpu_vecadd/lib.so", NULL,
};

#define PACKET(opcode, type)                                                                       \
	{                                                                                          \
		opcode, 0, sizeof(type) / MORTISE_WORD, 0                                          \
	}
#define HEAP(offset) (FUZZ_HEAP + (offset))

/* each packet that there is, in one stream; only what comes behind the shutdown is not run */
static void put_packets(struct tenon_buffer *b)
{
	static const struct {
		struct mortise_copy copy;
		struct mortise_fill fill;
		struct mortise_semaphore signal, wait;
		struct mortise_timestamp timestamp;
		struct mortise_header barrier;
		struct mortise_vector bytes, words;
		struct mortise_gemm sums, scaled;
		struct {
			struct mortise_call call;
			struct mortise_argument arguments[2];
		} call;
		struct mortise_selftest selftest;
		struct mortise_header pad, shutdown;
	} all = {
		.copy = { PACKET(MORTISE_OP_COPY, struct mortise_copy), HEAP(FUZZ_HEAP_SIZE - 100),
			  HEAP(0), 100 },
		.fill = { PACKET(MORTISE_OP_FILL, struct mortise_fill), HEAP(64), 32, 0x1234, 2,
			  0 },
		.signal = { PACKET(MORTISE_OP_SIGNAL, struct mortise_semaphore), HEAP(4), 1, 0 },
		.wait = { PACKET(MORTISE_OP_WAIT, struct mortise_semaphore), HEAP(4), 1, 0 },
		.timestamp = { PACKET(MORTISE_OP_TIMESTAMP, struct mortise_timestamp), HEAP(16) },
		.barrier = { MORTISE_OP_BARRIER, 0, 1, 0 },
		.bytes = { .header = PACKET(MORTISE_OP_VECTOR, struct mortise_vector),
			   .to = HEAP(0),
			   .a = HEAP(32),
			   .b = FUZZ_CONSTANTS,
			   .count = 9 },
		.words = { .header = PACKET(MORTISE_OP_VECTOR, struct mortise_vector),
			   .to = HEAP(0),
			   .a = HEAP(32),
			   .count = 9,
			   .operation = MORTISE_VECTOR_MUL,
			   .type = MORTISE_INT32,
			   .scalar = -3 },
		.sums = { .header = PACKET(MORTISE_OP_GEMM, struct mortise_gemm),
			  .to = HEAP(0),
			  .a = HEAP(256),
			  .b = HEAP(512),
			  .bias = HEAP(1024),
			  .m = 2,
			  .n = 3,
			  .k = 5,
			  .a_stride = 8,
			  .b_stride = 5,
			  .to_stride = 12 },
		.scaled = { .header = PACKET(MORTISE_OP_GEMM, struct mortise_gemm),
			    .to = HEAP(0),
			    .a = HEAP(256),
			    .b = HEAP(512),
			    .m = 2,
			    .n = 3,
			    .k = 5,
			    .a_stride = 5,
			    .b_stride = 5,
			    .to_stride = 3,
			    .multiplier = 1 << 30,
			    .shift = 31,
			    .to_zero = -3,
			    .least = -128,
			    .most = 127,
			    .a_zero = 5,
			    .b_zero = -7 },
		.call = { { .header = PACKET(MORTISE_OP_CALL, all.call),
			    .function = FUZZ_CODE,
			    .groups = { 2, 1, 1 },
			    .threads = { 1, 1, 1 },
			    .count = 2 },
			  { { HEAP(0), 16, MORTISE_WRITE }, { 7, 0, 0 } } },
		.selftest = { PACKET(MORTISE_OP_SELFTEST, struct mortise_selftest), HEAP(0), 64 },
		.pad = { MORTISE_OP_PAD, MORTISE_NOTIFY, 1, 0 },
		.shutdown = { MORTISE_OP_SHUTDOWN, 0, 1, 0 },
	};
	static const uint8_t flags = FUZZ_POSITIONS;

	tenon_buffer_append(b, &flags, 1);
	tenon_buffer_append(b, &all, sizeof(all));
}

/* a setup of the input's own, and a packet behind it */
static void put_setup(struct tenon_buffer *b)
{
	static const struct {
		struct mortise_setup setup;
		struct mortise_fill fill;
	} input = {
		.setup = { .magic = MORTISE_MAGIC,
			   .abi = MORTISE_ABI,
			   .ring_address = FUZZ_RING,
			   .ring_words = MORTISE_RING_LEAST,
			   .region_count = 2,
			   .regions = { { HEAP(0), 4096, MORTISE_READ, 0 },
					{ HEAP(4096), 4096, MORTISE_READ | MORTISE_WRITE, 0 } } },
		.fill = { PACKET(MORTISE_OP_FILL, struct mortise_fill), HEAP(4096), 32, 0x1234, 2,
			  0 },
	};
	static const uint8_t flags = FUZZ_SETUP | FUZZ_POSITIONS;

	tenon_buffer_append(b, &flags, 1);
	tenon_buffer_append(b, &input, sizeof(input));
}

static void packet_seeds(const struct sink *sink)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	put_packets(&b);
	give(sink, "every packet", &b);
	put_setup(&b);
	give(sink, "a setup", &b);
}

/* device code that the build made for this machine */
static void device_code_seed(const struct sink *sink)
{
	struct tenon_buffer path = TENON_BUFFER_INIT, b = TENON_BUFFER_INIT;
	const char *build = getenv("TENON_BUILD");
	struct tenon_slice bytes;

	tenon_buffer_printf(&path, "%s/device/host/tests/mortise/kernels.elf",
			    build ? build : "build");
	if (!file_map_open(path.data, &bytes)) {
		tenon_buffer_slice(&b, bytes);
		give(sink, "kernels", &b);
		file_map_close(&bytes);
	}
	tenon_buffer_fini(&path);
	/* and what TVM made for another */
	file_seed(sink, "tests/hexagon/recorded/operators.mortise");
}

/* a call with a value of each kind, as each generation of clients of TVM's RPC sends it */
static void put_rpc_call(struct tenon_buffer *b, uint8_t generation)
{
	static const struct {
		uint8_t legacy, ffi, bytes;
	} values[] = { { 4, 0, 0 }, { 0, 1, 8 },  { 2, 3, 8 },	 { 3, 4, 8 },	{ 5, 5, 8 },
		       { 6, 6, 8 }, { 7, 7, 40 }, { 11, 8, 16 }, { 12, 9, 16 }, { 9, 73, 8 } };
	static const uint8_t tensor[40] = {
		64, [8] = 1, [16] = 1, [20] = 2, [21] = 32, [22] = 1, [24] = 4
	};
	static const uint8_t word[16] = { 8, [8] = 't', 'e', 'x', 't', 't', 'e', 'x', 't' };
	const size_t count = sizeof(values) / sizeof(values[0]);
	size_t i;

	tenon_buffer_u8(b, generation);
	tenon_buffer_u32(b, 3);
	tenon_buffer_u64(b, 64);
	tenon_buffer_u32(b, count);
	for (i = 0; i < count && generation == 1; i++)
		tenon_buffer_u32(b, values[i].legacy);
	for (i = 0; i < count; i++) {
		if (generation != 1)
			tenon_buffer_u32(b, values[i].ffi);
		tenon_buffer_append(b, values[i].bytes == 16 ? word : tensor, values[i].bytes);
	}
}

static void rpc_seeds(const struct sink *sink)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	put_rpc_call(&b, 1);
	give(sink, "a legacy call", &b);
	put_rpc_call(&b, 2);
	give(sink, "an ffi call", &b);
}

static void tracker_seeds(const struct sink *sink)
{
	static const char *const messages[] = {
		"[5, {\"key\": \"server:k\", \"addr\": [null, \"9090\"], \"health\": \"\"}]",
		"[3, \"k\", [9090, \"k:0.5\"], null]",
		"[4, \"k\", \"\", 1]",
	};
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		tenon_buffer_append(&b, messages[i], strlen(messages[i]));
		give(sink, "a message to a tracker", &b);
	}
}

static const char *const relax_files[] = {
	"tvm-0.27.0.post1/relax_mlp/vm.so",
	"tvm-0.27.0.post1/model_closure/model.so",
	"tvm-0.27.0.post1/model_branch/model.so",
	"tvm-0.25.0.post1/model_two_outputs/model.so",
	NULL,
};

void seeds_each(const char *target,
		void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	const struct sink sink = { visit, context };
	struct tenon_buffer b = TENON_BUFFER_INIT;

	fuzz_seeds(visit, context);
	if (!strcmp(target, "blob_legacy")) {
		blob_seeds(&sink, TENON_GENERATION_LEGACY);
		old_model_seed(&sink);
		real_seeds(&sink, legacy_files);
	} else if (!strcmp(target, "blob_modern")) {
		blob_seeds(&sink, TENON_GENERATION_FFI);
		real_seeds(&sink, modern_files);
	} else if (!strcmp(target, "elf_inspect")) {
		elf_seeds(&sink);
	} else if (!strcmp(target, "payload")) {
		payload_seeds(&sink);
	} else if (!strcmp(target, "const_loader")) {
		put_constants(&b);
		give(&sink, "two constants", &b);
	} else if (!strcmp(target, "graph_json")) {
		file_seed(&sink, "tests/interop/data/tvm-0.8/graph_nop/graph.json");
	} else if (!strcmp(target, "dnnl_json")) {
		file_seed(&sink, "tests/interop/data/tvm-0.18/byoc_dnnl_mlp/dnnl0.json");
		file_seed(&sink, "tests/interop/data/tvm-0.18/byoc_dnnl_mlp/dnnl1.json");
	} else if (!strcmp(target, "partition")) {
		file_seed(&sink, "tests/partition/int.json");
		file_seed(&sink, "tests/partition/vec.json");
	} else if (!strcmp(target, "mortise_elf")) {
		device_code_seed(&sink);
	} else if (!strcmp(target, "mortise_packet")) {
		packet_seeds(&sink);
	} else if (!strcmp(target, "params")) {
		file_seed(&sink, "tests/interop/data/tvm-0.18/params_file/all.params");
		put_tensor(&b, (const float[3]){ 1, 2, 3 }, 3);
		give(&sink, "one tensor", &b);
	} else if (!strcmp(target, "gguf")) {
		file_seed(&sink, "tests/fuzz/corpus/gguf/numbers-and-blocks");
	} else if (!strcmp(target, "safetensors")) {
		file_seed(&sink, "tests/fuzz/corpus/safetensors/two-tensors");
		file_seed(&sink, "tests/fuzz/corpus/safetensors/narrow");
	} else if (!strcmp(target, "rpc_packet")) {
		rpc_seeds(&sink);
	} else if (!strcmp(target, "tracker_message")) {
		tracker_seeds(&sink);
	} else if (!strcmp(target, "relax_program")) {
		decision_seeds(&sink);
	} else if (!strcmp(target, "relax_executable")) {
		relax_seeds(&sink, relax_files);
	} else if (!strcmp(target, "example_json")) {
		tenon_buffer_append(&b, text, sizeof(text) - 1);
		give(&sink, "two graphs", &b);
	}
}
