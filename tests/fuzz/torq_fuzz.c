/* SPDX-License-Identifier: MIT */
/*
 * The bytes are a module of torq-compile, or one executable; what is accepted must stay in the memory that is reported: its
 * segments are written, and its copies are made, in memory of exactly that size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/report.h>
#include <tenon/string.h>

#include "devices/torq/torq_check.h"
#include "devices/torq/torq_file.h"
#include "devices/torq/torq_payload.h"
#include "lib/file_map.h"
#include "tests/fuzz/fuzz.h"

/* programs with more memory, or more copies, are not run */
#define MEMORY_MOST 262144U
#define COPIED_MOST (1 << 20)

const size_t fuzz_memory_at_all = 1 << 21;
/* addresses bound the memory of a program, and not its size */
const bool fuzz_may_ask_for_memory = true;

/* an executable, with memory of its own for each part of XRAM: a sanitizer sees an access beyond one */
struct program {
	const struct torq_program *p;
	const struct torq_extents *e;
	uint8_t *memory, *lram;
	uint8_t *bindings[TORQ_ARGUMENTS];
};

/* Written anew, for a second look: which memory an address is in. */
static uint8_t *xram_at(const struct program *x, uint64_t address)
{
	struct torq_binding b;
	uint32_t i;

	if (address >= x->e->base && address < x->e->end)
		return x->memory + (address - x->e->base);
	for (i = 0; i < x->p->bindings.count; i++) {
		if (torq_program_binding(x->p, i, &b))
			abort();
		if (address >= b.address && address < (uint64_t)b.address + b.size)
			return x->bindings[i] + (address - b.address);
	}
	abort();
}

static uint8_t *side(const struct program *x, uint32_t memory, uint64_t address)
{
	if (memory == TORQ_XRAM)
		return xram_at(x, address);
	if (address >= TORQ_LRAM_SIZE)
		abort();
	return x->lram + address;
}

static void copy(const struct program *x, const struct torq_copy *c)
{
	uint32_t index[TORQ_RANK] = { 0 };
	uint64_t source, target;

	while (torq_copy_next(c, index, &source, &target))
		memmove(side(x, c->to, c->target + target), side(x, c->from, c->source + source),
			c->element);
}

/* A copy that an argument moves: it stays in its binding for each number that is accepted. */
static void copy_moved(const struct program *x, const struct torq_copy *c)
{
	static const int32_t indices[] = { 0, 1, 2, 31, 32, 33, 1 << 20, INT32_MAX, -1, INT32_MIN };
	struct torq_binding bindings[TORQ_ARGUMENTS];
	struct torq_copy moved;
	uint32_t i;

	for (i = 0; i < x->p->bindings.count; i++)
		if (torq_program_binding(x->p, i, &bindings[i]))
			abort();
	for (i = 0; i < sizeof(indices) / sizeof(*indices); i++) {
		if (torq_copy_move(c, indices[i], bindings, x->p->bindings.count, &moved))
			tenon_error_clear();
		else
			copy(x, &moved);
	}
}

static void use(const struct program *x)
{
	struct torq_segment s;
	struct torq_action a;
	uint32_t i;

	for (i = 0; i < x->p->segments.count; i++) {
		if (torq_program_segment(x->p, i, &s))
			abort();
		if (s.data.size)
			memcpy(xram_at(x, s.address), s.data.data, s.data.size);
	}
	for (i = 0; i < x->p->actions.count; i++) {
		if (torq_program_action(x->p, i, &a))
			abort();
		if (a.kind == TORQ_COPY && a.copy.move)
			copy_moved(x, &a.copy);
		else if (a.kind == TORQ_COPY)
			copy(x, &a.copy);
	}
}

static void run(const struct torq_program *p, const struct torq_extents *e)
{
	struct program x = { .p = p, .e = e };
	uint64_t total = e->end - e->base;
	struct torq_binding b;
	uint32_t i;
	bool has_all;

	for (i = 0; i < p->bindings.count; i++) {
		if (torq_program_binding(p, i, &b))
			abort();
		total += b.size;
	}
	if (total > MEMORY_MOST || e->copied > COPIED_MOST)
		return;
	x.memory = calloc(1, e->end - e->base ? (size_t)(e->end - e->base) : 1);
	x.lram = calloc(1, TORQ_LRAM_SIZE);
	has_all = x.memory && x.lram;
	for (i = 0; i < p->bindings.count; i++) {
		if (torq_program_binding(p, i, &b))
			abort();
		x.bindings[i] = calloc(1, b.size);
		has_all &= x.bindings[i] != NULL;
	}
	if (has_all)
		use(&x);
	for (i = 0; i < p->bindings.count; i++)
		free(x.bindings[i]);
	free(x.lram);
	free(x.memory);
}

/*
 * Call what tenon inspect and tenon verify call, with a report without functions: they accept what torq_check() accepts. Call
 * what a launch calls to find an executable by its name, too.
 */
static void describe(const struct tenon_cursor *c, int expected)
{
	const struct tenon_payload_request request = { .size = sizeof(request),
						       .program = *c,
						       .commands = true };
	struct tenon_report unwanted = { .size = sizeof(unwanted) };
	struct torq_program p;

	if (!torq_check_program(&request, &unwanted) != !expected)
		abort();
	if (torq_describe(&request, &unwanted) && !expected)
		abort();
	if (torq_file_find(c, tenon_slice_of("main"), &p))
		tenon_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_cursor c = tenon_cursor_of(data, size, "module", 0);
	struct torq_extents e;
	struct torq_program p;
	struct torq_file f;
	int err = 0, more;

	torq_file_begin(&c, &f);
	while (!err && (more = torq_file_next(&f, &p)) > 0) {
		err = torq_check(&p, &e);
		if (!err)
			run(&p, &e);
	}
	fuzz_check(err ? err : more);
	describe(&c, err ? err : more);
	return 0;
}

/* ---- what torq-compile wrote */

static struct tenon_slice file(const char *name)
{
	const char *source = getenv("TENON_SOURCE");
	struct tenon_slice bytes;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/torq/data/%s/%s.vmfb", source ? source : ".", name,
		 name);
	if (file_map_open(path, &bytes))
		abort();
	return bytes;
}

/* The executable alone: each edit of it is seen, and none is of the machine's code in front of it. */
static void visit_alone(const char *network, const char *name,
			void (*visit)(void *context, const char *name, struct tenon_slice bytes),
			void *context)
{
	struct tenon_slice bytes = file(network);
	const struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "module", 0), *all;
	struct torq_program p;
	struct torq_file f;

	torq_file_begin(&c, &f);
	if (torq_file_next(&f, &p) != 1)
		abort();
	all = &p.segments.file;
	visit(context, name, (struct tenon_slice){ (const char *)all->at, tenon_cursor_left(all) });
	file_map_close(&bytes);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	visit_alone("add", "an addition", visit, context);
	visit_alone("slice", "a slice", visit, context);
}

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	static const char *const names[] = { "add", "convolution", "pool", "slice" };
	struct tenon_slice bytes;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bytes = file(names[i]);
		visit(context, bytes);
		file_map_close(&bytes);
	}
}
