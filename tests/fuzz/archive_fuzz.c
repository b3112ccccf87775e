/* SPDX-License-Identifier: MIT */
/* The bytes are an archive in Model Library Format: read, listed, and its memory summarised. */
#include <tenon/error.h>

#include "lib/json_tree.h"
#include "link/mlf/mlf.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "driver/archive/archive_api.h"

#define BLOCK	     512
#define CHECKSUM_AT  148
#define CHECKSUM_END 156
#define SIZE_AT	     124
#define LARGEST_FILE (256 << 10)

/*
 * a small archive may hold as much as ARCHIVE_BYTES_MOST, a buffer grows by its size, and a tree has
 * JSON_TREE_VALUES_MOST values
 */
const size_t fuzz_memory_per_byte = 256;
const size_t fuzz_memory_at_all =
	3 * (size_t)ARCHIVE_BYTES_MOST + 128 * (size_t)JSON_TREE_VALUES_MOST;
const bool fuzz_is_slow = true;

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	fixtures_each(".tar", LARGEST_FILE, visit, context);
}

static bool is_header(const struct mutant *m, size_t at)
{
	return mutant_has(m, at + 257, (struct tenon_slice){ "ustar", 5 });
}

/* A header with a wrong checksum ends the archive, so give all headers the right one. */
static void correct_checksum(struct mutant *m, size_t at)
{
	unsigned int sum = 0, i;

	for (i = 0; i < BLOCK; i++)
		sum += i >= CHECKSUM_AT && i < CHECKSUM_END ? ' ' : m->data[at + i];
	for (i = 6; i--; sum /= 8)
		m->data[at + CHECKSUM_AT + i] = (uint8_t)('0' + sum % 8);
	m->data[at + CHECKSUM_AT + 6] = 0;
	m->data[at + CHECKSUM_AT + 7] = ' ';
}

/* Change a name, a size or the kind of a member. */
static void change_header(struct mutant *m, size_t at)
{
	static const char *const names[] = { "../x",
					     "/etc/x",
					     "./metadata.json",
					     "codegen/host/src/x",
					     "a//b",
					     "codegen/npu/k.bin",
					     "." };
	const char *name = names[random_below(&m->random, sizeof(names) / sizeof(names[0]))];
	size_t i;

	switch (random_below(&m->random, 4)) {
	case 0:
		for (i = 0; i < 100; i++)
			m->data[at + i] = (uint8_t)*name ? (uint8_t)*name++ : 0;
		break;
	case 1:
		m->data[at + SIZE_AT + random_below(&m->random, 11)] =
			(uint8_t)('0' + random_below(&m->random, 8));
		break;
	case 2:
		m->data[at + 156] = (uint8_t) "0123567xgLKS"[random_below(&m->random, 12)];
		break;
	default:
		m->data[at + random_below(&m->random, BLOCK)] =
			(uint8_t)random_below(&m->random, 256);
	}
}

void fuzz_mutate(struct mutant *m)
{
	size_t at, headers = 0, wanted;

	for (at = 0; at + BLOCK <= m->size; at += BLOCK)
		headers += is_header(m, at);
	if (!headers || random_one_in(&m->random, 2)) {
		mutate_json(m);
	} else {
		wanted = random_below(&m->random, headers);
		for (at = 0; at + BLOCK <= m->size; at += BLOCK)
			if (is_header(m, at) && !wanted--)
				change_header(m, at);
	}
	for (at = 0; at + BLOCK <= m->size; at += BLOCK)
		if (is_header(m, at))
			correct_checksum(m, at);
}

static void use_model(const struct mlf *m, const struct mlf_model *model)
{
	const struct archive_file *graph = mlf_graph(m, model), *params = mlf_params(m, model);
	struct tenon_slice weights = { NULL, 0 };
	cJSON *memory;

	if (params)
		weights = (struct tenon_slice){ params->bytes.data, params->bytes.size };
	if (!graph)
		return;
	if (mlf_memory((struct tenon_slice){ graph->bytes.data, graph->bytes.size }, "graph",
		       weights, &memory))
		tenon_error_clear();
	cJSON_Delete(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mlf m = { 0 };
	size_t i;

	/* opened before the first input is measured */
	if (archive_library()) {
		tenon_error_clear();
		return 0;
	}
	if (mlf_read((struct tenon_slice){ (const char *)data, size }, "archive", &m))
		tenon_error_clear();
	for (i = 0; i < m.count; i++)
		use_model(&m, &m.models[i]);
	mlf_fini(&m);
	return 0;
}
