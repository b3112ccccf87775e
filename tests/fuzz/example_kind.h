/* SPDX-License-Identifier: MIT */
/* The example kind of modules, for fuzz targets that read files of any kind. */
#ifndef TESTS_FUZZ_EXAMPLE_KIND_H
#define TESTS_FUZZ_EXAMPLE_KIND_H

#include <stdbool.h>
#include <tenon/error.h>

#include "examples/example_json/example_json.h"

/* Make modules of kind "examplejson" known, once. */
static inline void example_kind_register(void)
{
	static bool done;

	if (!done)
		done = !example_json_register();
	tenon_error_clear();
}

#endif /* TESTS_FUZZ_EXAMPLE_KIND_H */
