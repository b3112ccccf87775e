/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_RELAX_BUILTIN_CALL_H
#define TESTS_UNIT_RELAX_BUILTIN_CALL_H

/* Calls of builtins without a machine. */
#include "runtime/relax/relax_builtin.h"
#include "tests/unit/suite.h"

/* Call a builtin with at least one argument. Return: its status */
#define TRY(builtin, ret, ...)                                                                     \
	relax_builtin_##builtin(NULL, (const struct tenon_value[]){ __VA_ARGS__ },                 \
				(int32_t)(sizeof((const struct tenon_value[]){ __VA_ARGS__ }) /    \
					  sizeof(struct tenon_value)),                             \
				ret)

#endif /* TESTS_UNIT_RELAX_BUILTIN_CALL_H */
