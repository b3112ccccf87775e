/* SPDX-License-Identifier: MIT */
/* The common part of all function objects of compiled code. */
#ifndef RUNTIME_LIBRARY_COMPILED_FUNCTION_H
#define RUNTIME_LIBRARY_COMPILED_FUNCTION_H

#include <tenon/function.h>

struct compiled_function {
	struct tenon_function base;
	void *symbol;
	struct tenon_object *keep;
	bool legacy; /* @symbol has the convention of TVM 0.8 to 0.20 */
};

int compiled_function_create(tenon_call_fn call, void *symbol, struct tenon_object *keep,
			     struct tenon_function **out);

#endif /* RUNTIME_LIBRARY_COMPILED_FUNCTION_H */
