/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_LEGACY_VALUE_H
#define RUNTIME_LIBRARY_LEGACY_VALUE_H

/* Between values of today and those of TVM 0.8 to 0.20: a union, and a type code beside it. */

#include "runtime/library/tvm_types.h"

/* What an argument needs besides its value. */
struct legacy_scratch {
	DLTensor tensor;
	struct tenon_slice bytes;
};

/**
 * legacy_argument - convert an argument for compiled code
 * @in: the argument; must outlive @out
 * @index: its number, for messages
 * @out: receives it
 * @code: receives its code
 * @scratch: must outlive @out
 *
 * Return: 0; -TENON_E_TYPE for None and null pointers, which such code does not check.
 */
int legacy_argument(const struct tenon_value *in, int32_t index, union legacy_value *out, int *code,
		    struct legacy_scratch *scratch);

/**
 * legacy_result - take what compiled code returned
 * @value: the value
 * @code: its code
 * @out: receives an owned value; texts are copied, objects were given away
 *
 * Return: 0; -TENON_E_TYPE; -TENON_E_NOMEM.
 */
int legacy_result(const union legacy_value *value, int code, struct tenon_value *out);

/* An argument that legacy code passes, as a view. 0 or -TENON_E_TYPE. */
int legacy_argument_view(const union legacy_value *value, int code, int index,
			 struct tenon_value *out);

/**
 * legacy_give_result - hand an owned result to legacy code
 * @in: the result; given away in all cases
 * @out: receives it; a text is valid until the thread's next call that returns one
 * @code: receives its code
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int legacy_give_result(struct tenon_value *in, union legacy_value *out, int *code);

#endif /* RUNTIME_LIBRARY_LEGACY_VALUE_H */
