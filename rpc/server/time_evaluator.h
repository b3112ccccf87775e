/* SPDX-License-Identifier: MIT */
/* Measure a function, as TVM's time evaluator does. */
#ifndef RPC_SERVER_TIME_EVALUATOR_H
#define RPC_SERVER_TIME_EVALUATOR_H

#include <tenon/function.h>

/**
 * struct time_evaluator_globals - where functions that are named without a module come from
 * @find: get a function with one reference; NULL for none
 * @context: passed to @find
 */
struct time_evaluator_globals {
	int (*find)(void *context, struct tenon_slice name, struct tenon_function **out);
	void *context;
};

/**
 * time_evaluator_create - make a function that measures another: TVM's runtime.RPCTimeEvaluator
 * @globals: used during this call only
 * @args: @count arguments: module or None, name of the function, device type and number, numbers, name of a function that
 *	prepares the arguments or ""
 * @count: 8, 10, 11 or 12, by the version of TVM
 * @ret: receives the function. It returns the mean seconds of a run of each repetition, as bytes of doubles.
 *
 * Return: 0; -TENON_E_TYPE; -TENON_E_VALUE; -TENON_E_NOT_FOUND; -TENON_E_NOMEM.
 */
int time_evaluator_create(const struct time_evaluator_globals *globals,
			  const struct tenon_value *args, int32_t count, struct tenon_value *ret);

#endif /* RPC_SERVER_TIME_EVALUATOR_H */
