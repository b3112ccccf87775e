/* SPDX-License-Identifier: MIT */
/* tenon_link_sign(): the detached signature of a file. */
#include <tenon/link.h>

#include "lib/file_map.h"
#include "link/module/signature.h"

int tenon_link_sign(const char *file, const char *key, struct tenon_buffer *out)
{
	struct tenon_slice bytes;
	int err;

	err = file_map_open(file, &bytes);
	if (err)
		return err;
	err = signature_make(key, bytes, out);
	file_map_close(&bytes);
	return err;
}
