/* SPDX-License-Identifier: MIT */
/* Call builtins of Relax without a machine, to test how they check arguments. */
#ifndef TESTS_UNIT_RELAX_BUILTIN_CALL_H
#define TESTS_UNIT_RELAX_BUILTIN_CALL_H

#include "runtime/relax/relax_builtin.h"
#include "tests/unit/suite.h"

/* Call a builtin with at least one argument. Return: its status */
#define TRY(builtin, ret, ...)                                                                     \
	relax_builtin_##builtin(NULL, (const struct tenon_value[]){ __VA_ARGS__ },                 \
				(int32_t)(sizeof((const struct tenon_value[]){ __VA_ARGS__ }) /    \
					  sizeof(struct tenon_value)),                             \
				ret)

#endif /* TESTS_UNIT_RELAX_BUILTIN_CALL_H */
