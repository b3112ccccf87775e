/* SPDX-License-Identifier: MIT */
/* the bytes decide what a Relax program does; it is run for a while */
#include "tests/fuzz/relax_program.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/use_executable.h"
#include "tests/unit/relax_stand_in.h"

/* a byte decides an instruction, and a machine has a pool and registers */
const size_t fuzz_memory_per_byte = 512;
const size_t fuzz_memory_at_all = 1 << 20;

static void register_stand_in(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	fuzz_check(tenon_executors_register());
	fuzz_check(tenon_function_register_c(RELAX_PROGRAM_STAND_IN, relax_stand_in, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_buffer image = TENON_BUFFER_INIT;
	struct tenon_module *m;

	register_stand_in();
	relax_program(data, size, &image);
	/* what is written here is an executable */
	if (!image.status &&
	    tenon_module_load_bytes("relax.VMExecutable",
				    (struct tenon_slice){ image.data, image.size }, &m)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		abort();
	}
	if (!image.status) {
		fuzz_use_executable(relax_executable_of(m));
		tenon_object_unref(m);
	}
	tenon_buffer_fini(&image);
	return 0;
}
