/* SPDX-License-Identifier: MIT */
/* The bytes are a file that tenon inspect is asked about: nothing of it is loaded. */
#include "tests/fuzz/command.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

#define LARGEST_FILE (512 << 10)

const size_t fuzz_memory_per_byte = 256;
const size_t fuzz_memory_at_all = 1 << 20;
const bool fuzz_is_slow = true;

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	fixtures_each(".so", LARGEST_FILE, visit, context);
	fixtures_each(".o", LARGEST_FILE, visit, context);
}

void fuzz_mutate(struct mutant *m)
{
	mutate_elf(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = scratch_write("m.so", data, size);
	struct command_choice c;

	c = command_choose((struct tenon_slice){ (const char *)data, size }, 5);
	for (; c.from < c.to; c.from++) {
		switch (c.from) {
		case 0:
			COMMAND("inspect", file, "--functions");
			break;
		case 1:
			COMMAND("inspect", file, "--functions", "--json");
			break;
		case 2:
			COMMAND("inspect", file, "--dot");
			break;
		case 3:
			COMMAND("inspect", file, "--model", "--json");
			break;
		default:
			COMMAND("inspect", file, "--model", "--dot");
		}
	}
	return 0;
}
