/* SPDX-License-Identifier: MIT */
/* The check of register commands, called as the suites need it. */
#include <stdlib.h>
#include <string.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"
#include "tests/npu/rocket_stream.h"

int rocket_check(const struct tenon_buffer *b)
{
	/* memory of exactly this size, so that a sanitizer sees a read behind it */
	char *copy = malloc(b->size);
	struct tenon_cursor c;
	struct cmdstream_kernel k;
	struct cmdstream s;
	int err;

	memcpy(copy, b->data, b->size);
	c = tenon_cursor_of(copy, b->size, "payload", 0);
	err = cmdstream_read(&c, &s);
	err = err ? err : cmdstream_kernel(&s, 0, &k);
	err = err ? err : cmdstream_check(&s, &rocket_target, &k, NULL);
	free(copy);
	return err;
}
