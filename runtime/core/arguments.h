/* SPDX-License-Identifier: MIT */
/* Check how many arguments a function got. */
#ifndef RUNTIME_CORE_ARGUMENTS_H
#define RUNTIME_CORE_ARGUMENTS_H

#include <tenon/function.h>

#include "lib/plugin_api.h"

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
