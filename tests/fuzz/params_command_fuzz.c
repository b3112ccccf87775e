/* SPDX-License-Identifier: MIT */
/* The bytes are a file of parameters that tenon params works on. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/command.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

const size_t fuzz_memory_per_byte = 256;
const size_t fuzz_memory_at_all = 1 << 20;
const bool fuzz_is_slow = true;

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	fixtures_each(".params", SIZE_MAX, visit, context);
}

void fuzz_mutate(struct mutant *m)
{
	mutate_params(m);
}

/* A file is written for each name, and nothing outside of the folder. */
static void extract(const char *file)
{
	scratch_remove("outer/inner");
	scratch_remove("outer");
	if (mkdir(scratch_path("outer"), 0700))
		abort();
	COMMAND("params", "extract", file, "-o", scratch_path("outer/inner"));
	scratch_remove("outer/inner");
	if (rmdir(scratch_path("outer")))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = scratch_write("m.params", data, size);
	const char *to = scratch_path("out.params");
	struct command_choice c;

	c = command_choose((struct tenon_slice){ (const char *)data, size }, 5);
	for (; c.from < c.to; c.from++) {
		switch (c.from) {
		case 0:
			COMMAND("params", "list", file);
			break;
		case 1:
			COMMAND("params", "list", file, "--json");
			break;
		case 2:
			COMMAND("params", "align", file, to);
			break;
		case 3:
			COMMAND("params", "align", file, "--align", "64");
			break;
		default:
			extract(file);
		}
	}
	return 0;
}
