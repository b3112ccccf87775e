/* SPDX-License-Identifier: MIT */
/* Offer servers to a tracker, reconnect to it, and replace keys that were not used. */
#include "lib/cursor_fast.h"
#include "rpc/wire/registration.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"

#define MAGIC 0x2f271
/* reconnect soon after a tracker restarts; back off while it stays away */
#define RETRY_FIRST_MS 250
#define RETRY_MS       5000
#define REPLY_MS       10000
#define PENDING_MS     2000
#define DROPPED_MS     500
/* a client that received a key has 8 seconds to come */
#define MISSED_MOST 4
/* replies are short: a number, or our own keys */
#define REPLY_MOST (2U << 20)

static void say(struct registration *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct registration *r, const char *format, ...)
{
	char line[600];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	r->options.say(r->options.context, line);
}

/* ---- slots */

/* A random part, which cannot be guessed: the server admits a client that sends it. */
static bool new_key(struct registration_slot *slot)
{
	uint8_t random[16];
	size_t i, n;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	n = slot->name_size;
	slot->key[n++] = ':';
	for (i = 0; i < sizeof(random) && n + 3 <= sizeof(slot->key); i++, n += 2)
		snprintf(slot->key + n, 3, "%02x", random[i]);
	slot->missed = 0;
	slot->kept = false;
	return true;
}

static void offer_again(const struct registration *r, struct registration_slot *slot)
{
	slot->missed = 0;
	slot->state = r->options.check ? SLOT_UNCHECKED : SLOT_FREE;
}

/* Offer a slot with a new key: the client of the last session knows the old one. */
static void offer(struct registration *r, struct registration_slot *slot)
{
	if (new_key(slot)) {
		offer_again(r, slot);
		return;
	}
	slot->state = SLOT_KEYLESS;
	slot->kept = false;
	if (!r->keyless)
		say(r, "no random numbers for a key: %s; trying again", strerror(errno));
	r->keyless = true;
}

static void offer_keyless(struct registration *r)
{
	unsigned int i;

	if (!r->keyless)
		return;
	for (i = 0; i < r->options.slots; i++) {
		if (r->slots[i].state != SLOT_KEYLESS)
			continue;
		if (!new_key(&r->slots[i]))
			return;
		offer_again(r, &r->slots[i]);
	}
	r->keyless = false;
}

/* The tracker may have handed it out, also before its reply to PUT. */
static bool is_offered(const struct registration_slot *slot)
{
	return slot->state == SLOT_LISTED || slot->state == SLOT_PUTTING;
}

/* A key that is offered again may have been handed out before. */
static bool is_taken_by(const struct registration_slot *slot, const char *key)
{
	return (is_offered(slot) || slot->kept) && !strcmp(slot->key, key);
}

int registration_take(struct registration *r, const char *key)
{
	unsigned int i;

	for (i = 0; i < r->options.slots; i++) {
		struct registration_slot *slot = &r->slots[i];

		if (!is_taken_by(slot, key))
			continue;
		slot->state = SLOT_BUSY;
		slot->kept = false;
		return (int)i;
	}
	return -1;
}

void registration_release(struct registration *r, int slot)
{
	offer(r, &r->slots[slot]);
}

int registration_add(struct registration *r, const char *key)
{
	size_t size = strlen(key);
	unsigned int i;

	for (i = 0; size <= REGISTRATION_KEY_MOST && i < r->options.slots; i++) {
		struct registration_slot *slot = &r->slots[i];

		if (slot->state != SLOT_BUSY)
			continue;
		memcpy(slot->key, key, size);
		slot->name_size = size;
		offer(r, slot);
		/* wake the loop so that it offers the slot at once, not at the next poll */
		if (r->wait == REGISTRATION_IDLE)
			r->deadline = clock_ms();
		return (int)i;
	}
	return -1;
}

void registration_drop(struct registration *r, int slot)
{
	const bool offered = is_offered(&r->slots[slot]);
	unsigned int i;

	r->slots[slot].state = SLOT_BUSY;
	r->slots[slot].kept = false;
	if (!offered)
		return;
	/* with the same keys: clients that were given one are on their way */
	for (i = 0; i < r->options.slots; i++) {
		if (!is_offered(&r->slots[i]))
			continue;
		offer_again(r, &r->slots[i]);
		r->slots[i].kept = true;
	}
	/* not at once: a peer that connects and leaves all the time must not keep the tracker busy */
	registration_disconnect(r, DROPPED_MS);
}

void registration_rename(struct registration *r, const char *name)
{
	r->options.name = name;
	r->updated = false;
}

static int init_slot(struct registration *r, struct registration_slot *slot)
{
	slot->state = SLOT_BUSY;
	if (!r->options.key)
		return 0;
	slot->name_size = strlen(r->options.key);
	if (slot->name_size > REGISTRATION_KEY_MOST)
		return tenon_error(-TENON_E_VALUE, "trackers take keys of at most %d bytes",
				   REGISTRATION_KEY_MOST);
	memcpy(slot->key, r->options.key, slot->name_size);
	if (!new_key(slot))
		return tenon_error(-TENON_E_IO, "no random numbers: %s", strerror(errno));
	slot->state = r->options.check ? SLOT_UNCHECKED : SLOT_FREE;
	return 0;
}

int registration_init(struct registration *r, const struct registration_options *options)
{
	unsigned int i;
	int err;

	memset(r, 0, sizeof(*r));
	r->options = *options;
	r->fd = r->check_fd = -1;
	err = dial_resolve(options->tracker, &r->target);
	if (err)
		return err;
	r->slots = calloc(options->slots, sizeof(*r->slots));
	if (!r->slots)
		return tenon_error(-TENON_E_NOMEM, "no memory for %u sessions", options->slots);
	for (i = 0; !err && i < options->slots; i++)
		err = init_slot(r, &r->slots[i]);
	return err;
}

void registration_fini(struct registration *r)
{
	registration_check_kill(r);
	if (r->fd >= 0)
		close(r->fd);
	tenon_buffer_fini(&r->in);
	free(r->slots);
}

/* ---- the connection */

void registration_disconnect(struct registration *r, uint64_t retry_ms)
{
	unsigned int i;

	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	r->in.size = 0;
	r->updated = false;
	r->wait = REGISTRATION_RETRY;
	r->deadline = clock_ms() + retry_ms;
	for (i = 0; i < r->options.slots; i++)
		if (is_offered(&r->slots[i]))
			offer(r, &r->slots[i]);
}

static void fail(struct registration *r, const char *reason)
{
	if (!r->reported)
		say(r, "tracker %s: %s; trying again every %d s", r->options.tracker, reason,
		    RETRY_MS / 1000);
	r->reported = true;
	r->retry_ms = r->retry_ms ? 2 * r->retry_ms : RETRY_FIRST_MS;
	if (r->retry_ms > RETRY_MS)
		r->retry_ms = RETRY_MS;
	registration_disconnect(r, r->retry_ms);
}

static void start(struct registration *r)
{
	r->fd = dial_start(&r->target, r->next_address);
	r->next_address = (r->next_address + 1) % r->target.count;
	if (r->fd < 0) {
		fail(r, strerror(errno));
		return;
	}
	r->wait = REGISTRATION_CONNECT;
	r->deadline = clock_ms() + REPLY_MS;
}

/* Messages are short, and one is sent at a time: the socket has room. */
static void send_bytes(struct registration *r, const struct tenon_buffer *b,
		       enum registration_wait wait)
{
	if (b->status ||
	    send(r->fd, b->data, b->size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)b->size) {
		fail(r, "cannot write");
		return;
	}
	r->wait = wait;
	r->deadline = clock_ms() + REPLY_MS;
}

static void send_magic(struct registration *r)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int error = 0;
	socklen_t size = sizeof(error);

	getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (error) {
		fail(r, strerror(error));
		return;
	}
	tenon_buffer_u32(&b, MAGIC);
	send_bytes(r, &b, REGISTRATION_MAGIC);
	tenon_buffer_fini(&b);
}

static void quote(struct tenon_buffer *b, const char *text)
{
	tenon_buffer_append(b, "\"", 1);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			tenon_buffer_append(b, "\\", 1);
		/* what the check printed may be anything but has one line */
		tenon_buffer_append(b, (unsigned char)*text < 0x20 ? " " : text, 1);
	}
	tenon_buffer_append(b, "\"", 1);
}

static void send_message(struct registration *r, const struct tenon_buffer *json,
			 enum registration_wait wait)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u32(&b, (uint32_t)json->size);
	tenon_buffer_append(&b, json->data, json->size);
	if (json->status)
		b.status = json->status;
	send_bytes(r, &b, wait);
	tenon_buffer_fini(&b);
}

static void send_update(struct registration *r)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_printf(&b, "[5, {\"key\": \"server:");
	/* a key has no quotes */
	tenon_buffer_printf(&b, "%s\", \"addr\": [", r->options.name);
	if (r->options.host)
		quote(&b, r->options.host);
	else
		tenon_buffer_printf(&b, "null");
	tenon_buffer_printf(&b, ", %u]", r->options.port);
	if (r->options.check) {
		tenon_buffer_printf(&b, ", \"health\": ");
		quote(&b, r->health);
	}
	tenon_buffer_printf(&b, "}]");
	/* set here, not at the reply: if the health changes until then, it must be sent again */
	r->updated = true;
	send_message(r, &b, REGISTRATION_UPDATE);
	tenon_buffer_fini(&b);
}

static void send_put(struct registration *r, unsigned int slot)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_printf(&b, "[3, \"%.*s\", [%u, \"%s\"], ", (int)r->slots[slot].name_size,
			    r->slots[slot].key, r->options.port, r->slots[slot].key);
	if (r->options.host)
		quote(&b, r->options.host);
	else
		tenon_buffer_printf(&b, "null");
	tenon_buffer_printf(&b, "]");
	r->putting = slot;
	r->slots[slot].state = SLOT_PUTTING;
	send_message(r, &b, REGISTRATION_PUT);
	tenon_buffer_fini(&b);
}

static void send_pending(struct registration *r)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_printf(&b, "[7]");
	send_message(r, &b, REGISTRATION_PENDING);
	tenon_buffer_fini(&b);
}

/* Send what is next. Nothing else is under way. */
static void send_next(struct registration *r, uint64_t now)
{
	unsigned int i;

	if (!r->updated) {
		send_update(r);
		return;
	}
	for (i = 0; i < r->options.slots; i++) {
		if (r->slots[i].state != SLOT_FREE)
			continue;
		send_put(r, i);
		return;
	}
	if (now >= r->deadline)
		send_pending(r);
}

/* ---- replies */

/*
 * Test whether a reply lists the slot's key. Compare its random part only: it is unique, and
 * trackers in Python escape other characters.
 */
static bool lists(const struct tenon_buffer *reply, const struct registration_slot *slot)
{
	char quoted[MATCH_KEY_MOST + 2];
	int size = snprintf(quoted, sizeof(quoted), "%s\"", slot->key + slot->name_size);

	return memmem(reply->data, reply->size, quoted, (size_t)size) != NULL;
}

static void read_pending(struct registration *r, const struct tenon_buffer *reply)
{
	unsigned int i;

	for (i = 0; i < r->options.slots; i++) {
		struct registration_slot *slot = &r->slots[i];

		if (slot->state != SLOT_LISTED)
			continue;
		if (lists(reply, slot))
			slot->missed = 0;
		else if (++slot->missed >= MISSED_MOST)
			offer(r, slot);
	}
}

static void read_reply(struct registration *r, const struct tenon_buffer *reply)
{
	const bool ok = reply->size == 1 && *reply->data == '0';

	switch (r->wait) {
	case REGISTRATION_UPDATE:
		if (!ok) {
			fail(r, "it refused the server's key and address");
			return;
		}
		if (r->reported || (!r->told && !*r->health)) {
			say(r, "registered as %s at tracker %s", r->options.name,
			    r->options.tracker);
			r->told = true;
		}
		r->reported = false;
		r->retry_ms = 0;
		break;
	case REGISTRATION_PUT:
		if (!ok) {
			fail(r, "it refused an offer");
			return;
		}
		/* a client may have come already */
		if (r->slots[r->putting].state == SLOT_PUTTING)
			r->slots[r->putting].state = SLOT_LISTED;
		break;
	default:
		read_pending(r, reply);
	}
	r->wait = REGISTRATION_IDLE;
	r->deadline = clock_ms() + PENDING_MS;
}

/* Take a reply out of what was received. False when it is not complete. */
static bool take_reply(struct registration *r)
{
	struct tenon_buffer reply;
	uint32_t size;

	if (r->fd < 0 || r->in.size < 4)
		return false;
	size = load_u32((const uint8_t *)r->in.data);
	if (r->wait == REGISTRATION_MAGIC) {
		if (size != MAGIC) {
			fail(r, "it is no tracker");
			return false;
		}
		r->wait = REGISTRATION_IDLE;
		size = 0;
	} else if (!size || size > REPLY_MOST || r->wait == REGISTRATION_IDLE) {
		fail(r, "it sent what no tracker sends");
		return false;
	} else if (r->in.size - 4 < size) {
		return false;
	} else {
		reply = (struct tenon_buffer){ r->in.data + 4, size, size, 0 };
		read_reply(r, &reply);
		if (r->fd < 0)
			return false;
	}
	memmove(r->in.data, r->in.data + 4 + size, r->in.size - 4 - size);
	r->in.size -= 4 + size;
	return true;
}

static void receive(struct registration *r)
{
	char bytes[4096];
	ssize_t n = recv(r->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fail(r, n ? strerror(errno) : "it closed the connection");
		return;
	}
	if (tenon_buffer_append(&r->in, bytes, (size_t)n) || r->in.size > REPLY_MOST + 4) {
		r->in.status = 0;
		tenon_error_clear();
		fail(r, "its reply is too large");
		return;
	}
	while (take_reply(r))
		;
}

/* ---- the loop */

struct pollfd registration_polled(const struct registration *r)
{
	return (struct pollfd){ r->fd, r->wait == REGISTRATION_CONNECT ? POLLOUT : POLLIN, 0 };
}

uint64_t registration_deadline(const struct registration *r)
{
	return r->check_at && r->check_at < r->deadline ? r->check_at : r->deadline;
}

void registration_step(struct registration *r, short events)
{
	uint64_t now = clock_ms();

	offer_keyless(r);
	if (events && r->wait == REGISTRATION_CONNECT)
		send_magic(r);
	else if (events && r->fd >= 0)
		receive(r);
	if (r->options.check)
		registration_check_step(r, now);
	if (r->wait == REGISTRATION_IDLE)
		send_next(r, now);
	else if (now >= r->deadline && r->wait == REGISTRATION_RETRY)
		start(r);
	else if (now >= r->deadline)
		fail(r, "it does not answer");
}
