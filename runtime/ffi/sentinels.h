/* SPDX-License-Identifier: MIT */
/* Two objects that stand for "no value" and for "keyword arguments follow"; compared by address. */
#ifndef RUNTIME_FFI_SENTINELS_H
#define RUNTIME_FFI_SENTINELS_H

#include "runtime/ffi/ffi.h"

enum ffi_sentinel { SENTINEL_MISSING, SENTINEL_KEYWORDS };

/* Get a sentinel; the value owns a reference. */
struct tenon_value ffi_sentinel(enum ffi_sentinel which);

bool ffi_is_sentinel(const struct tenon_object *object, enum ffi_sentinel which);

#endif /* RUNTIME_FFI_SENTINELS_H */
