/* SPDX-License-Identifier: MIT */
/* Buffer what arrives, and let the memory of a packet grow with it. */
#include "rpc/wire/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"

/* memory of a packet that is kept for the next one, and the first step of a larger one */
#define KEPT (UINT64_C(1) << 20)

/* bytes of a packet that is read in parts */
#define PART (UINT64_C(256) << 10)

void stream_init(struct stream *s, struct connection *c, uint64_t most)
{
	s->connection = c;
	s->most = most;
	s->start = s->end = 0;
	s->packet = NULL;
	s->room = 0;
}

void stream_fini(struct stream *s)
{
	free(s->packet);
	s->packet = NULL;
	s->room = 0;
}

static size_t take_buffered(struct stream *s, char *data, size_t size)
{
	size_t n = s->end - s->start;

	if (n > size)
		n = size;
	memcpy(data, s->buffer + s->start, n);
	s->start += n;
	return n;
}

int stream_ahead(struct stream *s, size_t size)
{
	ssize_t n;

	if (s->start == s->end)
		s->start = s->end = 0;
	if (s->start + size > sizeof(s->buffer)) {
		memmove(s->buffer, s->buffer + s->start, s->end - s->start);
		s->end -= s->start;
		s->start = 0;
	}
	while (s->end - s->start < size) {
		n = s->connection->ops->read(s->connection, s->buffer + s->end,
					     sizeof(s->buffer) - s->end);
		if (n <= 0)
			return n ? -1 : 0;
		s->end += (size_t)n;
	}
	return 1;
}

int stream_read(struct stream *s, void *data, size_t size)
{
	size_t got = take_buffered(s, data, size);

	return connection_read(s->connection, (char *)data + got, size - got);
}

static int reserve_bytes(struct stream *s, size_t size)
{
	char *grown;

	if (size <= s->room)
		return 0;
	grown = realloc(s->packet, size);
	if (!grown)
		return tenon_error(-TENON_E_NOMEM, "no memory for a packet of %zu bytes", size);
	s->packet = grown;
	s->room = size;
	return 0;
}

enum stream_result stream_read_body(struct stream *s, uint64_t size, struct tenon_slice *out)
{
	size_t got = 0, step;

	while (got < size) {
		step = got ? 2 * got : KEPT;
		if (step > size)
			step = (size_t)size;
		if (reserve_bytes(s, step) || stream_read(s, s->packet + got, step - got))
			return STREAM_BROKEN;
		got = step;
	}
	out->data = s->packet;
	out->size = (size_t)size;
	return STREAM_PACKET;
}

int stream_read_part(struct stream *s, uint64_t *left, struct tenon_slice *out)
{
	size_t size = *left < PART ? (size_t)*left : PART;
	int err = reserve_bytes(s, size);

	if (!err)
		err = stream_read(s, s->packet, size);
	if (err)
		return err;
	*left -= size;
	*out = (struct tenon_slice){ s->packet, size };
	return 0;
}

enum stream_result stream_begin_packet(struct stream *s, void (*started)(void *context),
				       void *context, uint64_t *packet_size)
{
	uint64_t size = 0;
	int i, n;

	if (s->room > KEPT)
		stream_fini(s);
	while (!size) {
		/* TVM's peers take an end of stream inside the length for an end between packets */
		n = stream_ahead(s, 8);
		if (n <= 0)
			return n ? STREAM_BROKEN : STREAM_END;
		for (i = 0; i < 8; i++)
			size |= (uint64_t)(uint8_t)s->buffer[s->start + (size_t)i] << 8 * i;
		s->start += 8;
	}
	if (started)
		started(context);
	if (size > s->most) {
		tenon_error(-TENON_E_FORMAT,
			    "a packet of %" PRIu64 " bytes, at most %" PRIu64 " are accepted", size,
			    s->most);
		return STREAM_TOO_LARGE;
	}
	*packet_size = size;
	return STREAM_PACKET;
}

enum stream_result stream_read_packet(struct stream *s, void (*started)(void *context),
				      void *context, struct tenon_slice *out)
{
	uint64_t size;
	enum stream_result result = stream_begin_packet(s, started, context, &size);

	return result == STREAM_PACKET ? stream_read_body(s, size, out) : result;
}

int stream_write(struct stream *s, struct tenon_slice first, struct tenon_slice second)
{
	struct iovec parts[2] = { { (void *)(uintptr_t)first.data, first.size },
				  { (void *)(uintptr_t)second.data, second.size } };

	return connection_write(s->connection, parts, 2);
}
