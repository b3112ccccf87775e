/* SPDX-License-Identifier: MIT */
#include "runtime/remote/utf8.h"

#include <stdint.h>

/* Length of the sequence that begins with a byte; 0 for none. */
static size_t sequence_length(uint8_t lead)
{
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

static int is_valid(const uint8_t *at, size_t length)
{
	size_t i;

	for (i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, and numbers above 0x10ffff */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return 1;
}

void utf8_repair(char *text, size_t size)
{
	uint8_t *at = (uint8_t *)text, *end = at + size;
	size_t length;

	while (at < end) {
		length = sequence_length(*at);
		if (length && length <= (size_t)(end - at) && is_valid(at, length)) {
			at += length;
			continue;
		}
		if (!*at || *at >= 0x80)
			*at = '?';
		at++;
	}
}
