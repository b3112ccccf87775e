/* SPDX-License-Identifier: MIT */
/* Durations of calls, which function and model runs report alike */
#ifndef TOOLS_RUN_RUN_TIMES_H
#define TOOLS_RUN_RUN_TIMES_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct times - duration of each call
 * @ns: nanoseconds; sorted for the report
 * @count: how many calls there are
 */
struct times {
	uint64_t *ns;
	uint64_t count;
};

#endif /* TOOLS_RUN_RUN_TIMES_H */
