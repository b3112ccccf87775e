/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_RELAX_RELAX_FACT_H
#define RUNTIME_RELAX_RELAX_FACT_H

/* What is known of values while the instructions of a function are walked, and how calls add to it. */

#include "runtime/relax/relax_describe.h"

/* A walk over the instructions: what each register holds, as the number of a fact plus one. */
struct relax_walk {
	const struct relax_executable *x;
	const struct relax_function *f;
	struct relax_description *d;
	uint32_t *registers;
	uint32_t *constants; /* facts of constants, made when one is met */
	int8_t *builtins;    /* of each function, its place among those that are known, or -1 */
	uint32_t numbers[3]; /* values of each role so far */
	bool failed;
};

/* A new fact, plus one; 0 without memory. */
uint32_t relax_fact_new(struct relax_walk *w);

static inline struct relax_fact *relax_fact_at(struct relax_walk *w, uint32_t number)
{
	return number ? &w->d->facts[number - 1] : NULL;
}

/* The fact of operand @i of a call; 0 when nothing is known. */
uint32_t relax_fact_operand(struct relax_walk *w, const int64_t *words, int64_t i);

/* The place of a builtin among those that are known, or -1. */
int8_t relax_fact_builtin(struct tenon_slice name);

/* What a call of a builtin, by that place, tells about its operands; gives the result's fact. */
uint32_t relax_fact_look(struct relax_walk *w, int8_t builtin, const int64_t *words);

#endif /* RUNTIME_RELAX_RELAX_FACT_H */
