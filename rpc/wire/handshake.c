/* SPDX-License-Identifier: MIT */
/* Parse the first bytes of a client, also when not all have arrived */
#include "rpc/wire/handshake.h"
#include "lib/number.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT	"client:"
#define TIMEOUT "-timeout="
#define AUTH	"-auth="
#define SPACES	" \t\n\r\f\v"

static uint32_t number_at(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int handshake_missing(const struct handshake *h)
{
	uint32_t length;

	if (h->size >= 4 && number_at(h->bytes) != HANDSHAKE_MAGIC)
		return -1;
	if (h->size < 8)
		return (int)(8 - h->size);
	length = number_at(h->bytes + 4);
	if (!length || length > HANDSHAKE_KEY_MOST)
		return -1;
	return (int)(8 + length - h->size);
}

static void read_timeout(const char *text, uint64_t *timeout_ms)
{
	double seconds = number_read(text, NULL);

	/* ignore a limit of more than a year, and text that is not a number */
	if (seconds > 0 && seconds < 3.2e7)
		*timeout_ms = (uint64_t)(seconds * 1000 + 0.5);
	if (seconds > 0 && !*timeout_ms)
		*timeout_ms = 1;
}

bool handshake_parse(struct handshake *h, struct handshake_client *out)
{
	char *text = (char *)h->bytes + 8, *word, *rest;

	memset(out, 0, sizeof(*out));
	h->bytes[h->size] = '\0';
	word = strtok_r(text, SPACES, &rest);
	if (!word || strncmp(word, CLIENT, strlen(CLIENT)))
		return false;
	out->key = word + strlen(CLIENT);
	while ((word = strtok_r(NULL, SPACES, &rest))) {
		if (!strncmp(word, TIMEOUT, strlen(TIMEOUT)))
			read_timeout(word + strlen(TIMEOUT), &out->timeout_ms);
		else if (!strncmp(word, AUTH, strlen(AUTH)))
			out->auth = word + strlen(AUTH);
		else if (!strcmp(word, HANDSHAKE_EXTENSION))
			out->extension = true;
	}
	return true;
}
