/* SPDX-License-Identifier: MIT */
/* The form of a step: a recording of its kernels serves all steps that have the same. */
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"

__thread uint64_t kv_uses;

static bool same_depth(const struct kv_depth *a, const struct kv_depth *b)
{
	return a->entries == b->entries && a->use_decode == b->use_decode && a->empty == b->empty;
}

static bool is_known(const struct kv_cache *c)
{
	const struct kv_form *f = &c->known;
	int d;

	if (!f->number || f->total != c->total || f->depth_count != c->depth_count ||
	    memcmp(f->spans, c->spans, sizeof(f->spans)) != 0)
		return false;
	for (d = 0; d < c->depth_count; d++)
		if (!same_depth(&f->depths[d], &c->depths[d]))
			return false;
	return true;
}

/* Without token trees, a step of one token for each sequence appends first, unless windows may slide. */
static bool has_form(const struct kv_cache *c)
{
	int d;

	if (!c->ready || !c->decode || !c->append_first || c->sliding)
		return false;
	for (d = 0; d < c->depth_count; d++)
		if (c->depths[d].masked)
			return false;
	return true;
}

void kv_form_note(struct kv_cache *c)
{
	static uint64_t forms;

	c->form = 0;
	if (!has_form(c))
		return;
	if (!is_known(c)) {
		c->known.number = __atomic_add_fetch(&forms, 1, __ATOMIC_RELAXED);
		c->known.total = c->total;
		c->known.depth_count = c->depth_count;
		memcpy(c->known.depths, c->depths, sizeof(c->depths));
		memcpy(c->known.spans, c->spans, sizeof(c->spans));
	}
	c->form = c->known.number;
}

int kv_cache_step(struct kv_cache *c, struct kv_step *out)
{
	int err = kv_enter(c);

	if (err)
		return err;
	out->form = c->ready ? c->form : 0;
	out->unwritten = c->unwritten;
	out->begins = c->calls;
	out->others = kv_uses - c->uses;
	if (out->form)
		err = kv_arrays_sync(c);
	kv_leave(c);
	return err;
}

uint64_t kv_uses_here(void)
{
	return kv_uses;
}

int kv_cache_repeated(struct kv_cache *c, int64_t layers)
{
	int err = kv_enter(c);

	if (err)
		return err;
	c->unwritten -= layers < c->unwritten ? layers : c->unwritten;
	kv_leave(c);
	return 0;
}
