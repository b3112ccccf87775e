/* SPDX-License-Identifier: MIT */
/* The bytes are the text of an ExampleJSON module. */
#include "tests/fuzz/example_kind.h"

#include <tenon/backend/buffer.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice text = { (const char *)data, size };
	struct tenon_buffer payload = TENON_BUFFER_INIT;
	struct tenon_module *m;
	int err;

	example_kind_register();
	tenon_buffer_string(&payload, text);
	err = tenon_module_load_bytes("examplejson",
				      (struct tenon_slice){ payload.data, payload.size }, &m);
	tenon_buffer_fini(&payload);
	fuzz_check(err);
	if (!err)
		fuzz_use_module(m);
	return 0;
}
