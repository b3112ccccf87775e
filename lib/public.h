/* SPDX-License-Identifier: MIT */
/*
 * Included by the compiler in front of every library source: objects are compiled with hidden
 * visibility, and what the public headers declare is the exception.
 */
#pragma GCC visibility push(default)
#include <tenon/tenon.h>
#pragma GCC visibility pop

#include "lib/brief_errors.h"
