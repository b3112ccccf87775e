/* SPDX-License-Identifier: MIT */
/* Read requests, serve each by its handler, and send the reply or exception. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/string.h>
#include <time.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "lib/trace.h"
#include "rpc/server/session_state.h"
#include "rpc/wire/utf8.h"

/* memory of a reply that is kept for the next one */
#define REPLY_KEPT (1U << 20)

/* ---- replies */

static void begin_reply(struct session *s)
{
	if (s->reply.room > REPLY_KEPT)
		tenon_buffer_fini(&s->reply);
	s->reply.size = 0;
	s->reply.status = 0;
	s->reply_data = (struct tenon_slice){ 0 };
	session_rest_drop(s);
}

void session_reply(struct session *s, const struct wire_value *values, uint32_t count)
{
	size_t start = packet_begin(&s->reply, PACKET_RETURN);

	wire_write_sequence(&s->reply, session_encoding(s), values, count);
	packet_end(&s->reply, start, 0);
}

static void reply_none(struct session *s)
{
	struct wire_value none = wire_none();

	/* of DevSetDevice, whose result clients discard: a void of the wrong encoding breaks them */
	if (s->generation == WIRE_UNDECIDED) {
		none.kind = WIRE_DEVICE;
		none.as.device = (DLDevice){ kDLCPU, 0 };
	}
	session_reply(s, &none, 1);
}

static void reply_handle(struct session *s, uint64_t number)
{
	struct wire_value value = wire_pointer(number);

	session_reply(s, &value, 1);
}

/* Replace the reply by the thread's error. */
static void reply_error(struct session *s)
{
	const char *message = tenon_error_message();
	struct wire_value text = wire_string(*message ? message : tenon_error_kind());
	size_t start;

	begin_reply(s);
	start = packet_begin(&s->reply, PACKET_EXCEPTION);
	wire_write_sequence(&s->reply, session_encoding(s), &text, 1);
	packet_end(&s->reply, start, 0);
	if (!s->reply.status)
		utf8_repair(s->reply.data + s->reply.size - text.as.text.size, text.as.text.size);
	tenon_error_clear();
}

/* ---- requests */

static bool is_local_constructor(const struct wire_sequence *args)
{
	return args->values[0].kind == WIRE_STRING &&
	       slice_is(args->values[0].as.text, "rpc.LocalSession");
}

static int init_server(struct session *s)
{
	const struct packet *p = &s->packet;

	if (!slice_is(p->version, PACKET_VERSION))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the client speaks version \"%.*s\" of the protocol, the server "
				   "%s",
				   slice_shown(p->version, 40), p->version.data, PACKET_VERSION);
	if (s->initialised)
		return tenon_error(-TENON_E_USAGE, "InitServer was received before");
	if (p->args.count && !is_local_constructor(&p->args))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "this server constructs sessions of kind rpc.LocalSession only");
	s->initialised = true;
	/* an empty sequence is the same in both encodings, and clients ignore it */
	session_reply(s, NULL, 0);
	return 0;
}

static int get_function(struct session *s)
{
	struct handle entry = { .kind = HANDLE_FUNCTION };
	struct tenon_function *function;
	uint64_t number = 0;
	int err = session_find_function(s, s->packet.args.values[0].as.text, &function);

	if (err)
		return err;
	entry.object = function;
	if (function)
		err = handle_add(&s->handles, &entry, &number);
	if (err) {
		tenon_object_unref(function);
		return err;
	}
	reply_handle(s, number);
	return 0;
}

static int free_handle(struct session *s)
{
	int err = handle_free(&s->handles, s->packet.args.values[0].as.handle, HANDLE_OBJECTS);

	if (!err)
		reply_none(s);
	return err;
}

static int none_after(struct session *s, int (*run)(struct session *s))
{
	int err = run(s);

	if (!err && !s->reply.size)
		reply_none(s);
	return err;
}

static int run_request(struct session *s)
{
	static int (*const runs[PACKET_CODES])(struct session * s) = {
		[PACKET_INIT] = init_server,
		[PACKET_CALL] = session_call,
		[PACKET_COPY_FROM] = session_copy_from,
		[PACKET_COPY_TO] = session_copy_to,
		[PACKET_GET_FUNCTION] = get_function,
		[PACKET_FREE_HANDLE] = free_handle,
		[PACKET_SET_DEVICE] = session_set_device,
		[PACKET_GET_ATTRIBUTE] = session_get_attribute,
		[PACKET_ALLOC] = session_alloc,
		[PACKET_FREE] = session_free,
		[PACKET_SYNC] = session_sync,
		[PACKET_COPY_AMONG] = session_copy_among,
		[PACKET_ALLOC_TENSOR] = session_alloc_tensor,
		[PACKET_CREATE_STREAM] = session_create_stream,
		[PACKET_FREE_STREAM] = session_free_stream,
		[PACKET_SET_STREAM] = session_set_stream,
		[PACKET_CURRENT_STREAM] = session_current_stream,
	};
	uint32_t code = s->packet.code;

	if (code != PACKET_INIT && !s->initialised)
		return tenon_error(-TENON_E_USAGE, "%s before InitServer", packet_name(code));
	return none_after(s, runs[code]);
}

static void set_state(struct session *s, enum session_state state)
{
	struct timespec now;

	if (state == SESSION_RECEIVING) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		atomic_store(&s->watch->since,
			     (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
	}
	atomic_store(&s->watch->state, state);
}

static int send_reply(struct session *s)
{
	struct tenon_slice reply = { s->reply.data, s->reply.size };
	int err;

	if (s->reply.status)
		return s->reply.status;
	set_state(s, SESSION_REPLYING);
	err = stream_write(&s->stream, reply, s->reply_data);
	if (!err)
		err = session_rest_send(s);
	set_state(s, SESSION_IDLE);
	return err;
}

static void receiving(void *context)
{
	set_state(context, SESSION_RECEIVING);
}

/* A call of the function that writes files. */
static bool is_upload(struct session *s, uint64_t number)
{
	struct handle *handle;

	if (!s->upload || s->generation == WIRE_UNDECIDED)
		return false;
	if (!handle_find(&s->handles, number, HANDLE_FUNCTION, &handle))
		return handle->object == s->upload;
	tenon_error_clear();
	return false;
}

/* The next bytes of the stream are those of a packet that need not be kept as a whole. */
static bool is_received_in_parts(struct session *s)
{
	struct tenon_cursor c;
	uint64_t number = 0;
	uint32_t code = 0;

	if (!s->initialised || stream_ahead(&s->stream, 12) <= 0)
		return false;
	c = tenon_cursor_of(s->stream.buffer + s->stream.start, 12, "packet", 0);
	tenon_cursor_u32(&c, &code);
	tenon_cursor_u64(&c, &number);
	return code == PACKET_COPY_TO || (code == PACKET_CALL && is_upload(s, number));
}

/*
 * Until a request has shown the encoding, the server may answer in the session's place, if no byte
 * of that request was read (peer_ended.c). So announce the first read before it happens.
 */
static int announce(struct session *s)
{
	int err;

	if (s->generation != WIRE_UNDECIDED || s->stream.start != s->stream.end)
		return 0;
	err = connection_await(s->stream.connection);
	if (!err)
		set_state(s, SESSION_RECEIVING);
	return err;
}

/*
 * Read a packet. Of an upload or a copy that exceeds the stream's buffer, read what fits there: the name
 * of the file, or the tensor, and the first of its bytes. @s->more bytes follow.
 */
static enum stream_result receive(struct session *s, struct tenon_slice *out)
{
	enum stream_result result;
	uint64_t size;

	s->more = 0;
	if (announce(s))
		return STREAM_BROKEN;
	result = stream_begin_packet(&s->stream, receiving, s, &size);
	if (result != STREAM_PACKET)
		return result;
	if (size <= STREAM_BUFFER || !is_received_in_parts(s))
		return stream_read_body(&s->stream, size, out);
	if (stream_ahead(&s->stream, STREAM_BUFFER) <= 0)
		return STREAM_BROKEN;
	*out = (struct tenon_slice){ s->stream.buffer, STREAM_BUFFER };
	s->stream.start = STREAM_BUFFER;
	s->more = size - STREAM_BUFFER;
	return STREAM_PACKET;
}

/* Read what a failed request left. */
static int discard_rest(struct session *s)
{
	struct tenon_slice bytes;
	int err = 0;

	while (s->more && !err)
		err = stream_read_part(&s->stream, &s->more, &bytes);
	return err;
}

static int read_request(struct session *s, struct tenon_slice bytes)
{
	if (s->more)
		return packet_read_head(bytes, s->more, s->generation, &s->packet);
	return packet_read(bytes, s->generation, &s->packet);
}

/* Answer one packet. Sets @done for the last one. */
static int answer(struct session *s, struct tenon_slice bytes, bool *done)
{
	const uint64_t size = bytes.size + s->more;
	uint64_t begin;
	int err;

	if (!s->more)
		set_state(s, SESSION_WORKING);
	begin_reply(s);
	/* the client counts too, and uses the handle before it gets the reply */
	if (s->options->extension)
		handle_table_set(&s->handles, s->requests);
	s->requests++;
	err = read_request(s, bytes);
	if (!err)
		s->generation = s->packet.generation;
	atomic_store(&s->watch->generation, s->generation);
	*done = !err && s->packet.code == PACKET_SHUTDOWN;
	if (*done) {
		/* the process ends in order */
		set_state(s, SESSION_IDLE);
		return 0;
	}
	begin = tenon_trace_now();
	if (!err)
		err = s->more && s->packet.code == PACKET_CALL ? session_receive_file(s)
							       : run_request(s);
	trace_add("request", tenon_slice_of(packet_name(s->packet.code)), size, begin);
	if (discard_rest(s))
		return -TENON_E_IO;
	if (err || s->reply.status)
		reply_error(s);
	return send_reply(s);
}

static int serve(struct session *s)
{
	struct tenon_slice bytes;
	bool done = false;
	int err = 0;

	while (!err && !done) {
		switch (receive(s, &bytes)) {
		case STREAM_PACKET:
			err = answer(s, bytes, &done);
			break;
		case STREAM_END:
			return 0;
		case STREAM_BROKEN:
			return -TENON_E_IO;
		case STREAM_TOO_LARGE:
			/* the packet's end cannot be found, so this is the last reply */
			reply_error(s);
			send_reply(s);
			return -TENON_E_FORMAT;
		}
	}
	return err;
}

int session_run(struct connection *connection, const char *folder,
		const struct session_options *options, struct session_watch *watch)
{
	struct session_watch own = { 0 };
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a session");
	s->options = options;
	s->watch = watch ? watch : &own;
	s->folder = folder;
	s->rest.fd = -1;
	s->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream_init(&s->stream, connection, options->packet_most);
	err = s->folder_fd < 0 ? tenon_error(-TENON_E_IO, "cannot open the folder %s", folder)
			       : serve(s);
	handle_table_fini(&s->handles);
	session_trace_drop(s);
	tenon_object_unref(s->upload);
	tenon_object_unref(s->download);
	tenon_object_unref(s->linked);
	packet_fini(&s->packet);
	tenon_buffer_fini(&s->reply);
	stream_fini(&s->stream);
	session_rest_drop(s);
	free(s->args);
	free(s->tensors);
	if (s->folder_fd >= 0)
		close(s->folder_fd);
	free(s);
	return err;
}
