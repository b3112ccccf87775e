/* SPDX-License-Identifier: MIT */
/* Sessions by address: connect once, share, and end them with their last user. */
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "rpc/client/rpc.h"

#define TRACKER	   "rpc+tracker://"
#define CONNECT_MS 10000
/* a server that others have may take a while */
#define TRACKER_MS 600000
/* longer than a request takes in a server with the default limits */
#define SILENCE_MS 900000
/* the end of a session waits so long for its server */
#define CLOSE_MS 1000

/* largest packet that a server may send */
#define PACKET_MOST (UINT64_C(4) << 30)

/* ---- the list of sessions of the process */

static pthread_mutex_t sessions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rpc *sessions;

static void add_session(struct rpc *r)
{
	struct rpc *other;

	pthread_mutex_lock(&sessions_lock);
	/* the lowest number that is free: devices are named by it, and reopened by the next */
	do {
		r->slot++;
		for (other = sessions; other && other->slot != r->slot;)
			other = other->next;
	} while (other);
	r->next = sessions;
	sessions = r;
	pthread_mutex_unlock(&sessions_lock);
}

static void remove_session(struct rpc *r)
{
	struct rpc **at;

	pthread_mutex_lock(&sessions_lock);
	for (at = &sessions; *at && *at != r;)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	pthread_mutex_unlock(&sessions_lock);
}

/* Reference a session of the list unless its last reference is just being dropped. */
static struct rpc *take(struct rpc *r)
{
	return r && tenon_object_promote(r) ? r : NULL;
}

struct rpc *rpc_session_at(uint32_t slot)
{
	struct rpc *r;

	pthread_mutex_lock(&sessions_lock);
	for (r = sessions; r && r->slot != slot;)
		r = r->next;
	r = take(r);
	pthread_mutex_unlock(&sessions_lock);
	return r;
}

struct rpc *rpc_session_after(uint32_t slot)
{
	struct rpc *r, *next;

	pthread_mutex_lock(&sessions_lock);
	do {
		next = NULL;
		for (r = sessions; r; r = r->next)
			if (r->slot > slot && (!next || r->slot < next->slot))
				next = r;
		slot = next ? next->slot : slot;
	} while (next && !take(next));
	pthread_mutex_unlock(&sessions_lock);
	return next;
}

/* how a session was asked for: what differs in any of these is another session */
struct wanted {
	const char *address;
	const char *key;
	const char *secret_file;
};

static bool is_same(const struct wanted *a, const struct wanted *b)
{
	return !strcmp(a->address, b->address) && !strcmp(a->key, b->key) &&
	       !strcmp(a->secret_file, b->secret_file);
}

static bool fits(const struct rpc *r, const struct wanted *w)
{
	const struct wanted own = { r->address, r->key, r->secret_file };

	return r->opened_by_name && r->connection && is_same(&own, w);
}

/* a thread that connects to a server for a device */
struct connecting {
	struct wanted wanted;
	struct connecting *next;
};

static struct connecting *connecting; /* under sessions_lock */
static pthread_cond_t connected = PTHREAD_COND_INITIALIZER;

static bool is_connecting(const struct wanted *w)
{
	const struct connecting *c;

	for (c = connecting; c; c = c->next)
		if (is_same(&c->wanted, w))
			return true;
	return false;
}

static struct rpc *find_session(const struct wanted *w)
{
	struct rpc *r;

	for (r = sessions; r && !fits(r, w);)
		r = r->next;
	return take(r);
}

static void remove_connecting(const struct connecting *c)
{
	struct connecting **at;

	for (at = &connecting; *at != c;)
		at = &(*at)->next;
	*at = c->next;
}

int rpc_session_of_name(const char *address, const struct tenon_remote_options *options,
			struct rpc **out)
{
	struct connecting c = { .wanted = { address, options->key,
					    options->secret_file ? options->secret_file : "" } };
	struct tenon_remote *remote;
	int err;

	pthread_mutex_lock(&sessions_lock);
	/* servers of TVM serve one client at a time: a second connection would wait for the first */
	while (!(*out = find_session(&c.wanted)) && is_connecting(&c.wanted))
		pthread_cond_wait(&connected, &sessions_lock);
	if (*out) {
		pthread_mutex_unlock(&sessions_lock);
		return 0;
	}
	c.next = connecting;
	connecting = &c;
	pthread_mutex_unlock(&sessions_lock);
	err = rpc_connect(address, options, &remote);
	pthread_mutex_lock(&sessions_lock);
	remove_connecting(&c);
	if (!err) {
		*out = rpc_of(remote);
		(*out)->opened_by_name = true;
	}
	pthread_cond_broadcast(&connected);
	pthread_mutex_unlock(&sessions_lock);
	return err;
}

/* ---- the object */

/* Send the shutdown request. Replies that are still to come are not read. */
static void close_session(struct tenon_remote *remote)
{
	struct rpc *r = rpc_of(remote);
	size_t start;

	remove_session(r);
	pthread_mutex_lock(&r->lock);
	rpc_trace_end(r, connection_deadline(CLOSE_MS));
	if (r->connection) {
		start = packet_begin(&r->out, PACKET_SHUTDOWN);
		packet_end(&r->out, start, 0);
		if (!r->out.status) {
			struct iovec part = { r->out.data, r->out.size };

			r->connection->deadline = connection_deadline(CLOSE_MS);
			connection_write(r->connection, &part, 1);
		}
		r->reason = strdup("it was closed");
		rpc_fail(r, -TENON_E_LOST);
		tenon_error_clear();
	}
	pthread_mutex_unlock(&r->lock);
}

static void session_free(struct rpc *r)
{
	tenon_buffer_fini(&r->out);
	wire_sequence_fini(&r->reply);
	stream_fini(&r->stream);
	pthread_mutex_destroy(&r->lock);
	free(r->address);
	free(r->key);
	free(r->secret_file);
	free(r->server);
	free(r->reason);
	free(r->failure);
	free(r->freed);
	free(r->values);
	free(r->tensors);
	free(r);
}

static void session_delete(void *self, int flags)
{
	struct rpc *r = self;

	if (flags & TENON_DELETE_CONTENT)
		close_session(&r->base);
	if (flags & TENON_DELETE_MEMORY)
		session_free(r);
}

static int session_create(const char *address, const struct tenon_remote_options *o,
			  struct rpc **out)
{
	struct rpc *r = calloc(1, sizeof(*r));
	int32_t type;
	int err;

	*out = NULL;
	if (!r)
		return tenon_error(-TENON_E_NOMEM, "no memory for a session");
	err = tenon_type_register("tenon.Remote", TENON_TYPE_OBJECT, &type);
	if (err) {
		free(r);
		return err;
	}
	*out = r;
	tenon_object_init(&r->base.object, type, session_delete);
	pthread_mutex_init(&r->lock, NULL);
	r->base.ops = &rpc_ops;
	r->address = strdup(address);
	r->key = strdup(o->key ? o->key : "");
	r->secret_file = strdup(o->secret_file ? o->secret_file : "");
	r->request_ms = o->request_ms;
	r->tvm_devices = o->tvm_devices;
	r->silence_ms = o->silence_ms == UINT32_MAX ? 0
			: o->silence_ms		    ? o->silence_ms
			: o->request_ms		    ? 0
						    : SILENCE_MS;
	r->progress = o->progress;
	r->progress_context = o->context;
	if (!r->address || !r->key || !r->secret_file)
		return tenon_error(-TENON_E_NOMEM, "no memory for a session");
	return 0;
}

int rpc_connect(const char *address, const struct tenon_remote_options *options,
		struct tenon_remote **out)
{
	struct tenon_remote_options o;
	struct connection *connection;
	struct rpc_match match;
	int err = options_read(options, &o, sizeof(o));
	const uint32_t connect_ms = o.connect_ms ? o.connect_ms : CONNECT_MS;

	*out = NULL;
	if (err)
		return err;
	if (!strncmp(address, TRACKER, strlen(TRACKER))) {
		err = rpc_ask_tracker(address + strlen(TRACKER), o.key ? o.key : "", connect_ms,
				      o.connect_ms ? o.connect_ms : TRACKER_MS, &match);
		address = match.address;
		o.key = match.key;
	}
	if (!err)
		err = connection_open(address, connection_deadline(connect_ms), &connection);
	return err ? err : rpc_connect_over(connection, address, &o, out);
}

int rpc_connect_over(struct connection *connection, const char *address,
		     const struct tenon_remote_options *options, struct tenon_remote **out)
{
	struct tenon_remote_options o;
	struct rpc *r = NULL;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (!o.connect_ms)
		o.connect_ms = CONNECT_MS;
	if (!err)
		err = session_create(address, &o, &r);
	if (r)
		r->connection = connection;
	else
		connection_close(connection);
	if (!err) {
		connection->deadline = connection_deadline(o.connect_ms);
		stream_init(&r->stream, r->connection, PACKET_MOST);
		err = rpc_handshake(r, &o);
	}
	if (!err) {
		connection->deadline = 0;
		connection_limit_silence(connection, r->silence_ms);
	}
	if (err) {
		/* without a good-bye, and without another error */
		if (r)
			connection_close(r->connection);
		if (r)
			r->connection = NULL;
		tenon_object_unref(r);
		return err;
	}
	add_session(r);
	pthread_mutex_lock(&r->lock);
	rpc_trace_begin(r);
	pthread_mutex_unlock(&r->lock);
	*out = &r->base;
	return 0;
}

/* ---- rpc_ops */

static void get_facts(struct tenon_remote *remote, struct tenon_remote_facts *out)
{
	struct rpc *r = rpc_of(remote);

	pthread_mutex_lock(&r->lock);
	*out = (struct tenon_remote_facts){
		.address = r->address,
		.server = r->server,
		.generation = r->generation == WIRE_LEGACY ? TENON_GENERATION_LEGACY
							   : TENON_GENERATION_FFI,
		.pipelined = r->pipelined,
		.requests = r->requests,
		.waits = r->waits,
	};
	pthread_mutex_unlock(&r->lock);
}

static int sync(struct tenon_remote *remote, DLDevice there)
{
	struct wire_value values[2] = { { WIRE_DEVICE, { .device = there } }, wire_pointer(0) };
	struct rpc *r = rpc_of(remote);
	int err;

	pthread_mutex_lock(&r->lock);
	err = rpc_request(r, PACKET_SYNC, 0, values, 2);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* A request that every server answers, and that changes nothing. */
static int ping(struct tenon_remote *remote)
{
	return sync(remote, rpc_cpu());
}

static int wait(struct tenon_remote *remote)
{
	struct rpc *r = rpc_of(remote);
	int err;

	pthread_mutex_lock(&r->lock);
	err = rpc_settle(r);
	pthread_mutex_unlock(&r->lock);
	return err;
}

static int attribute(struct tenon_remote *remote, DLDevice there, int number,
		     struct tenon_value *out)
{
	struct wire_value values[2] = { { WIRE_DEVICE, { .device = there } }, wire_int(number) };
	struct rpc *r = rpc_of(remote);
	const struct wire_value *v;
	int err;

	*out = tenon_arg_none();
	pthread_mutex_lock(&r->lock);
	err = rpc_request(r, PACKET_GET_ATTRIBUTE, 0, values, 2);
	v = r->reply.values;
	if (err || r->reply.count != 1) {
		err = err ? err
			  : rpc_fail(r,
				     tenon_error(-TENON_E_FORMAT, "%s: an attribute of %u values",
						 r->address, r->reply.count));
	} else if (v->kind == WIRE_INT || v->kind == WIRE_BOOL) {
		*out = tenon_arg_int(v->as.integer);
	} else if (v->kind == WIRE_STRING) {
		err = tenon_string_value(v->as.text, out);
	}
	pthread_mutex_unlock(&r->lock);
	return err;
}

const struct remote_ops rpc_ops = {
	.close = close_session,
	.facts = get_facts,
	.ping = ping,
	.send_file = rpc_send_file,
	.upload = rpc_upload,
	.download = rpc_download,
	.remove = rpc_remove,
	.list_files = rpc_list_files,
	.function = rpc_function,
	.list_functions = rpc_list_functions,
	.load = rpc_load,
	.open = rpc_open,
	.device = rpc_device_of,
	.attribute = attribute,
	.time = rpc_time,
	.post = rpc_post_call,
	.wait = wait,
	.sync = sync,
	.open_model = rpc_open_model,
	.time_model = rpc_time_model,
};
