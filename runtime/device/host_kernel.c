/* SPDX-License-Identifier: MIT */
/* Run a host function once for each block of a launch. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/executable.h>

#include "lib/brief_errors.h"

#define SHARED_ALIGN 128

int tenon_host_run(tenon_host_kernel function, const struct tenon_dispatch *d)
{
	struct tenon_host_block b = { .arguments = d->arguments, .shared_size = d->shared };
	int err = 0;

	memcpy(b.grid, d->grid, sizeof(b.grid));
	memcpy(b.block, d->block, sizeof(b.block));
	if (d->shared && posix_memalign(&b.shared, SHARED_ALIGN, d->shared))
		return tenon_error(-TENON_E_NOMEM, "no memory for %u bytes that a block shares",
				   d->shared);
	for (b.index[2] = 0; b.index[2] < b.grid[2] && !err; b.index[2]++)
		for (b.index[1] = 0; b.index[1] < b.grid[1] && !err; b.index[1]++)
			for (b.index[0] = 0; b.index[0] < b.grid[0] && !err; b.index[0]++)
				err = function(&b);
	free(b.shared);
	return err;
}
