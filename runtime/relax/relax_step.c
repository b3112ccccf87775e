/* SPDX-License-Identifier: MIT */
/* What a recording needs of the key-value cache that a part is called with. */
#include "runtime/relax/relax_step.h"

#include "runtime/kv/kv_cache.h"

bool relax_is_cache(const struct tenon_value *v)
{
	return v->type == kv_cache_type() && v->type;
}

static int look(struct kv_cache *cache, struct relax_step *out)
{
	struct kv_step step = { 0 };
	int err = kv_cache_step(cache, &step);

	out->form = step.form;
	out->formless = !step.form;
	out->unwritten = step.unwritten;
	out->begins = step.begins;
	out->others = step.others;
	return err;
}

int relax_step_of(const struct tenon_array *items, struct relax_step *out)
{
	int64_t i;

	*out = (struct relax_step){ .others = kv_uses_here() };
	for (i = 0; i < items->size; i++) {
		if (!relax_is_cache(&items->data[i]))
			continue;
		out->formless = out->cache;
		if (out->cache)
			return 0;
		out->cache = (struct kv_cache *)items->data[i].as.object;
	}
	return out->cache ? look(out->cache, out) : 0;
}

int relax_step_layers(const struct relax_step *step, bool *usable, int64_t *layers)
{
	struct relax_step after = { .others = kv_uses_here() };
	int err = step->cache ? look(step->cache, &after) : 0;

	*layers = step->unwritten - after.unwritten;
	*usable &= after.begins == step->begins && after.others == step->others;
	return err;
}

int relax_step_repeated(const struct relax_step *step, int64_t layers)
{
	return step->cache ? kv_cache_repeated(step->cache, layers) : 0;
}
