/* SPDX-License-Identifier: MIT */
/* The bytes are a Relax executable; what is accepted is run for a while. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/use_executable.h"
#include "tests/unit/relax_stand_in.h"

/* what the seeds call */
static void register_stand_ins(void)
{
	static const char *const names[] = { "matmul",	 "add",	     "relu",
					     "multiply", "subtract", "fused_multiply_add" };
	static bool done;
	size_t i;

	if (done)
		return;
	done = true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fuzz_check(tenon_function_register_c(names[i], relax_stand_in, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_module *m;
	int err;

	register_stand_ins();
	err = tenon_module_load_bytes("relax.VMExecutable",
				      (struct tenon_slice){ (const char *)data, size }, &m);
	fuzz_check(err);
	if (err)
		return 0;
	fuzz_use_executable(relax_executable_of(m));
	tenon_object_unref(m);
	return 0;
}
