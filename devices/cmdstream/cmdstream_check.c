/* SPDX-License-Identifier: MIT */
/*
 * Functions that a target calls while it walks through code, and the checks at the end of the walk.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "devices/cmdstream/cmdstream.h"
#include "lib/brief_errors.h"

/* bytes of a message about code */
#define MESSAGE 320

static bool test_bit(const uint64_t *bits, uint32_t n)
{
	return n < CMDSTREAM_SETTERS && bits[n / 64] >> n % 64 & 1;
}

void cmdstream_set(struct cmdstream_walk *w, uint32_t setter)
{
	if (setter < CMDSTREAM_SETTERS)
		w->set[setter / 64] |= UINT64_C(1) << setter % 64;
}

int cmdstream_error(const struct cmdstream_walk *w, uint64_t at, int status, const char *format,
		    ...)
{
	struct tenon_cursor c = w->code;
	char text[MESSAGE];
	va_list list;

	c.at = c.start + (at < w->kernel->size ? at : w->kernel->size);
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return tenon_cursor_error(&c, status, "kernel %.*s: %s", (int)w->kernel->name.size,
				  w->kernel->name.data, text);
}

bool cmdstream_is_relocated(const struct cmdstream_walk *w, uint64_t at)
{
	struct tenon_cmdstream_relocation r;

	return cmdstream_relocation_at(w->stream, w->kernel, at, &r);
}

int cmdstream_address(struct cmdstream_walk *w, uint64_t at, uint32_t width, const char *what,
		      struct cmdstream_place *out)
{
	struct tenon_cmdstream_relocation r;

	if (!cmdstream_relocation_at(w->stream, w->kernel, at, &r))
		return cmdstream_error(w, at, -TENON_E_FORMAT,
				       "%s is an address that no relocation writes; an address in "
				       "the code itself is not allowed",
				       what);
	if (r.width != width)
		return cmdstream_error(w, at, -TENON_E_FORMAT,
				       "the relocation of %s writes %u bytes, want %u", what,
				       r.width, width);
	if (!(w->bound >> r.region & 1))
		return cmdstream_error(
			w, at, -TENON_E_FORMAT,
			"%s is in region %u (%s), which is no argument of this kernel", what,
			r.region, cmdstream_region_name(w->stream->regions[r.region].kind));
	w->taken++;
	w->used |= UINT64_C(1) << r.region;
	out->region = r.region;
	out->offset = r.addend;
	out->at = at;
	return 0;
}

static int check_range(const struct cmdstream_walk *w, const struct cmdstream_place *p,
		       uint64_t size, uint32_t access, uint32_t align, const char *what)
{
	const struct tenon_cmdstream_region *r = &w->stream->regions[p->region];
	const char *kind = cmdstream_region_name(r->kind);

	if ((r->access & access) != access)
		return cmdstream_error(w, p->at, -TENON_E_FORMAT,
				       "%s %s region %u (%s), whose access does not allow it", what,
				       access & TENON_REGION_WRITE ? "writes to" : "reads",
				       p->region, kind);
	if (cmdstream_add(p->offset, size) > r->size)
		return cmdstream_error(w, p->at, -TENON_E_FORMAT,
				       "%s accesses %" PRIu64 " bytes at %" PRIu64
				       " of region %u (%s), which has %" PRIu64,
				       what, size, p->offset, p->region, kind, r->size);
	if (p->offset % align || r->alignment % align)
		return cmdstream_error(w, p->at, -TENON_E_FORMAT,
				       "%s is at %" PRIu64
				       " of region %u (%s) with alignment %u; want multiples of %u",
				       what, p->offset, p->region, kind, r->alignment, align);
	return 0;
}

int cmdstream_access(struct cmdstream_walk *w, const struct cmdstream_place *p, uint64_t size,
		     uint32_t access, uint32_t align, const char *what)
{
	int err = check_range(w, p, size, access, align, what);

	if (err)
		return err;
	if ((access & TENON_REGION_READ) && !test_bit(w->set, p->region))
		return cmdstream_error(w, p->at, -TENON_E_FORMAT,
				       "%s reads region %u (%s) before anything was written to it",
				       what, p->region,
				       cmdstream_region_name(w->stream->regions[p->region].kind));
	if (access & TENON_REGION_WRITE)
		cmdstream_set(w, p->region);
	return 0;
}

int cmdstream_need(const struct cmdstream_walk *w, uint32_t setter, uint64_t at, const char *what)
{
	if (test_bit(w->set, setter))
		return 0;
	if (setter < TENON_CMDSTREAM_REGIONS)
		return cmdstream_error(w, at, -TENON_E_FORMAT, "%s needs data in region %u", what,
				       setter);
	return cmdstream_error(w, at, -TENON_E_FORMAT, "%s needs %s before it", what,
			       w->target->setter(setter - TENON_CMDSTREAM_REGIONS));
}

/* Arguments, and all that the host provides; of these, what holds data when a run begins. */
static void begin(struct cmdstream_walk *w)
{
	const struct cmdstream *s = w->stream;
	uint32_t i;

	for (i = 0; i < w->kernel->argument_count; i++)
		w->bound |= UINT64_C(1) << w->kernel->arguments[i];
	for (i = 0; i < s->region_count; i++) {
		if (s->regions[i].kind > TENON_REGION_OUTPUT)
			w->bound |= UINT64_C(1) << i;
		if (s->regions[i].kind == TENON_REGION_INPUT ||
		    s->regions[i].kind == TENON_REGION_CONSTANT)
			cmdstream_set(w, i);
	}
}

int cmdstream_check(const struct cmdstream *s, const struct cmdstream_target *target,
		    const struct cmdstream_kernel *k, uint64_t *used)
{
	struct cmdstream_walk w = { .stream = s, .target = target, .kernel = k };
	int err;

	w.code = tenon_cursor_of(s->code.data + k->offset, (size_t)k->size, s->name,
				 s->place + k->offset);
	if (k->offset % target->unit || k->size % target->unit)
		return cmdstream_error(&w, 0, -TENON_E_FORMAT,
				       "%" PRIu64 " bytes at %" PRIu64
				       " of the code; %s needs multiples of %u",
				       k->size, k->offset, target->name, target->unit);
	begin(&w);
	err = target->walk(&w);
	if (err)
		return err;
	if (w.taken != k->relocation_count)
		return cmdstream_error(&w, 0, -TENON_E_FORMAT,
				       "%zu relocations, of which %zu write an address; the others "
				       "would write over something else",
				       k->relocation_count, w.taken);
	if (used)
		*used = w.used;
	return 0;
}
