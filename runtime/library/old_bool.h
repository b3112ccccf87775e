/* SPDX-License-Identifier: MIT */
/* TVM up to 0.22 has bool as {1,1}, stored as bytes; later versions have {6,8}. */
#ifndef RUNTIME_LIBRARY_OLD_BOOL_H
#define RUNTIME_LIBRARY_OLD_BOOL_H

#include <stdbool.h>
#include <tenon/dlpack.h>

static inline bool is_new_bool(const DLTensor *t)
{
	return t->dtype.code == TENON_DTYPE_BOOL && t->dtype.bits == 8;
}

/* If @t is bool, describe it in @copy with the old dtype; the data is shared. */
static inline DLTensor *with_old_bool(const DLTensor *t, DLTensor *copy)
{
	*copy = *t;
	copy->dtype.code = TENON_DTYPE_UINT;
	copy->dtype.bits = 1;
	return copy;
}

#endif /* RUNTIME_LIBRARY_OLD_BOOL_H */
