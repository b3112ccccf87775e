/* SPDX-License-Identifier: MIT */
/* The step of a key-value cache that is an argument of a recorded part. */
#ifndef RUNTIME_RELAX_RELAX_STEP_H
#define RUNTIME_RELAX_RELAX_STEP_H

#include <tenon/array.h>

struct kv_cache;

/**
 * struct relax_step - the step in which a part is called
 * @cache: the argument; NULL without one
 * @form: two steps of one number give the cache's kernels the same arguments; 0 without a cache
 * @formless: the step has no such number, or the part has several caches: it cannot be recorded
 * @unwritten: see struct kv_step
 * @begins: likewise
 * @others: likewise
 */
struct relax_step {
	struct kv_cache *cache;
	uint64_t form;
	bool formless;
	int64_t unwritten;
	uint64_t begins;
	uint64_t others;
};

#ifdef CONFIG_LANGUAGE_MODELS

bool relax_is_cache(const struct tenon_value *v);

/* Get the step of the cache among the arguments of a part, and make its arrays ready for a recording. */
int relax_step_of(const struct tenon_array *items, struct relax_step *out);

/*
 * A part was called in @step. @usable: cleared if it began another step, or used another cache; @layers receives how many
 * it wrote.
 */
int relax_step_layers(const struct relax_step *step, bool *usable, int64_t *layers);

/* A recording did what the part did. */
int relax_step_repeated(const struct relax_step *step, int64_t layers);

#else

static inline bool relax_is_cache(const struct tenon_value *v)
{
	return false;
}

static inline int relax_step_of(const struct tenon_array *items, struct relax_step *out)
{
	*out = (struct relax_step){ 0 };
	return 0;
}

static inline int relax_step_layers(const struct relax_step *step, bool *usable, int64_t *layers)
{
	return 0;
}

static inline int relax_step_repeated(const struct relax_step *step, int64_t layers)
{
	return 0;
}

#endif

#endif /* RUNTIME_RELAX_RELAX_STEP_H */
