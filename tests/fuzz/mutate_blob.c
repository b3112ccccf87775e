/* SPDX-License-Identifier: MIT */
/* Change a field of the blob of a module: counts, lengths, strings and operands. */
#include <string.h>

#include "runtime/relax/relax_executable.h"
#include "tests/fuzz/mutant.h"

static const char *const kinds[] = {
	"_lib",
	"_import_tree",
	"relax.VMExecutable",
	"relax.Executable",
	"VMExecutable",
	"opencl",
	"vulkan",
	"cuda",
	"metal",
	"webgpu",
	"rocm",
	"hexagon",
	"c",
	"llvm",
	"ptx",
	"stackvm",
	"tensorrt",
	"dnnl_json",
	"json",
	"examplejson",
	"const_loader",
	"metadata_module",
	"static_library",
	"GraphExecutorFactory",
	"GraphRuntimeFactory",
	"AotExecutorFactory",
};

/* bytes that are looked through for a place to change */
#define SEARCHED 512

/* numbers that are counts, lengths or registers in all files there are */
#define SMALL 4096

/* Search from a random place on. Returns where @is_one said yes, or SIZE_MAX. */
static size_t find(struct mutant *m, bool (*is_one)(const struct mutant *m, size_t at))
{
	size_t at = random_below(&m->random, m->size), i;

	for (i = 0; i < SEARCHED; i++, at++) {
		if (at + 8 > m->size)
			at = 0;
		if (at + 8 <= m->size && is_one(m, at))
			return at;
	}
	return SIZE_MAX;
}

static bool is_small(const struct mutant *m, size_t at)
{
	uint64_t v = mutant_get(m, at, 8);

	return v && v < SMALL;
}

static bool is_string(const struct mutant *m, size_t at)
{
	uint64_t v = mutant_get(m, at, 8), i;

	if (!v || v > 64 || v > m->size - at - 8)
		return false;
	for (i = 0; i < v; i++)
		if (m->data[at + 8 + i] < ' ' || m->data[at + 8 + i] > '~')
			return false;
	return true;
}

/* an operand of a Relax instruction has its kind in the highest byte */
static bool is_operand(const struct mutant *m, size_t at)
{
	uint64_t v = mutant_get(m, at, 8);

	return v >> 56 < 4 && (v & 0xffffffffffffff) < SMALL && v;
}

/* The first word is the size of the rest. It is kept true, so that the reader gets to the change. */
static void fix_size(struct mutant *m, size_t before)
{
	uint64_t size = mutant_get(m, 0, 8);

	if (random_below(&m->random, 8))
		mutant_put(m, 0, size + m->size - before, 8);
}

static void change_length(struct mutant *m)
{
	size_t at = find(m, is_small);
	uint64_t v;

	if (at == SIZE_MAX)
		return;
	v = mutant_get(m, at, 8);
	if (random_one_in(&m->random, 2))
		v += 1 - 2 * random_below(&m->random, 2);
	else
		v = mutant_number(m, m->size - at);
	mutant_put(m, at, v, 8);
}

static void change_operand(struct mutant *m)
{
	struct random *r = &m->random;
	size_t at = find(m, is_operand);
	uint64_t value;

	if (at == SIZE_MAX)
		return;
	value = random_below(r, 8) ? random_below(r, 40) : mutant_number(m, 0);
	value = (value & 0xffffffffffffff) | random_below(r, 5) << 56;
	/* the registers that stand for None and for the machine */
	if (random_one_in(r, 8))
		value = (uint64_t)RELAX_REGISTER_VOID + random_below(r, 2);
	mutant_put(m, at, value, 8);
}

/* a string becomes a kind of module, or the name of something else in the file */
static void change_string(struct mutant *m)
{
	struct random *r = &m->random;
	size_t at = find(m, is_string), from, before = m->size;
	struct tenon_slice text;
	char copy[64];

	if (at == SIZE_MAX)
		return;
	text = tenon_slice_of(kinds[random_below(r, sizeof(kinds) / sizeof(kinds[0]))]);
	if (random_one_in(r, 2)) {
		from = find(m, is_string);
		if (from == SIZE_MAX)
			return;
		text = (struct tenon_slice){ (const char *)m->data + from + 8,
					     mutant_get(m, from, 8) };
	}
	/* what is copied may lie in what moves */
	memcpy(copy, text.data, text.size);
	mutant_replace(m, at + 8, mutant_get(m, at, 8), copy, text.size);
	mutant_put(m, at, text.size, 8);
	fix_size(m, before);
}

static void take_from_donor(struct mutant *m)
{
	struct random *r = &m->random;
	size_t before = m->size;
	uint64_t from = random_below(r, m->donor.size), size = m->donor.size - from;
	uint64_t at = random_below(r, m->size);

	if (!m->donor.size)
		return;
	size = random_below(r, random_one_in(r, 2) || size < 64 ? size : 64);
	mutant_replace(m, at, random_one_in(r, 2) ? size : 0, m->donor.data + from, size);
	fix_size(m, before);
}

/* bytes go, or come twice */
static void change_amount(struct mutant *m)
{
	struct random *r = &m->random;
	size_t before = m->size, size = 1 + random_below(r, 40);
	uint64_t at = 8 + random_below(r, m->size);
	char copy[40];

	if (at >= m->size || size > m->size - at)
		return;
	memcpy(copy, m->data + at, size);
	if (random_one_in(r, 2))
		mutant_replace(m, at, size, NULL, 0);
	else
		mutant_replace(m, at, 0, copy, size);
	fix_size(m, before);
}

void mutate_blob(struct mutant *m)
{
	struct random *r = &m->random;
	uint64_t at = random_below(r, m->size);

	if (!m->size)
		return;
	switch (random_below(r, 10)) {
	case 0:
		mutant_put(m, 0, mutant_number(m, m->size), 8);
		return;
	case 1:
		mutant_put(m, at, mutant_number(m, m->size), 8);
		return;
	case 2:
		mutant_put(m, at, mutant_number(m, m->size), 4);
		return;
	case 3:
		m->data[at] ^= (uint8_t)(1u << random_below(r, 8));
		return;
	case 4:
		change_string(m);
		return;
	case 5:
		take_from_donor(m);
		return;
	case 6:
		change_amount(m);
		return;
	case 7:
		change_length(m);
		return;
	default:
		change_operand(m);
	}
}
