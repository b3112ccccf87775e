/* SPDX-License-Identifier: MIT */
/* A plug-in of another ABI that does not look at what it is asked. */
#include <tenon/backend/backend.h>

static const struct tenon_backend backend = { .abi = 99, .size = 8, .name = "careless" };

const struct tenon_backend *tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	(void)abi;
	return &backend;
}
