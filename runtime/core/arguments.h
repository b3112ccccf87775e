/* SPDX-License-Identifier: MIT */
/* Functions of the type tenon_call_fn, and how many arguments they got. */
#ifndef RUNTIME_CORE_ARGUMENTS_H
#define RUNTIME_CORE_ARGUMENTS_H

#include <tenon/function.h>

#include "lib/plugin_api.h"

/* Declare or define a function of the type tenon_call_fn. */
#define PACKED_CALL(name)                                                                          \
	int name(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)

/* function.c: raise the error for @count arguments; returns -TENON_E_TYPE */
int arguments_refuse(const char *function, int32_t count, int32_t least, int32_t most)
	TO_PLUGINS(arguments_refuse);

/** arguments_check - 0, or -TENON_E_TYPE unless @least to @most arguments were given; negative: any number */
static inline int arguments_check(const char *function, int32_t count, int32_t least, int32_t most)
{
	return count >= least && (most < 0 || count <= most)
		       ? 0
		       : arguments_refuse(function, count, least, most);
}

#endif /* RUNTIME_CORE_ARGUMENTS_H */
