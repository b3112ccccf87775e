/* SPDX-License-Identifier: MIT */
/* Facts about values, collected by walking the instructions of a function. */
#ifndef RUNTIME_RELAX_RELAX_FACT_H
#define RUNTIME_RELAX_RELAX_FACT_H

#include "runtime/relax/relax_describe.h"

/* State of a walk: for each register, the index of its fact plus one. */
struct relax_walk {
	const struct relax_executable *x;
	const struct relax_function *f;
	struct relax_description *d;
	uint32_t *registers;
	uint32_t *constants; /* facts of constants, created on first use */
	int8_t *builtins;    /* index of each function in the table of known builtins, or -1 */
	uint32_t numbers[3]; /* number of values per role so far */
	bool failed;
};

/* Create a fact; return its index plus one, or 0 if out of memory. */
uint32_t relax_fact_new(struct relax_walk *w);

static inline struct relax_fact *relax_fact_at(struct relax_walk *w, uint32_t number)
{
	return number ? &w->d->facts[number - 1] : NULL;
}

/* Fact of operand @i of a call, or 0 if nothing is known. */
uint32_t relax_fact_operand(struct relax_walk *w, const int64_t *words, int64_t i);

/* Index of a builtin in the table of known ones, or -1. */
int8_t relax_fact_builtin(struct tenon_slice name);

/* Derive facts from a call of a known builtin; returns the result's fact. */
uint32_t relax_fact_infer(struct relax_walk *w, int8_t builtin, const int64_t *words);

#endif /* RUNTIME_RELAX_RELAX_FACT_H */
