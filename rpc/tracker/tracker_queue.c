/* SPDX-License-Identifier: MIT */
/* Match waiting clients with free servers, by priority and in turns of users. */
#include "rpc/tracker/tracker_queue.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/array_room.h"

static void take_out(void *pointers, unsigned int *count, unsigned int i)
{
	void **list = *(void ***)pointers;

	memmove(list + i, list + i + 1, (--*count - i) * sizeof(*list));
}

static char *copy_text(struct tenon_slice text)
{
	return strndup(text.data ? text.data : "", text.size);
}

void tracker_server_free(struct tracker_server *server)
{
	if (!server)
		return;
	free(server->host);
	free(server->match_key);
	free(server->unhealthy);
	free(server);
}

void tracker_request_free(struct tracker_request *request)
{
	if (!request)
		return;
	free(request->user);
	free(request);
}

static void queue_free(struct tracker_queue *q)
{
	while (q->server_count)
		tracker_server_free(q->servers[--q->server_count]);
	while (q->request_count)
		tracker_request_free(q->requests[--q->request_count]);
	free(q->servers);
	free(q->requests);
	free(q->key);
	free(q);
}

void tracker_queues_fini(struct tracker_queues *all)
{
	while (all->count)
		queue_free(all->queues[--all->count]);
	free(all->queues);
	memset(all, 0, sizeof(*all));
}

/* Keys stay listed when they are unused, as in TVM's tracker, until there are too many. */
static bool drop_unused(struct tracker_queues *all)
{
	unsigned int i;

	for (i = 0; i < all->count; i++) {
		if (all->queues[i]->server_count || all->queues[i]->request_count)
			continue;
		queue_free(all->queues[i]);
		take_out(&all->queues, &all->count, i);
		return true;
	}
	return false;
}

struct tracker_queue *tracker_queue_of(struct tracker_queues *all, struct tenon_slice key)
{
	struct tracker_queue *q;
	unsigned int i;

	for (i = 0; i < all->count; i++)
		if (tenon_slice_equal(tenon_slice_of(all->queues[i]->key), key))
			return all->queues[i];
	if (all->count >= TRACKER_KEYS_MOST && !drop_unused(all))
		return NULL;
	q = calloc(1, sizeof(*q));
	if (!q || !array_reserve(all->queues, all->room, all->count + 1)) {
		free(q);
		return NULL;
	}
	q->key = copy_text(key);
	if (!q->key) {
		free(q);
		return NULL;
	}
	all->queues[all->count++] = q;
	return q;
}

struct tracker_server *tracker_queue_put(struct tracker_queue *q, void *owner,
					 struct tenon_slice host, uint16_t port,
					 struct tenon_slice match_key)
{
	struct tracker_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->owner = owner;
	server->host = copy_text(host);
	server->port = port;
	server->match_key = copy_text(match_key);
	if (!server->host || !server->match_key ||
	    !array_reserve(q->servers, q->server_room, q->server_count + 1)) {
		tracker_server_free(server);
		return NULL;
	}
	q->servers[q->server_count++] = server;
	return server;
}

/*
 * Get the turn of a user's next request: after the user's waiting requests, and not before the last
 * turn served.
 */
static uint64_t next_turn(const struct tracker_queue *q, const char *user)
{
	uint64_t turn = q->turn;
	unsigned int i;

	for (i = 0; i < q->request_count; i++)
		if (q->requests[i]->turn >= turn && !strcmp(q->requests[i]->user, user))
			turn = q->requests[i]->turn;
	return turn + 1;
}

struct tracker_request *tracker_queue_request(struct tracker_queue *q, void *owner,
					      struct tenon_slice user, double priority)
{
	struct tracker_request *request = calloc(1, sizeof(*request));

	if (!request)
		return NULL;
	request->user = copy_text(user);
	if (!request->user || !array_reserve(q->requests, q->request_room, q->request_count + 1)) {
		tracker_request_free(request);
		return NULL;
	}
	request->owner = owner;
	request->priority = priority;
	request->turn = next_turn(q, request->user);
	request->serial = ++q->serial;
	q->requests[q->request_count++] = request;
	return request;
}

static bool is_before(const struct tracker_request *a, const struct tracker_request *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->turn != b->turn)
		return a->turn < b->turn;
	return a->serial < b->serial;
}

struct tracker_request *tracker_queue_match(struct tracker_queue *q, struct tracker_server **server)
{
	struct tracker_request *request;
	unsigned int i, first = 0, healthy;

	for (healthy = 0; healthy < q->server_count; healthy++)
		if (!q->servers[healthy]->unhealthy)
			break;
	if (healthy == q->server_count || !q->request_count)
		return NULL;
	for (i = 1; i < q->request_count; i++)
		if (is_before(q->requests[i], q->requests[first]))
			first = i;
	request = q->requests[first];
	take_out(&q->requests, &q->request_count, first);
	*server = q->servers[healthy];
	take_out(&q->servers, &q->server_count, healthy);
	if (request->turn > q->turn)
		q->turn = request->turn;
	q->served++;
	return request;
}

bool tracker_queue_give_back(struct tracker_queue *q, struct tracker_server *server)
{
	if (!array_reserve(q->servers, q->server_room, q->server_count + 1))
		return false;
	memmove(q->servers + 1, q->servers, q->server_count++ * sizeof(*q->servers));
	q->servers[0] = server;
	q->served--;
	return true;
}

void tracker_queue_remove_request(struct tracker_queue *q, unsigned int i)
{
	tracker_request_free(q->requests[i]);
	take_out(&q->requests, &q->request_count, i);
}

void tracker_queues_forget(struct tracker_queues *all, const void *owner)
{
	unsigned int i, j;

	for (i = 0; i < all->count; i++) {
		struct tracker_queue *q = all->queues[i];

		for (j = q->server_count; j-- > 0;) {
			if (q->servers[j]->owner != owner)
				continue;
			tracker_server_free(q->servers[j]);
			take_out(&q->servers, &q->server_count, j);
		}
		for (j = q->request_count; j-- > 0;)
			if (q->requests[j]->owner == owner)
				tracker_queue_remove_request(q, j);
	}
}

unsigned int tracker_queue_free(const struct tracker_queue *q)
{
	unsigned int i, count = 0;

	for (i = 0; i < q->server_count; i++)
		count += !q->servers[i]->unhealthy;
	return count;
}
