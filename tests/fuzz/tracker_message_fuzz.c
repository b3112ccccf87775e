/* SPDX-License-Identifier: MIT */
/* The bytes are the JSON of a message to a tracker. */
#include <stdlib.h>
#include <string.h>

#include "rpc/tracker/tracker_message.h"
#include "tests/fuzz/fuzz.h"

/* a token takes 20 bytes, and their array doubles */
const size_t fuzz_memory_per_byte = 128;

static void check_text(struct tenon_slice text)
{
	size_t i;

	if (text.size > TRACKER_TEXT_MOST)
		abort();
	for (i = 0; i < text.size; i++)
		if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracker_message m;
	int err = tracker_message_read((struct tenon_slice){ (const char *)data, size }, &m);

	fuzz_check(err);
	if (err)
		return 0;
	check_text(m.key);
	check_text(m.match_key);
	check_text(m.host);
	check_text(m.user);
	check_text(m.health);
	tracker_message_fini(&m);
	return 0;
}
