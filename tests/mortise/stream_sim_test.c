/* SPDX-License-Identifier: MIT */
/* The cases of command streams (stream_cases.h) on the simulator, which every build can run. */
#include <stddef.h>

#include "tests/mortise/stream_cases.h"

const char *const stream_uri = "mortise:0";

const char *stream_missing(void)
{
	return NULL;
}
