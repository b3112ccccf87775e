/* SPDX-License-Identifier: MIT */
/* A server by way of a tracker, TVM's or Tenon's: the client asks for a key, and receives an address and a match key. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/handshake.h"

#define MAGIC	   0x2f271
#define REPLY_MOST 4096

/* Write the request for a key: [4, key, user, priority]. */
static int write_request(struct connection *c, const char *key)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct iovec part;
	const char *at = key;
	int i, err;

	while ((unsigned char)*at >= ' ' && *at != '"' && *at != '\\')
		at++;
	if (!*key || *at || strlen(key) > HANDSHAKE_KEY_MOST / 2)
		return tenon_error(-TENON_E_VALUE,
				   "a tracker needs the key of a server, without quotes: add "
				   "?key=KEY to its address");
	tenon_buffer_u32(&b, 0);
	tenon_buffer_printf(&b, "[4, \"%s\", \"\", 1]", key);
	for (i = 0; i < 4 && !b.status; i++)
		b.data[i] = (char)((b.size - 4) >> 8 * i);
	part = (struct iovec){ b.data, b.size };
	err = b.status ? b.status : connection_write(c, &part, 1);
	tenon_buffer_fini(&b);
	return err;
}

static int read_number(struct connection *c, uint32_t *out)
{
	uint8_t b[4] = { 0 };
	int err = connection_read(c, b, sizeof(b));

	*out = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return err;
}

static int greet(struct connection *c)
{
	uint8_t magic[4] = { MAGIC & 0xff, MAGIC >> 8 & 0xff, MAGIC >> 16, 0 };
	struct iovec part = { magic, sizeof(magic) };
	uint32_t answer = 0;
	int err = connection_write(c, &part, 1);

	if (!err)
		err = read_number(c, &answer);
	if (!err && answer != MAGIC)
		err = tenon_error(-TENON_E_FORMAT,
				  "%s is no tracker: it answered 0x%" PRIx32 ", expected 0x%x",
				  c->name, answer, MAGIC);
	return err;
}

/* [0, ["HOST", PORT, "MATCH KEY"]] */
static int parse_reply(const struct connection *c, const char *text, struct rpc_match *out)
{
	char host[256];
	unsigned int port = 0;
	int end = 0;

	if (sscanf(text, " [ 0 , [ \"%255[^\"\\]\" , %5u , \"%1023[^\"\\]\" ] ] %n", host, &port,
		   out->key, &end) != 3 ||
	    !end || text[end] || !port || port > UINT16_MAX)
		return tenon_error(-TENON_E_FORMAT, "the tracker %s offers no server: %.200s",
				   c->name, text);
	snprintf(out->address, sizeof(out->address), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
		 port);
	return 0;
}

static int read_reply(struct connection *c, struct rpc_match *out)
{
	char text[REPLY_MOST + 1], *at;
	uint32_t size = 0;
	int err = read_number(c, &size);

	if (!err && size > REPLY_MOST)
		err = tenon_error(-TENON_E_FORMAT, "%s: a message of %" PRIu32 " bytes, at most %d",
				  c->name, size, REPLY_MOST);
	if (!err)
		err = connection_read(c, text, size);
	if (err)
		return err;
	text[size] = '\0';
	/* the text becomes part of messages, and a terminal must not take orders from it */
	for (at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	return parse_reply(c, text, out);
}

int rpc_ask_tracker(const char *tracker, const char *key, uint64_t connect_ms, uint64_t wait_ms,
		    struct rpc_match *out)
{
	struct connection *c;
	int err = connection_open(tracker, connection_deadline(connect_ms), &c);

	if (err)
		return err;
	err = greet(c);
	if (!err)
		err = write_request(c, key);
	/* others may have all servers */
	c->deadline = connection_deadline(wait_ms);
	if (!err)
		err = read_reply(c, out);
	if (err == -TENON_E_TIMEOUT)
		err = tenon_error(-TENON_E_TIMEOUT,
				  "%s: no server with the key \"%s\" was free within %.9g s",
				  tracker, key, (double)wait_ms / 1000);
	connection_close(c);
	return err;
}
