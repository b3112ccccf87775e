/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "lib/cursor_fast.h"
#include "runtime/payload/payload_format.h"
#include "runtime/payload/saved_tensor.h"

/* forms that many kinds share: runtime/payload/payload_format.h explains the letters */
#define KERNELS "fmd"
#define GRAPH	"ntv"

#define MACHINE_MAGIC	 UINT64_C(0xd225de2f4214151d)
#define MACHINE_MAGIC_V2 UINT64_C(0xd225de2f4214151e)

/* bytes of the smallest function of a Relax executable */
#define RELAX_LEAST 52

static const struct payload_format formats[] = {
	{ "opencl", KERNELS "|ms", KERNELS "|mz|ms", PAYLOAD_DEVICE },
	{ "cuda", KERNELS, "", PAYLOAD_DEVICE },
	{ "vulkan", "fms", "fmz|fms", PAYLOAD_DEVICE },
	{ "const_loader", "vakw", "", PAYLOAD_METADATA },
	{ "metadata_module", "", "", PAYLOAD_METADATA },
	{ "metadata", "vakw", "", PAYLOAD_METADATA },
	{ "GraphExecutorFactory", "tpn", "", PAYLOAD_EXECUTOR },
	{ "GraphRuntimeFactory", "tpn", "", PAYLOAD_EXECUTOR },
	{ "AotExecutorFactory", "pn", "", PAYLOAD_EXECUTOR },
	{ "relax.Executable", "r", "", PAYLOAD_EXECUTOR },
	{ "relax.VMExecutable", "r", "R|r", PAYLOAD_EXECUTOR },
	{ "VMExecutable", "r", "", PAYLOAD_RELAY },
	{ "metal", "xbmf|" KERNELS, "xbmf|fmb|" KERNELS, PAYLOAD_PLUGIN },
	{ "webgpu", "mb", "", PAYLOAD_PLUGIN },
	{ "hip", KERNELS, "", PAYLOAD_PLUGIN },
	{ "hsaco", KERNELS, "", PAYLOAD_PLUGIN },
	{ "hexagon", KERNELS, "", PAYLOAD_PLUGIN },
	{ "hex", KERNELS, "", PAYLOAD_PLUGIN },
	{ "aocl", KERNELS, "", PAYLOAD_DEVICE },
	{ "sdaccel", KERNELS, "", PAYLOAD_DEVICE },
	{ "dnnl_json", GRAPH, "", PAYLOAD_PLUGIN },
	{ "tensorrt", GRAPH, "", PAYLOAD_PLUGIN },
	{ "arm_compute_lib", GRAPH, "", PAYLOAD_PLUGIN },
	{ "bnns_json", GRAPH, "", PAYLOAD_PLUGIN },
	{ "clml", GRAPH, "", PAYLOAD_PLUGIN },
	{ "cublas_json", GRAPH, "", PAYLOAD_PLUGIN },
	{ "cudnn_json", GRAPH, "", PAYLOAD_PLUGIN },
	{ "hipblas_json", GRAPH, "", PAYLOAD_PLUGIN },
	{ "nnapi", GRAPH, "", PAYLOAD_PLUGIN },
	{ "msc_tensorrt", GRAPH, "", PAYLOAD_PLUGIN },
	{ "mrvl_sim", "nt", "", PAYLOAD_PLUGIN },
	{ "mrvl_hw", "ntdiii", "", PAYLOAD_PLUGIN },
	{ "torch", "nd", "", PAYLOAD_PLUGIN },
	{ "coreml", "nd", "", PAYLOAD_PLUGIN },
	{ "VitisAIRuntime", "dynv", "", PAYLOAD_PLUGIN },
	{ "ethos-n", "e", "", PAYLOAD_PLUGIN },
	{ "c", "tfkv", "", PAYLOAD_PLUGIN },
	{ "static_library", "dk", "", PAYLOAD_PLUGIN },
	{ "examplejson", "t", "", PAYLOAD_EXAMPLE },
};

const struct payload_format *payload_format_of(struct tenon_slice kind)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const char *name = formats[i].kind;

		if (*name == *kind.data && strlen(name) == kind.size &&
		    !memcmp(name, kind.data, kind.size))
			return &formats[i];
	}
	return NULL;
}

static int take_version(struct tenon_cursor *c)
{
	const struct tenon_cursor from = *c;
	struct tenon_slice version;
	int err;

	err = payload_take_word(c, &version, "version");
	if (!err && (version.data[0] < '0' || version.data[0] > '9'))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "no version number");
	return err;
}

static int take_string_lists(struct tenon_cursor *c)
{
	uint64_t i, n, count;
	int err;

	err = take_count(c, 8, &count);
	for (i = 0; i < count && !err; i++)
		err = payload_take_strings(c, &n);
	return err;
}

static int take_tensors(struct tenon_cursor *c, uint64_t count, struct payload_facts *facts)
{
	struct saved_tensor t;
	uint64_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = saved_tensor_read(c, &t);
		if (!err)
			facts->array_bytes += t.data.size;
	}
	facts->array_count += count;
	return err;
}

static int take_parameters(struct tenon_cursor *c, struct payload_facts *facts)
{
	const struct tenon_cursor from = *c;
	uint64_t count, names;
	int err;

	err = tenon_cursor_count(c, 8 + SAVED_TENSOR_LEAST, &count);
	if (!err)
		err = payload_take_strings(c, &names);
	if (err)
		return err;
	if (names != count)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "%" PRIu64 " names for %" PRIu64 " parameters", names,
					  count);
	return take_tensors(c, count, facts);
}

static int take_names(struct tenon_cursor *c, struct payload_facts *facts)
{
	const uint8_t *from = c->at;
	int err;

	err = payload_take_strings(c, &facts->function_count);
	if (err)
		return err;
	facts->names = PAYLOAD_LIST;
	facts->functions = *c;
	facts->functions.at = from + 8;
	return 0;
}

static int relax_entry(struct tenon_cursor *c, struct tenon_slice *name, uint32_t *kind)
{
	struct tenon_slice parameter;
	uint64_t i, count;
	int err;

	err = tenon_cursor_u32(c, kind);
	if (!err)
		err = take_string(c, name);
	/* first and last instruction, number of arguments, number of registers */
	if (!err)
		err = tenon_cursor_skip(c, 32);
	if (!err)
		err = take_count(c, 8, &count);
	if (err)
		return err;
	for (i = 0; i < count && !err; i++)
		err = take_string(c, &parameter);
	return err;
}

static int relax_functions(struct tenon_cursor *code, struct payload_facts *facts)
{
	const struct tenon_cursor from = *code;
	struct tenon_slice version, name;
	struct tenon_cursor c;
	uint64_t i, magic;
	uint32_t kind;
	int err;

	err = take_u64(code, &magic);
	if (err)
		return err;
	if (magic != MACHINE_MAGIC && magic != MACHINE_MAGIC_V2)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "0x%" PRIx64 " is not the magic number of an executable",
					  magic);
	err = take_string(code, &version);
	/* the Relay machine's files begin alike, with another version: they are not looked into */
	if (err || version.size != 4 || memcmp(version.data, "0.14", 4))
		return err;
	facts->format = version;
	err = take_count(code, RELAX_LEAST, &facts->function_count);
	if (err)
		return err;
	c = *code;
	for (i = 0; i < facts->function_count && !err; i++)
		err = relax_entry(&c, &name, &kind);
	facts->functions = *code;
	facts->names = PAYLOAD_RELAX;
	return err;
}

int payload_relax_function(struct tenon_cursor *c, struct tenon_slice *name)
{
	uint32_t kind;
	int err;

	err = relax_entry(c, name, &kind);
	/* kind 0 is a function that the executable calls, not one that it has */
	if (!err && !kind)
		name->data = NULL;
	return err;
}

static int take_ethosn(struct tenon_cursor *c)
{
	struct tenon_slice s;
	uint64_t i, j, k, count;
	int err;

	err = take_count(c, 32, &count);
	for (i = 0; i < count && !err; i++) {
		err = take_string(c, &s);
		if (!err)
			err = take_string(c, &s);
		/* inputs, then outputs: two numbers for each */
		for (j = 0; j < 2 && !err; j++) {
			err = take_count(c, 8, &k);
			if (!err)
				c->at += 8 * (size_t)k;
		}
	}
	return err;
}

static int take_executable(struct tenon_cursor *c, struct payload_facts *facts, bool sized)
{
	struct tenon_cursor code;
	int err;

	if (sized) {
		err = take_string(c, &facts->code);
		if (err)
			return err;
	} else {
		facts->code.data = (const char *)c->at;
		facts->code.size = tenon_cursor_left(c);
		c->at = c->end;
	}
	code = *c;
	code.at = (const uint8_t *)facts->code.data;
	code.end = code.at + facts->code.size;
	return relax_functions(&code, facts);
}

int payload_take_rare(char letter, struct tenon_cursor *c, struct payload_facts *facts)
{
	struct tenon_slice ignored;
	uint64_t count;
	uint32_t word;
	int err;

	switch (letter) {
	case 'x':
		return take_version(c);
	case 'y':
		return take_string(c, &ignored);
	case 'k':
		return take_names(c, facts);
	case 'w':
		return take_string_lists(c);
	case 'a':
		err = take_count(c, SAVED_TENSOR_LEAST, &count);
		return err ? err : take_tensors(c, count, facts);
	case 'p':
		return take_parameters(c, facts);
	case 'r':
	case 'R':
		return take_executable(c, facts, letter == 'r');
	case 'e':
		return take_ethosn(c);
	default:
		return tenon_cursor_u32(c, &word);
	}
}
