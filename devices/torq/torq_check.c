/* SPDX-License-Identifier: MIT */
/* Compare segments, bindings and host actions with the memory that a device gives a program. */
#include "devices/torq/torq_check.h"

#include <inttypes.h>
#include <string.h>

#include "lib/brief_errors.h"

#define REACH (UINT64_C(1) << 32)

/* bytes and elements of all copies: as much as the largest memory, so that a small file cannot ask for hours of work */
#define COPIED_MOST   TORQ_MEMORY_MOST
#define ELEMENTS_MOST (UINT64_C(1) << 26)

#define REFUSE(p, status, ...) refuse(p, tenon_error(status, __VA_ARGS__))

/* Say of which executable of which file a message is. */
static int refuse(const struct torq_program *p, int err)
{
	return tenon_error_in(err, "%s: executable \"%.*s\"", p->file, (int)p->name.size,
			      p->name.data);
}

static uint64_t page_of(uint64_t address)
{
	return address / TORQ_PAGE * TORQ_PAGE;
}

static uint64_t page_behind(uint64_t address)
{
	return page_of(address + TORQ_PAGE - 1);
}

static int check_versions(const struct torq_program *p)
{
	if (p->runtime != TORQ_RUNTIME)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "made for version %u of the runtime's behaviour, and %d is known: "
			      "torq-compile 2.3.0 writes that",
			      p->runtime, TORQ_RUNTIME);
	if (p->hardware != TORQ_HARDWARE)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "made for hardware %u, and %d is known, SL2610: compile it with "
			      "--torq-hw=SL2610",
			      p->hardware, TORQ_HARDWARE);
	return 0;
}

/* ---- the program's own memory */

static int add_memory(const struct torq_program *p, const char *what, uint32_t index,
		      uint64_t address, uint64_t size, struct torq_extents *e)
{
	if (address >= REACH || size > REACH - address)
		return REFUSE(p, -TENON_E_FORMAT,
			      "%s %u, of %" PRIu64 " bytes at 0x%" PRIx64
			      ", goes beyond the 4 GiB of XRAM",
			      what, index, size, address);
	if (e->base == e->end || address < e->base)
		e->base = address;
	if (address + size > e->end)
		e->end = address + size;
	return 0;
}

static int check_segments(const struct torq_program *p, struct torq_extents *e)
{
	struct torq_segment s;
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->segments.count && !err; i++) {
		err = torq_program_segment(p, i, &s);
		if (!err && s.data.size && s.data.size != s.size)
			err = REFUSE(p, -TENON_E_FORMAT,
				     "segment %u has %u bytes, and contents of %zu", i, s.size,
				     s.data.size);
		/* a file may name the same contents again and again */
		if (!err && s.data.size > TORQ_MEMORY_MOST - e->initial)
			err = REFUSE(p, -TENON_E_UNSUPPORTED,
				     "its segments have more than %" PRIu64 " bytes of contents",
				     (uint64_t)TORQ_MEMORY_MOST);
		if (!err && s.size)
			err = add_memory(p, "segment", i, s.address, s.size, e);
		e->initial += err ? 0 : s.data.size;
	}
	return err;
}

static int check_allocations(const struct torq_program *p, struct torq_extents *e)
{
	struct torq_action a;
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->actions.count && !err; i++) {
		err = torq_program_action(p, i, &a);
		if (!err && a.kind == TORQ_ALLOCATE && a.memory == TORQ_XRAM && a.size)
			err = add_memory(p, "the memory of action", i, a.address, a.size, e);
	}
	return err;
}

static int check_memory(const struct torq_program *p, struct torq_extents *e)
{
	int err = check_segments(p, e);

	err = err ? err : check_allocations(p, e);
	if (err || e->base == e->end)
		return err;
	e->base = page_of(e->base);
	e->end = page_behind(e->end + TORQ_CODE_UNIT);
	if (e->end > REACH)
		e->end = REACH;
	if (e->end - e->base > TORQ_MEMORY_MOST)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "its segments span %" PRIu64 " bytes of XRAM; %" PRIu64
			      " are possible",
			      e->end - e->base, TORQ_MEMORY_MOST);
	return 0;
}

/* ---- bindings */

static int check_binding(const struct torq_program *p, uint32_t index, const struct torq_binding *b,
			 const struct torq_extents *e)
{
	const uint64_t end = page_behind((uint64_t)b->address + b->size);
	struct torq_binding other;
	uint32_t i;
	int err = 0;

	if (b->argument >= TORQ_ARGUMENTS)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "binding %u is of argument %u; %d are possible", index, b->argument,
			      TORQ_ARGUMENTS);
	if (b->address % TORQ_PAGE || !b->size || end > REACH)
		return REFUSE(p, -TENON_E_FORMAT,
			      "binding %u, of %u bytes at 0x%x: bindings have bytes, begin at a "
			      "page of 4096, and end within 4 GiB",
			      index, b->size, b->address);
	/* the kernel maps nothing below the program's memory */
	if (b->address < e->end)
		return REFUSE(p, -TENON_E_FORMAT,
			      "binding %u begins at 0x%x, and the program's own memory ends at "
			      "0x%" PRIx64 ": bindings are behind it",
			      index, b->address, e->end);
	for (i = 0; i < index && !err; i++) {
		err = torq_program_binding(p, i, &other);
		if (!err && b->address < page_behind((uint64_t)other.address + other.size) &&
		    other.address < end)
			err = REFUSE(p, -TENON_E_FORMAT,
				     "bindings %u and %u have the same page of XRAM", i, index);
	}
	return err;
}

static void add_argument(const struct torq_binding *b, struct torq_extents *e)
{
	struct torq_argument *a = &e->arguments[b->argument];

	if ((uint64_t)b->offset + b->size > a->size)
		a->size = (uint64_t)b->offset + b->size;
	a->reads |= b->reads;
	a->writes |= b->writes;
	if (b->argument >= e->argument_count)
		e->argument_count = b->argument + 1;
}

static int check_bindings(const struct torq_program *p, struct torq_extents *e)
{
	struct torq_binding b;
	uint32_t i;
	int err = 0;

	if (p->bindings.count > TORQ_ARGUMENTS)
		return REFUSE(p, -TENON_E_UNSUPPORTED, "%u bindings; %d are possible",
			      p->bindings.count, TORQ_ARGUMENTS);
	for (i = 0; i < p->bindings.count && !err; i++) {
		err = torq_program_binding(p, i, &b);
		err = err ? err : check_binding(p, i, &b, e);
		if (!err)
			add_argument(&b, e);
	}
	return err;
}

/* ---- copies */

bool torq_copy_next(const struct torq_copy *copy, uint32_t index[TORQ_RANK], uint64_t *source,
		    uint64_t *target)
{
	uint32_t i;

	if (copy->rank && index[0] >= copy->shape[0])
		return false;
	*source = *target = 0;
	for (i = 0; i < copy->rank; i++) {
		*source += (uint64_t)index[i] * copy->source_strides[i];
		*target += (uint64_t)index[i] * copy->target_strides[i];
	}
	for (i = copy->rank; i--;) {
		if (++index[i] < copy->shape[i] || !i)
			return true;
		index[i] = 0;
	}
	/* a copy without dimensions has one element */
	return !index[TORQ_RANK - 1]++;
}

/* Bytes from the first to the last one that a side touches. */
static uint64_t span_of(const struct torq_copy *c, const uint32_t strides[TORQ_RANK])
{
	uint64_t span = c->element;
	uint32_t i;

	/* a product of two numbers of 32 bits fits into 64; the sum of several may not */
	for (i = 0; i < c->rank; i++)
		if (__builtin_add_overflow(span, (uint64_t)(c->shape[i] - 1) * strides[i], &span))
			return UINT64_MAX;
	return span;
}

static bool is_in_xram(const struct torq_program *p, const struct torq_extents *e, uint64_t address,
		       uint64_t size)
{
	struct torq_binding b;
	uint32_t i;

	if (address >= e->base && address < e->end && size <= e->end - address)
		return true;
	for (i = 0; i < p->bindings.count; i++)
		if (!torq_program_binding(p, i, &b) && address >= b.address &&
		    address - b.address < b.size && size <= b.size - (address - b.address))
			return true;
	return false;
}

static int check_side(const struct torq_program *p, const struct torq_extents *e, uint32_t index,
		      uint32_t memory, uint64_t address, uint64_t size)
{
	if (memory == TORQ_LRAM && (address >= TORQ_LRAM_SIZE || size > TORQ_LRAM_SIZE - address))
		return REFUSE(p, -TENON_E_FORMAT,
			      "action %u copies %" PRIu64 " bytes at 0x%" PRIx64
			      " of LRAM, which has %u",
			      index, size, address, TORQ_LRAM_SIZE);
	if (memory == TORQ_XRAM && !is_in_xram(p, e, address, size))
		return REFUSE(p, -TENON_E_FORMAT,
			      "action %u copies %" PRIu64 " bytes at 0x%" PRIx64
			      " of XRAM, which are not in the program's memory, nor in one binding",
			      index, size, address);
	return 0;
}

/* Return: how many elements a copy has; more than ELEMENTS_MOST for too many. */
static uint64_t elements_of(const struct torq_copy *c)
{
	uint64_t count = 1;
	uint32_t i;

	for (i = 0; i < c->rank; i++)
		count = count > ELEMENTS_MOST && c->shape[i] ? count : count * c->shape[i];
	return count;
}

/* What moves is in a binding: the program's own memory has its code. */
static int check_move(const struct torq_program *p, uint32_t index, const struct torq_copy *c,
		      struct torq_extents *e)
{
	struct torq_argument *a;

	if (c->move == TORQ_FIXED)
		return 0;
	if (c->index >= TORQ_ARGUMENTS)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "action %u is moved by argument %u; %d are possible", index, c->index,
			      TORQ_ARGUMENTS);
	if ((c->moves_target ? c->to : c->from) != TORQ_XRAM ||
	    (c->moves_target ? c->target : c->source) < e->end)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "action %u is moved by argument %u, and is not in a binding", index,
			      c->index);
	a = &e->arguments[c->index];
	a->size = a->size < sizeof(uint32_t) ? sizeof(uint32_t) : a->size;
	a->reads = a->is_index = true;
	if (c->index >= e->argument_count)
		e->argument_count = c->index + 1;
	return 0;
}

int torq_copy_move(const struct torq_copy *copy, int32_t index, const struct torq_binding *bindings,
		   uint32_t count, struct torq_copy *out)
{
	const uint32_t base = copy->moves_target ? copy->target : copy->source;
	const uint64_t span =
		span_of(copy, copy->moves_target ? copy->target_strides : copy->source_strides);
	const uint64_t by = index < 0 ? UINT64_MAX : (uint64_t)index * copy->unit;
	const struct torq_binding *b = bindings;
	uint64_t last;

	while (b < bindings + count && (base < b->address || base - b->address >= b->size))
		b++;
	/* the check found a binding that has the copy as it is */
	last = b < bindings + count ? b->size - (base - b->address) - span : 0;
	if (by > last)
		return tenon_error(-TENON_E_VALUE,
				   "argument %u is %" PRId32 ": a slice begins at %" PRIu64
				   " bytes of argument %u at most, in steps of %u",
				   copy->index, index, last, b < bindings + count ? b->argument : 0,
				   copy->unit);
	*out = *copy;
	if (copy->moves_target)
		out->target += (uint32_t)by;
	else
		out->source += (uint32_t)by;
	return 0;
}

static int check_copy(const struct torq_program *p, uint32_t index, const struct torq_copy *c,
		      struct torq_extents *e)
{
	const uint64_t count = elements_of(c);
	int err;

	if (c->from > TORQ_XRAM || c->to > TORQ_XRAM ||
	    (c->from == TORQ_LRAM && c->to == TORQ_LRAM))
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "action %u copies from memory %u to %u; LRAM (0) and XRAM (1) are "
			      "known, one of which is XRAM",
			      index, c->from, c->to);
	if (c->move == TORQ_BY_CONSTANT)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "action %u copies a slice at an offset that IREE's virtual machine "
			      "computes, whose code Tenon does not run; an offset that is an "
			      "argument is possible",
			      index);
	if (!count || !c->element)
		return REFUSE(p, -TENON_E_FORMAT, "action %u copies nothing", index);
	e->copies++;
	if (count > ELEMENTS_MOST - e->elements || count * c->element > COPIED_MOST - e->copied)
		return REFUSE(p, -TENON_E_UNSUPPORTED,
			      "action %u copies %" PRIu64 " times %u bytes, which is too much for "
			      "one program",
			      index, count, c->element);
	e->copied += count * c->element;
	e->elements += count;
	err = check_side(p, e, index, c->from, c->source, span_of(c, c->source_strides));
	err = err ? err : check_side(p, e, index, c->to, c->target, span_of(c, c->target_strides));
	return err ? err : check_move(p, index, c, e);
}

/* ---- actions */

static int check_start(const struct torq_program *p, uint32_t index, const struct torq_action *a,
		       bool is_running, struct torq_extents *e)
{
	if (is_running)
		return REFUSE(p, -TENON_E_FORMAT,
			      "action %u starts the NPU, which was not waited for", index);
	if (a->start >= TORQ_LRAM_SIZE || a->start % 4)
		return REFUSE(
			p, -TENON_E_FORMAT,
			"action %u starts at 0x%x; code is at words of LRAM, which has %u bytes",
			index, a->start, TORQ_LRAM_SIZE);
	if (e->base == e->end)
		return REFUSE(p, -TENON_E_FORMAT,
			      "action %u starts the NPU, and no segment has code", index);
	e->starts++;
	return 0;
}

/* What code of the host runs on depends on the machine. */
static int refuse_host(const struct torq_program *p, uint32_t index, const struct torq_action *a)
{
	return REFUSE(
		p, -TENON_E_UNSUPPORTED,
		"action %u calls \"%.*s\", native code for the processor in the file, which Tenon "
		"does not run: compile with torq-compile --torq-disable-host, so that Torq's "
		"RISC-V core does that",
		index, (int)a->function.size, a->function.data);
}

static int check_actions(const struct torq_program *p, struct torq_extents *e)
{
	struct torq_action a;
	bool is_running = false;
	uint32_t i;
	int err = 0;

	for (i = 0; i < p->actions.count && !err; i++) {
		err = torq_program_action(p, i, &a);
		if (err)
			break;
		if (a.kind == TORQ_COPY) {
			err = check_copy(p, i, &a.copy, e);
		} else if (a.kind == TORQ_START) {
			err = check_start(p, i, &a, is_running, e);
			is_running = true;
		} else if (a.kind == TORQ_WAIT) {
			is_running = false;
		} else if (a.kind == TORQ_START_HOST) {
			err = refuse_host(p, i, &a);
		} else if (a.kind != TORQ_WAIT_HOST && a.kind != TORQ_ALLOCATE &&
			   a.kind != TORQ_FREE) {
			err = REFUSE(p, -TENON_E_UNSUPPORTED,
				     "action %u is of kind %u; 1 to 7 are known", i, a.kind);
		}
	}
	if (!err && is_running)
		err = REFUSE(p, -TENON_E_FORMAT,
			     "the actions end while the NPU runs, which nothing waits for");
	return err;
}

int torq_check(const struct torq_program *p, struct torq_extents *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = check_versions(p);
	err = err ? err : check_memory(p, out);
	err = err ? err : check_bindings(p, out);
	return err ? err : check_actions(p, out);
}
