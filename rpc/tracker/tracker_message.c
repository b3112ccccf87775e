/* SPDX-License-Identifier: MIT */
/* Read and check the JSON of a message. */
#include "rpc/tracker/tracker_message.h"

#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/json_read.h"
#include "lib/number.h"
#include "rpc/wire/utf8.h"

/* a message while it is read */
struct reading {
	struct json_text json;
	uint32_t at;
	char *room;
	struct tracker_message *m;
};

/* Texts are shown to people and sent to other peers. */
static void make_printable(struct tenon_slice text)
{
	char *bytes = (char *)(uintptr_t)text.data;
	size_t i;

	utf8_repair(bytes, text.size);
	for (i = 0; i < text.size; i++)
		if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f)
			bytes[i] = '?';
}

static int read_text(struct reading *r, const char *what, struct tenon_slice *out)
{
	int err = json_string(&r->json, &r->at, what, &r->room, out);

	if (err)
		return err;
	if (out->size > TRACKER_TEXT_MOST)
		return tenon_error(-TENON_E_VALUE, "%s has %zu bytes, at most %d are accepted",
				   what, out->size, TRACKER_TEXT_MOST);
	make_printable(*out);
	return 0;
}

static bool is_null(const struct reading *r)
{
	return json_is(&r->json, r->at, JSMN_PRIMITIVE) && *json_raw(&r->json, r->at).data == 'n';
}

static int read_text_or_null(struct reading *r, const char *what, struct tenon_slice *out)
{
	if (!is_null(r))
		return read_text(r, what, out);
	r->at++;
	return 0;
}

static bool read_digits(struct tenon_slice text, int64_t *port)
{
	size_t i;

	for (i = 0; i < text.size && i < 6; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		*port = 10 * *port + text.data[i] - '0';
	}
	return i && i == text.size && *port <= UINT16_MAX;
}

static int read_port(struct reading *r)
{
	int64_t port = 0;
	int err;

	/* TVM's server in C++ sends a string */
	if (json_is(&r->json, r->at, JSMN_STRING)) {
		struct tenon_slice text;

		err = read_text(r, "port", &text);
		if (err)
			return err;
		if (!read_digits(text, &port))
			return tenon_error(-TENON_E_VALUE,
					   "the port is \"%.*s\": 0 to %d are possible",
					   json_shown(text), text.data, UINT16_MAX);
	} else {
		err = json_integer(&r->json, &r->at, "port", 0, UINT16_MAX, &port);
		if (err)
			return err;
	}
	r->m->port = (uint16_t)port;
	return 0;
}

static int read_priority(struct reading *r)
{
	char text[32] = "";
	const char *end;
	struct tenon_slice raw;

	if (!json_is(&r->json, r->at, JSMN_PRIMITIVE))
		return json_error(&r->json, r->at, -TENON_E_FORMAT, "the priority is no number");
	raw = json_raw(&r->json, r->at);
	if (raw.size < sizeof(text))
		memcpy(text, raw.data, raw.size);
	r->m->priority = number_read(text, &end);
	if (!*text || *end || !(r->m->priority >= -1e9 && r->m->priority <= 1e9))
		return json_error(&r->json, r->at, -TENON_E_VALUE,
				  "the priority is \"%.*s\": -1e9 to 1e9 are possible",
				  json_shown(raw), raw.data);
	r->at++;
	return 0;
}

/* Step into the list of exactly @want items. */
static int enter_list(struct reading *r, const char *what, uint32_t want)
{
	uint32_t count, start = r->at;
	int err = json_enter(&r->json, &r->at, JSMN_ARRAY, what, &count);

	if (!err && count != want)
		err = json_error(&r->json, start, -TENON_E_FORMAT, "%s has %u items, expected %u",
				 what, count, want);
	return err;
}

/* key, [port, match key], host */
static int read_put(struct reading *r)
{
	struct tracker_message *m = r->m;
	int err = read_text(r, "key", &m->key);

	if (!err)
		err = enter_list(r, "PUT's value", 2);
	if (!err)
		err = read_port(r);
	if (!err)
		err = read_text(r, "match key", &m->match_key);
	if (!err)
		err = read_text_or_null(r, "host", &m->host);
	if (!err &&
	    (m->match_key.size <= m->key.size + 1 || m->match_key.data[m->key.size] != ':' ||
	     memcmp(m->match_key.data, m->key.data, m->key.size)))
		err = tenon_error(-TENON_E_VALUE, "the match key does not begin with \"%.*s:\"",
				  json_shown(m->key), m->key.data);
	if (!err && !m->port)
		err = tenon_error(-TENON_E_VALUE, "the port is 0");
	return err;
}

static int read_request(struct reading *r)
{
	int err = read_text(r, "key", &r->m->key);

	if (!err)
		err = read_text_or_null(r, "user", &r->m->user);
	return err ? err : read_priority(r);
}

static int read_address(struct reading *r)
{
	int err = enter_list(r, "addr", 2);

	if (!err)
		err = read_text_or_null(r, "host", &r->m->host);
	if (err)
		return err;
	if (!is_null(r))
		return read_port(r);
	r->at++;
	return 0;
}

static int read_update(struct reading *r)
{
	struct tenon_slice key;
	uint32_t count;
	int err = json_enter(&r->json, &r->at, JSMN_OBJECT, "information", &count);

	while (json_next(&r->json, &r->at, &count, &key, &err)) {
		if (tenon_slice_equal(key, tenon_slice_of("key"))) {
			err = read_text(r, "key", &r->m->key);
		} else if (tenon_slice_equal(key, tenon_slice_of("addr"))) {
			err = read_address(r);
		} else if (tenon_slice_equal(key, tenon_slice_of("health"))) {
			r->m->has_health = true;
			err = read_text_or_null(r, "health", &r->m->health);
		} else {
			json_skip(&r->json, &r->at);
		}
	}
	return err;
}

static int read_message(struct reading *r)
{
	/* items of each message, its code included */
	static const uint32_t items[] = {
		[TRACKER_PING] = 1,    [TRACKER_STOP] = 2,   [TRACKER_PUT] = 4,
		[TRACKER_REQUEST] = 4, [TRACKER_UPDATE] = 2, [TRACKER_SUMMARY] = 1,
		[TRACKER_PENDING] = 1
	};
	int64_t code;
	uint32_t count;
	int err = json_enter(&r->json, &r->at, JSMN_ARRAY, "message", &count);

	if (!err)
		err = json_integer(&r->json, &r->at, "code", TRACKER_PING, TRACKER_PENDING, &code);
	if (err)
		return err;
	if (count != items[code])
		return tenon_error(-TENON_E_FORMAT, "message %d has %u items, expected %u",
				   (int)code, count, items[code]);
	r->m->code = (enum tracker_code)code;
	switch (r->m->code) {
	case TRACKER_PUT:
		return read_put(r);
	case TRACKER_REQUEST:
		return read_request(r);
	case TRACKER_UPDATE:
		return read_update(r);
	default:
		return 0;
	}
}

int tracker_message_read(struct tenon_slice text, struct tracker_message *m)
{
	struct reading r = { .m = m };
	int err;

	memset(m, 0, sizeof(*m));
	err = json_text_read(text, "message to the tracker", &r.json);
	if (err)
		return err;
	/* decoded texts are not longer than the JSON, and each has a NUL in the place of a quote */
	m->texts = r.room = malloc(text.size + 1);
	if (!m->texts)
		err = tenon_error(-TENON_E_NOMEM, "no memory for a message");
	if (!err)
		err = read_message(&r);
	json_text_fini(&r.json);
	if (err)
		tracker_message_fini(m);
	return err;
}

void tracker_message_fini(struct tracker_message *m)
{
	free(m->texts);
	m->texts = NULL;
}
