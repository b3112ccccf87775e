/* SPDX-License-Identifier: MIT */
/* Convert between values and those of TVM 0.8 to 0.20: a union and a separate type code. */
#ifndef RUNTIME_LIBRARY_LEGACY_VALUE_H
#define RUNTIME_LIBRARY_LEGACY_VALUE_H

#include "runtime/library/tvm_types.h"

/* Temporary storage for a converted argument. */
struct legacy_scratch {
	DLTensor tensor;
	struct tenon_slice bytes;
};

/**
 * legacy_argument - convert an argument for compiled code
 * @in: the argument; must outlive @out
 * @index: its index, for messages
 * @out: receives the converted argument
 * @code: receives its type code
 * @scratch: must outlive @out
 *
 * Return: 0; -TENON_E_TYPE for None and null pointers, which such code does not check.
 */
int legacy_argument(const struct tenon_value *in, int32_t index, union legacy_value *out, int *code,
		    struct legacy_scratch *scratch);

/**
 * legacy_result - convert a value that compiled code returned
 * @value: the value
 * @code: its type code
 * @out: receives an owned value; strings are copied, object references move to the caller
 *
 * Return: 0; -TENON_E_TYPE; -TENON_E_NOMEM.
 */
int legacy_result(const union legacy_value *value, int code, struct tenon_value *out);

/* Convert an argument from legacy code to a view. Return: 0; -TENON_E_TYPE. */
int legacy_argument_view(const union legacy_value *value, int code, int index,
			 struct tenon_value *out);

/**
 * legacy_give_result - convert an owned result for legacy code
 * @in: the result; consumed, also on failure
 * @out: receives it; a string is valid until the thread's next call that returns one
 * @code: receives its type code
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int legacy_give_result(struct tenon_value *in, union legacy_value *out, int *code);

#endif /* RUNTIME_LIBRARY_LEGACY_VALUE_H */
