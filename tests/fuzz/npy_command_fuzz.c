/* SPDX-License-Identifier: MIT */
/* The bytes are an array of numpy, or a zip file of some, that commands read. */
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/command.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/npz_file.h"
#include "tests/fuzz/scratch.h"

#define LIBRARY	      "tvm-0.18/host_vecadd/lib.so"
#define LARGEST_ARRAY 20000

const bool fuzz_may_ask_for_memory = true;
const bool fuzz_is_slow = true;

struct visitor {
	void (*visit)(void *context, struct tenon_slice bytes);
	void *context;
};

static void visit_array(void *context, struct tenon_slice bytes)
{
	struct tenon_buffer archive = TENON_BUFFER_INIT;
	struct visitor *v = context;

	v->visit(v->context, bytes);
	npz_file("x.npy", bytes, &archive);
	v->visit(v->context, (struct tenon_slice){ archive.data, archive.size });
	tenon_buffer_fini(&archive);
}

void fuzz_fixtures(void (*visit)(void *context, struct tenon_slice bytes), void *context)
{
	struct visitor v = { visit, context };

	fixtures_each(".npy", LARGEST_ARRAY, visit_array, &v);
}

void fuzz_mutate(struct mutant *m)
{
	mutate_npy(m);
}

static void from_npz(const char *to, struct tenon_slice bytes)
{
	COMMAND("params", "from-npz", scratch_write("m.npz", bytes.data, bytes.size), to);
}

/* the array in an archive that is whole */
static void from_whole_npz(const char *to, struct tenon_slice array)
{
	struct tenon_buffer archive = TENON_BUFFER_INIT;

	npz_file("x.npy", array, &archive);
	from_npz(to, (struct tenon_slice){ archive.data, archive.size });
	tenon_buffer_fini(&archive);
}

static void run_on(const char *file)
{
	char input[600];

	snprintf(input, sizeof(input), "@%s", file);
	COMMAND("run", fixture_find(LIBRARY), "--function", "vecadd", "--input", input, "--input",
		input, "--output", "1024xfloat32", "--expect", input, "--top", "3");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice bytes = { (const char *)data, size };
	const char *file, *to = scratch_path("out.params");
	struct command_choice c = command_choose(bytes, 3);

	if (size >= 2 && !memcmp(data, "PK", 2)) {
		from_npz(to, bytes);
		return 0;
	}
	file = scratch_write("m.npy", data, size);
	for (; c.from < c.to; c.from++) {
		if (c.from == 0)
			COMMAND("params", "from-npy", file, to);
		else if (c.from == 1)
			from_whole_npz(to, bytes);
		else
			run_on(file);
	}
	return 0;
}
