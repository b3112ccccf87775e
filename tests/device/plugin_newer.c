/* SPDX-License-Identifier: MIT */
/* A plug-in that was made for a Tenon to come, and knows it. */
#include <tenon/backend/backend.h>

const struct tenon_backend *tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	(void)abi;
	return NULL;
}
