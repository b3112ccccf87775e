/* SPDX-License-Identifier: MIT */
/* The global functions of this build that are registered when one of them is looked up. */
#include <stddef.h>

#include "lib/option.h"
#include "runtime/core/registry.h"
#include "runtime/library/context.h"
#include "runtime/model/executors.h"
#include "runtime/relax/relax_builtin_list.h"

static int fill_library(void)
{
	int err = 0;

#if OPTION_ON(DSO) || OPTION_ON(SYSTEM_LIB)
	err = abi_register_globals();
#endif
#if OPTION_ON(EXECUTORS)
	if (!err)
		err = executors_register_functions();
#endif
	return err;
}

#if OPTION_ON(RELAX_VM)
/* clang-format off */
#define NAME(name, function) { name, sizeof(name) - 1 },
static const struct tenon_slice relax_names[] = {
	RELAX_BUILTINS_EACH(NAME)
#ifdef CONFIG_LANGUAGE_MODELS
	RELAX_LANGUAGE_BUILTINS_EACH(NAME)
#endif
	{ NULL, 0 },
};
/* clang-format on */
#endif

struct registry_source registry_sources[] = {
	{ .fill = fill_library },
#if OPTION_ON(RELAX_VM)
	{ .names = relax_names, .fill = executors_register_relax },
#endif
	{ .fill = NULL },
};
