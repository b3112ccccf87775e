/* SPDX-License-Identifier: MIT */
/* Open a library in the session's process: the first method of the process itself, which has handle 0. */
#include <stdio.h>
#include <tenon/error.h>

#include "driver/fastrpc/fastrpc.h"
#include "lib/brief_errors.h"

#define PROCESS	    0
#define METHOD_OPEN 0

/* what the method reads and writes in front of its texts */
struct open_input {
	uint32_t name_size;
	uint32_t reason_size;
};

struct open_output {
	uint32_t handle;
	int32_t status;
};

int fastrpc_open_library(const struct fastrpc *f, const char *name, uint32_t *handle)
{
	char reason[256] = "", copy[256];
	struct open_input input = { .reason_size = sizeof(reason) };
	struct open_output output = { 0, 0 };
	struct fastrpc_argument arguments[] = {
		{ &input, sizeof(input), -1 },
		{ copy, 0, -1 },
		{ &output, sizeof(output), -1 },
		{ reason, sizeof(reason), -1 },
	};
	const struct fastrpc_call call = { PROCESS, METHOD_OPEN, arguments, 2, 2 };
	int32_t result;
	int err;

	*handle = 0;
	input.name_size = (uint32_t)snprintf(copy, sizeof(copy), "%s", name) + 1;
	if (input.name_size > sizeof(copy))
		return tenon_error(-TENON_E_VALUE, "%s: the name of a library is too long: %s",
				   f->path, name);
	arguments[1].size = input.name_size;
	err = fastrpc_invoke(f, &call, &result);
	if (err)
		return err;
	if (!result && !output.status) {
		*handle = output.handle;
		return 0;
	}
	reason[sizeof(reason) - 1] = 0;
	return tenon_error(-TENON_E_DEVICE,
			   "%s: the DSP does not open the library %s: status 0x%x%s%s", f->path,
			   name, result ? (unsigned int)result : (unsigned int)output.status,
			   *reason ? ": " : "", reason);
}
