/* SPDX-License-Identifier: MIT */
/* The bytes are a file that is verified, taken apart and put together again: nothing of it is loaded. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/command.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch.h"

#define LARGEST_FILE (256 << 10)

const size_t fuzz_memory_per_byte = 256;
const size_t fuzz_memory_at_all = 1 << 20;
const bool fuzz_is_slow = true;

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	fixtures_each(".so", LARGEST_FILE, visit, context);
}

void fuzz_mutate(struct mutant *m)
{
	mutate_elf(m);
}

/* A file that could be taken apart can be put together again, and is as good as before. */
static void there_and_back(const char *file)
{
	const char *folder = scratch_path("parts"), *again = scratch_path("again.so");
	char manifest[4096];

	if (!COMMAND("unpack", file, folder)) {
		snprintf(manifest, sizeof(manifest), "%s/manifest.json", folder);
		if (!COMMAND("link", "-o", again, manifest) && !COMMAND("verify", file) &&
		    COMMAND("verify", again)) {
			fprintf(stderr, "what was linked again has faults that the file had not\n");
			abort();
		}
		remove(again);
	}
	scratch_remove("parts");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = scratch_write("m.so", data, size);
	struct command_choice c;

	c = command_choose((struct tenon_slice){ (const char *)data, size }, 3);
	for (; c.from < c.to; c.from++) {
		switch (c.from) {
		case 0:
			COMMAND("verify", file);
			break;
		case 1:
			COMMAND("verify", file, "--json");
			break;
		default:
			there_and_back(file);
		}
	}
	return 0;
}
