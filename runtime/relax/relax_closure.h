/* SPDX-License-Identifier: MIT */
/* A function of an executable with some of its last arguments bound. */
#ifndef RUNTIME_RELAX_RELAX_CLOSURE_H
#define RUNTIME_RELAX_RELAX_CLOSURE_H

#include "runtime/relax/relax.h"

/**
 * struct relax_closure - an object of type "relax.vm.Closure"
 * @object: header
 * @x: executable, referenced. Any machine that has @x can run the closure.
 * @function: entry number
 * @drop_result: discard the result
 * @bound_count: how many
 * @bound: arguments appended to those of the call; owned
 */
struct relax_closure {
	struct tenon_object object;
	struct relax_executable *x;
	uint32_t function;
	bool drop_result;
	uint32_t bound_count;
	struct tenon_value bound[];
};

/**
 * relax_closure_create - make a closure
 * @x: executable
 * @function: entry number
 * @bound: @count owned values or views; copied as tenon_value_own() does
 * @then: @then_count further arguments, appended
 * @out: receives the closure with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_TYPE.
 */
int relax_closure_create(struct relax_executable *x, uint32_t function,
			 const struct tenon_value *bound, uint32_t count,
			 const struct tenon_value *then, uint32_t then_count,
			 struct relax_closure **out);

/* Get the closure from a value; NULL for other values. */
struct relax_closure *relax_closure_of(const struct tenon_value *v);

#endif /* RUNTIME_RELAX_RELAX_CLOSURE_H */
