/* SPDX-License-Identifier: MIT */
/* Call a module's functions by name, and check how they refuse arguments. */
#ifndef TESTS_UNIT_MODULE_CALL_H
#define TESTS_UNIT_MODULE_CALL_H

#include "tests/unit/suite.h"

/* Call a function that the module has; the result is owned. */
static inline int call(struct tenon_module *m, const char *name, const struct tenon_value *args,
		       int32_t count, struct tenon_value *ret)
{
	struct tenon_function *f;
	int err;

	*ret = tenon_arg_none();
	if (tenon_module_get_function(m, name, &f))
		fail_msg("%s", tenon_error_message());
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

/* The arguments stand behind one more, as a list in C has at least one. */
#define CALL(m, name, ret, ...)                                                                    \
	call((m), name, (const struct tenon_value[]){ tenon_arg_none(), ##__VA_ARGS__ } + 1,       \
	     (int32_t)(sizeof((const struct tenon_value[]){ tenon_arg_none(), ##__VA_ARGS__ }) /   \
			       sizeof(struct tenon_value) -                                        \
		       1),                                                                         \
	     ret)

/* The call is refused with a status, and a message that has these words. */
#define REFUSES(m, status, words, name, ...)                                                       \
	do {                                                                                       \
		struct tenon_value refused_;                                                       \
                                                                                                   \
		assert_int_equal(CALL(m, name, &refused_, ##__VA_ARGS__), status);                 \
		assert_error_has(words);                                                           \
	} while (0)

#endif /* TESTS_UNIT_MODULE_CALL_H */
