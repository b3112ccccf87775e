/* SPDX-License-Identifier: MIT */
/* Command streams on the simulator. */
#include <stddef.h>

#include "tests/mortise/stream_cases.h"

const char *const stream_uri = "mortise:0";

const char *stream_missing(void)
{
	return NULL;
}
