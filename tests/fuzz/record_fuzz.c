/* SPDX-License-Identifier: MIT */
/* The first byte chooses a record that linking leaves in a file, the others are one. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "link/module/artifact_record.h"
#include "link/module/link_graph.h"
#include "link/module/payload_hashes.h"
#include "runtime/target/target_module.h"
#include "tests/fuzz/fuzz.h"

/* a name of 8 bytes is an artifact of 200 and a module of 150; their list doubles */
const size_t fuzz_memory_per_byte = 512;

enum record { ARTIFACTS, TARGETS, HASHES, GRAPH, AOT, CONSTANTS, RECORDS };

#define MODULES 3

static void add_artifacts(struct tenon_buffer *b)
{
	const struct artifact_names names[] = {
		{ "llvm", "native", "llvm", "host.o", NULL },
		{ "opencl", "opencl", "opencl", "kernels.cl", NULL },
		{ "cuda", "cuda", "my-gpu", "kernels.ptx", "cuda:1" },
	};
	struct artifact_set set = { 0 };
	struct artifact *a;
	size_t i;

	for (i = 0; i < MODULES; i++) {
		fuzz_check(artifact_add(&set, &names[i], &a));
		a->module = i;
	}
	fuzz_check(artifact_record_write(&set, b));
	artifact_set_fini(&set);
}

static void add_hashes(struct tenon_buffer *b)
{
	struct tenon_buffer hashes = TENON_BUFFER_INIT;

	fuzz_check(payload_hashes_begin(2, &hashes));
	payload_hashes_set(&hashes, 1, tenon_slice_of("payload"));
	tenon_buffer_append(b, hashes.data, hashes.size);
	tenon_buffer_fini(&hashes);
}

/* a file of parameters, as link reads it: a magic number, names, tensors */
static void add_params(struct tenon_buffer *b)
{
	tenon_buffer_u64(b, UINT64_C(0xf7e58d4f05049cb7));
	tenon_buffer_u64(b, 0);
	tenon_buffer_u64(b, 1);
	tenon_buffer_string(b, tenon_slice_of("p0"));
	tenon_buffer_u64(b, 1);
	tenon_buffer_append(b, "a tensor, which is not read here", 32);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static void (*const add[RECORDS])(struct tenon_buffer *) = {
		[ARTIFACTS] = add_artifacts, [TARGETS] = add_artifacts, [HASHES] = add_hashes,
		[GRAPH] = add_params,	     [AOT] = add_params,	[CONSTANTS] = add_params,
	};
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint8_t i;

	for (i = 0; i < RECORDS; i++) {
		tenon_buffer_u8(&b, i);
		add[i](&b);
		visit(context, "a record", (struct tenon_slice){ b.data, b.size });
		tenon_buffer_fini(&b);
	}
}

static void free_module(struct tenon_module *m)
{
	free(m);
}

/* a tree whose modules have the kinds of the seed */
static int bind(struct tenon_slice bytes)
{
	static const struct tenon_module_ops ops = { .free = free_module };
	static const char *const kinds[MODULES] = { "_lib", "opencl", "cuda" };
	struct tenon_module *modules[MODULES];
	int i, err;

	for (i = 0; i < MODULES; i++) {
		modules[i] = calloc(1, sizeof(*modules[i]));
		if (!modules[i])
			abort();
		tenon_module_init(modules[i], &ops, tenon_slice_of(kinds[i]), 0);
	}
	err = target_record_bind(bytes, "fuzz.so", modules, MODULES);
	for (i = 0; i < MODULES; i++)
		tenon_object_unref(modules[i]);
	return err;
}

static int read_artifacts(struct tenon_slice bytes)
{
	struct artifact_set set = { 0 };
	int err = artifact_record_read(bytes, "fuzz.so", &set);

	artifact_set_fini(&set);
	return err;
}

static int read_hashes(struct tenon_slice bytes)
{
	char found[SHA256_TEXT], wanted[SHA256_TEXT];
	struct payload_hashes hashes;
	uint64_t i;
	int err = payload_hashes_read(bytes, "fuzz.so", &hashes);

	for (i = 0; !err && i < hashes.count; i++)
		payload_hashes_match(&hashes, i, bytes, found, wanted);
	return err;
}

static int read_record(enum record record, struct tenon_slice bytes)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	int err = 0;

	if (record == ARTIFACTS)
		err = read_artifacts(bytes);
	else if (record == TARGETS)
		err = bind(bytes);
	else if (record == HASHES)
		err = read_hashes(bytes);
	else if (record == GRAPH)
		err = link_graph_payload(tenon_slice_of("{}"), bytes, "fuzz.params", "m", &out);
	else if (record == AOT)
		err = link_aot_payload(bytes, "fuzz.params", "m", &out);
	else
		err = link_constants_payload(bytes, "fuzz.params", &out);
	tenon_buffer_fini(&out);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] < RECORDS)
		fuzz_check(read_record((enum record)data[0],
				       (struct tenon_slice){ (const char *)data + 1, size - 1 }));
	return 0;
}
