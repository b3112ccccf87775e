/* SPDX-License-Identifier: MIT */
/*
 * The reply to SUMMARY: what TVM's tools read ("queue_info", "server_info"), and under "tenon" and further keys
 * what "tenon rpc tracker status" shows.
 */
#include <inttypes.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/clock.h"
#include "lib/json_quote.h"
#include "lib/number.h"
#include "rpc/tracker/tracker_state.h"

/* TVM's clients refuse a larger frame */
#define SUMMARY_MOST (1 << 20)

static void write_queues(const struct tracker *t, struct tenon_buffer *out)
{
	unsigned int i;

	tenon_buffer_printf(out, "\"queue_info\": {");
	for (i = 0; i < t->queues.count; i++) {
		const struct tracker_queue *q = t->queues.queues[i];
		unsigned int free = tracker_queue_free(q);

		tenon_buffer_printf(out, "%s", i ? ", " : "");
		json_quote(out, tenon_slice_of(q->key));
		tenon_buffer_printf(
			out,
			": {\"free\": %u, \"pending\": %u, \"out\": %u, \"served\": %" PRIu64 "}",
			free, q->request_count, q->server_count - free, q->served);
	}
	tenon_buffer_printf(out, "}");
}

static void write_server(const struct tracker_peer *c, struct tenon_buffer *out)
{
	tenon_buffer_printf(out, "{\"key\": ");
	json_quote(out, tenon_slice_of(c->key));
	tenon_buffer_printf(out, ", \"addr\": [");
	json_quote(out, tenon_slice_of(c->host ? c->host : c->address));
	tenon_buffer_printf(out, ", %u], \"free\": %u", c->port, c->puts);
	if (c->health) {
		tenon_buffer_printf(out, ", \"health\": ");
		json_quote(out, tenon_slice_of(c->health));
	}
	tenon_buffer_printf(out, "}");
}

static void write_servers(const struct tracker *t, struct tenon_buffer *out)
{
	const char *between = "";
	unsigned int i;

	tenon_buffer_printf(out, "\"server_info\": [");
	for (i = 0; i < t->connection_count; i++) {
		const struct tracker_peer *c = t->connections[i];

		if (!c->key || strncmp(c->key, "server", 6))
			continue;
		tenon_buffer_printf(out, "%s", between);
		write_server(c, out);
		between = ", ";
	}
	tenon_buffer_printf(out, "]");
}

static void write_unhealthy(const struct tracker *t, struct tenon_buffer *out)
{
	const char *between = "";
	unsigned int i, j;

	tenon_buffer_printf(out, "\"out\": [");
	for (i = 0; i < t->queues.count; i++) {
		const struct tracker_queue *q = t->queues.queues[i];

		for (j = 0; j < q->server_count; j++) {
			const struct tracker_server *s = q->servers[j];

			if (!s->unhealthy)
				continue;
			tenon_buffer_printf(out, "%s{\"key\": ", between);
			json_quote(out, tenon_slice_of(q->key));
			tenon_buffer_printf(out, ", \"addr\": [");
			json_quote(out, tenon_slice_of(s->host));
			tenon_buffer_printf(out, ", %u], \"reason\": ", s->port);
			json_quote(out, tenon_slice_of(s->unhealthy));
			tenon_buffer_printf(out, "}");
			between = ", ";
		}
	}
	tenon_buffer_printf(out, "]");
}

static void write_waiting(const struct tracker *t, struct tenon_buffer *out)
{
	const uint64_t now = clock_ms();
	const char *between = "";
	char number[NUMBER_ROOM];
	unsigned int i, j;

	tenon_buffer_printf(out, "\"waiting\": [");
	for (i = 0; i < t->queues.count; i++) {
		const struct tracker_queue *q = t->queues.queues[i];

		for (j = 0; j < q->request_count; j++) {
			const struct tracker_request *r = q->requests[j];

			tenon_buffer_printf(out, "%s{\"key\": ", between);
			json_quote(out, tenon_slice_of(q->key));
			tenon_buffer_printf(out, ", \"user\": ");
			json_quote(out, tenon_slice_of(r->user));
			tenon_buffer_printf(out, ", \"priority\": %s, \"ms\": %" PRIu64 "}",
					    number_print(number, 9, r->priority), now - r->since);
			between = ", ";
		}
	}
	tenon_buffer_printf(out, "]");
}

static void write_all(const struct tracker *t, struct tenon_buffer *out, bool details)
{
	out->size = 0;
	tenon_buffer_printf(out, "[0, {");
	write_queues(t, out);
	tenon_buffer_printf(out, ", ");
	if (details)
		write_servers(t, out);
	else
		tenon_buffer_printf(out, "\"server_info\": []");
	tenon_buffer_printf(out,
			    ", \"tenon\": {\"version\": \"%s\", \"uptime_ms\": %" PRIu64
			    ", \"connections\": %u",
			    TENON_VERSION_TEXT, clock_ms() - t->started, t->connection_count);
	if (details) {
		tenon_buffer_printf(out, ", ");
		write_unhealthy(t, out);
		tenon_buffer_printf(out, ", ");
		write_waiting(t, out);
	}
	tenon_buffer_printf(out, "}}]");
}

void tracker_summary(struct tracker *t, struct tenon_buffer *out)
{
	write_all(t, out, true);
	if (!out->status && out->size > SUMMARY_MOST)
		write_all(t, out, false);
}
