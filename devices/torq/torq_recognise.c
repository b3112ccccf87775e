/* SPDX-License-Identifier: MIT */
/* What a file is, by its first bytes: all that the library needs until the plug-in is open. */
#include <string.h>

#include "devices/torq/torq_file.h"

#define IDENTIFIER    "SNPU"
#define IDENTIFIER_AT 4

/* what an archive begins with */
#define SIGNATURE "PK\3\4"

static bool has(struct tenon_slice bytes, size_t at, const char *text)
{
	const size_t size = strlen(text);

	return bytes.size >= at + size && !memcmp(bytes.data + at, text, size);
}

bool torq_program_is(struct tenon_slice bytes)
{
	return has(bytes, IDENTIFIER_AT, IDENTIFIER);
}

bool torq_file_is(struct tenon_slice bytes)
{
	return torq_program_is(bytes) || has(bytes, 0, SIGNATURE);
}
