/* SPDX-License-Identifier: MIT */
/* Parse the first bytes of a client, also when not all have arrived. */
#include "rpc/wire/handshake.h"
#include "lib/cursor_fast.h"
#include "lib/number.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/backend/buffer.h>

#define CLIENT	"client:"
#define TIMEOUT "-timeout="
#define AUTH	"-auth="
#define SPACES	" \t\n\r\f\v"

int handshake_missing(const struct handshake *h)
{
	uint32_t length;

	if (h->size >= 4 && load_u32(h->bytes) != HANDSHAKE_MAGIC)
		return -1;
	if (h->size < 8)
		return (int)(8 - h->size);
	length = load_u32(h->bytes + 4);
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

bool handshake_send(int fd, const char *key, size_t size)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	bool ok;

	tenon_buffer_u32(&b, HANDSHAKE_MAGIC);
	tenon_buffer_u32(&b, (uint32_t)size);
	tenon_buffer_append(&b, key, size);
	ok = !b.status && send(fd, b.data, b.size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)b.size;
	tenon_buffer_fini(&b);
	return ok;
}
