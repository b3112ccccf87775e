/* SPDX-License-Identifier: MIT */
/* Check the header of a record in a symbol. */
#include "link/module/link_record.h"

#include <inttypes.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

int link_record_open(struct tenon_slice bytes, const char *what, uint32_t version,
		     struct tenon_cursor *c)
{
	struct tenon_slice record = { NULL, 0 };
	uint32_t found = 0;
	int err;

	*c = tenon_cursor_of(bytes.data, bytes.size, what, 0);
	err = tenon_cursor_string(c, &record);
	if (err)
		return err;
	*c = tenon_cursor_of(record.data, record.size, what, 8);
	err = tenon_cursor_u32(c, &found);
	if (!err && found != version)
		err = tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					 "version %" PRIu32 "; this release reads version %" PRIu32,
					 found, version);
	return err;
}
