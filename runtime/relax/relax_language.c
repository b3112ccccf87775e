/* SPDX-License-Identifier: MIT */
/* The builtins that only language models call. */
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_builtin_list.h"

#define ROW(name, function) { name, relax_builtin_##function },
const struct relax_builtin relax_language_builtins[] = { RELAX_LANGUAGE_BUILTINS_EACH(ROW){
	NULL, NULL } };
