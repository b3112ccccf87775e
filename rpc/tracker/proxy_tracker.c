/* SPDX-License-Identifier: MIT */
/*
 * The proxy at a tracker: each server that waits is an offer under the proxy's address, with a match key. The
 * client brings the match key, which says which server it was given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/tracker/proxy_state.h"
#include "rpc/wire/address.h"
#include "rpc/wire/utf8.h"

/* shortest interval between two reports of the list of servers to the tracker */
#define RENAME_MS 1000

int proxy_tracker_open(struct proxy *p)
{
	const struct tenon_rpc_proxy_options *o = p->options;
	struct registration_options r = {
		.tracker = o->tracker,
		.name = p->name,
		.slots = REGISTRATION_SLOTS_MOST,
		.host = o->advertise_host,
		.port = o->advertise_port,
		.say = o->say,
		.context = o->context,
	};
	unsigned int i;
	int port;

	for (i = 0; i < p->listener_count && !r.port; i++) {
		port = address_port(p->listeners[i]);
		if (port > 0)
			r.port = (uint16_t)port;
	}
	if (!r.port)
		return tenon_error(-TENON_E_VALUE,
				   "tracker %s: clients need a TCP port; add --listen HOST:PORT",
				   o->tracker);
	snprintf(p->name, sizeof(p->name), "proxy[]");
	p->registered = true;
	return registration_init(&p->registration, &r);
}

void proxy_tracker_close(struct proxy *p)
{
	if (p->registered)
		registration_fini(&p->registration);
	p->registered = false;
}

/* ---- servers */

/*
 * Test a key. A tracker closes the connection, and drops all offers, if text is not UTF-8 or has
 * control characters.
 */
static bool is_fit(const char *key)
{
	char repaired[REGISTRATION_KEY_MOST + 1];
	size_t size = strlen(key), i;

	if (!size || size > REGISTRATION_KEY_MOST || strpbrk(key, ":\"\\"))
		return false;
	for (i = 0; i < size; i++)
		if ((unsigned char)key[i] < ' ' || key[i] == 0x7f)
			return false;
	memcpy(repaired, key, size + 1);
	utf8_repair(repaired, size);
	return !strcmp(repaired, key);
}

/* False for a key that is too long. */
static bool copy_key(const struct proxied *c, char *key, size_t size)
{
	struct tenon_slice found = proxied_key(c);

	if (found.size >= size)
		return false;
	memcpy(key, found.data, found.size);
	key[found.size] = '\0';
	return true;
}

bool proxy_tracker_add(struct proxy *p, struct proxied *server)
{
	char key[REGISTRATION_KEY_MOST + 1];

	if (!copy_key(server, key, sizeof(key)) || !is_fit(key))
		return false;
	server->slot = registration_add(&p->registration, key);
	if (server->slot < 0)
		return false;
	p->offered[server->slot] = server;
	p->renamed = true;
	return true;
}

struct proxied *proxy_tracker_take(struct proxy *p, const struct proxied *client)
{
	char key[MATCH_KEY_MOST];
	struct proxied *server;
	int slot;

	slot = copy_key(client, key, sizeof(key)) ? registration_take(&p->registration, key) : -1;
	if (slot < 0)
		return NULL;
	server = p->offered[slot];
	server->slot = -1;
	p->offered[slot] = NULL;
	p->renamed = true;
	return server->closing ? NULL : server;
}

void proxy_tracker_forget(struct proxy *p, struct proxied *c)
{
	if (c->slot < 0)
		return;
	registration_drop(&p->registration, c->slot);
	p->offered[c->slot] = NULL;
	c->slot = -1;
	p->renamed = true;
}

/* ---- the name in lists */

static bool is_first(const struct proxy *p, unsigned int slot, struct tenon_slice key)
{
	unsigned int i;

	for (i = 0; i < slot; i++)
		if (p->offered[i] && tenon_slice_equal(proxied_key(p->offered[i]), key))
			return false;
	return true;
}

/* "proxy[a,b]", as TVM's; "..." stands for what has no room. */
static void rename_proxy(struct proxy *p)
{
	char name[sizeof(p->name)];
	size_t n = (size_t)snprintf(name, sizeof(name), "proxy[");
	const char *comma = "";
	unsigned int i;

	for (i = 0; i < REGISTRATION_SLOTS_MOST; i++) {
		struct tenon_slice key;

		if (!p->offered[i])
			continue;
		key = proxied_key(p->offered[i]);
		if (!is_first(p, i, key))
			continue;
		if (n + key.size + sizeof(",,...]") > sizeof(name)) {
			n += (size_t)snprintf(name + n, sizeof(name) - n, "%s...", comma);
			break;
		}
		n += (size_t)snprintf(name + n, sizeof(name) - n, "%s%.*s", comma, (int)key.size,
				      key.data);
		comma = ",";
	}
	snprintf(name + n, sizeof(name) - n, "]");
	p->renamed = false;
	p->rename_at = clock_ms() + RENAME_MS;
	if (!strcmp(name, p->name))
		return;
	memcpy(p->name, name, sizeof(name));
	registration_rename(&p->registration, p->name);
}

/* ---- the loop */

struct pollfd proxy_tracker_polled(const struct proxy *p)
{
	return p->registered ? registration_polled(&p->registration) : (struct pollfd){ -1, 0, 0 };
}

int proxy_tracker_timeout(const struct proxy *p, int timeout)
{
	uint64_t now = clock_ms(), at;
	int left;

	if (!p->registered)
		return timeout;
	at = registration_deadline(&p->registration);
	if (p->renamed && p->rename_at < at)
		at = p->rename_at;
	left = at <= now ? 0 : at - now > 60000 ? 60000 : (int)(at - now) + 1;
	return timeout < 0 || left < timeout ? left : timeout;
}

void proxy_tracker_step(struct proxy *p, short events)
{
	if (!p->registered)
		return;
	if (p->renamed && clock_ms() >= p->rename_at)
		rename_proxy(p);
	registration_step(&p->registration, events);
}
