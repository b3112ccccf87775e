/* SPDX-License-Identifier: MIT */
/* Files of the session's folder. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>
#include <tenon/trace.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/sha256.h"
#include "lib/whole_io.h"
#include "rpc/client/rpc.h"

#define UPLOAD "tvm.rpc.server.upload"

/* bytes that are read from a file at a time */
#define PART (UINT64_C(1) << 20)

/* where an upload's bytes come from: memory, or a file */
struct source {
	const char *path;
	int fd;
	uint64_t size;
	const char *data;
	char *part;
};

static int read_part(const struct source *s, void *to, size_t size)
{
	if (read_whole(s->fd, to, size))
		return 0;
	return tenon_error(-TENON_E_IO, "%s: %s", s->path,
			   errno ? strerror(errno) : "the file became shorter");
}

/* The packet's length is sent by now: without the bytes the session cannot go on. */
static int send_bytes(struct rpc *r, const struct source *s, const char *name)
{
	struct iovec part;
	uint64_t at, n;
	int err = 0;

	for (at = 0; at < s->size && !err; at += n) {
		n = s->size - at < PART ? s->size - at : PART;
		if (s->data) {
			part.iov_base = (void *)(uintptr_t)(s->data + at);
		} else {
			part.iov_base = s->part;
			err = read_part(s, s->part, (size_t)n);
		}
		part.iov_len = (size_t)n;
		if (!err)
			err = connection_write(r->connection, &part, 1);
		if (!err && r->progress)
			r->progress(r->progress_context, name, at + n, s->size);
	}
	return err ? rpc_fail(r, err) : 0;
}

/* Call upload(name, bytes) without a copy of the bytes. The caller holds the lock. */
static int upload(struct rpc *r, const char *name, const struct source *s)
{
	struct wire_value values[2] = { wire_string(name), { WIRE_BYTES, { .text = { "", 0 } } } };
	const uint64_t start = tenon_trace_now();
	uint64_t handle;
	int err = rpc_server_function(r, UPLOAD, &handle);

	if (!err)
		err = rpc_begin_large(r, handle, values, 2, s->size);
	if (!err)
		err = send_bytes(r, s, name);
	if (!err)
		err = rpc_end_large(r);
	rpc_trace(r, "upload", start);
	return err;
}

int rpc_upload(struct tenon_remote *remote, const char *name, struct tenon_slice bytes)
{
	const struct source s = { .size = bytes.size, .data = bytes.data };
	struct rpc *r = rpc_of(remote);
	int err;

	pthread_mutex_lock(&r->lock);
	err = upload(r, name, &s);
	pthread_mutex_unlock(&r->lock);
	return err ? tenon_error_in(err, "upload of %s", name) : 0;
}

/* ---- files that the server may have */

static int hash_file(struct source *s, char text[SHA256_TEXT])
{
	struct sha256 hash;
	uint64_t at, n;
	int err = 0;

	sha256_init(&hash);
	for (at = 0; at < s->size && !err; at += n) {
		n = s->size - at < PART ? s->size - at : PART;
		err = read_part(s, s->part, (size_t)n);
		if (!err)
			sha256_add(&hash, s->part, (size_t)n);
	}
	sha256_text(&hash, text);
	if (!err && lseek(s->fd, 0, SEEK_SET) < 0)
		err = tenon_error(-TENON_E_IO, "%s: %s", s->path, strerror(errno));
	return err;
}

/* Ask a server with the extension to take a file that it has. */
static int server_has(struct rpc *r, struct source *s, const char *name, bool *has)
{
	char text[SHA256_TEXT];
	struct wire_value values[3] = { wire_string(name),
					{ WIRE_NONE, { 0 } },
					wire_int((int64_t)s->size) };
	int err;

	*has = false;
	if (!r->pipelined)
		return 0;
	err = hash_file(s, text);
	values[1] = wire_string(text);
	if (!err)
		err = rpc_server_call(r, "tenon.rpc.use_file", values, 3);
	if (err)
		return err;
	*has = r->reply.count == 2 && r->reply.values[1].kind == WIRE_BOOL &&
	       r->reply.values[1].as.integer;
	return 0;
}

static int open_source(const char *path, struct source *s)
{
	struct stat st;

	*s = (struct source){ .path = path };
	/* a named pipe without a writer would keep open() waiting */
	s->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st))
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return tenon_error(-TENON_E_IO, "%s is no file", path);
	s->size = (uint64_t)st.st_size;
	s->part = malloc(PART);
	return s->part ? 0 : tenon_error(-TENON_E_NOMEM, "no memory to read %s", path);
}

int rpc_send_file(struct tenon_remote *remote, const char *path, const char *name, bool *sent)
{
	const char *slash = strrchr(path, '/');
	struct rpc *r = rpc_of(remote);
	struct source s;
	bool has = false;
	int err = open_source(path, &s);

	if (!name)
		name = slash ? slash + 1 : path;
	if (!err) {
		pthread_mutex_lock(&r->lock);
		err = server_has(r, &s, name, &has);
		if (!err && !has)
			err = upload(r, name, &s);
		pthread_mutex_unlock(&r->lock);
	}
	if (sent)
		*sent = !has;
	free(s.part);
	if (s.fd >= 0)
		close(s.fd);
	return err ? tenon_error_in(err, "sending %s to %s", path, r->address) : 0;
}

/* ---- the others */

/* Hand the memory of a large reply over: a file is in memory once. */
static bool take_memory(struct rpc *r, struct tenon_slice text, struct tenon_buffer *out)
{
	struct stream *stream = &r->stream;

	if (out->data || text.size < PART || r->bytes.data != stream->packet)
		return false;
	memmove(stream->packet, text.data, text.size);
	*out = (struct tenon_buffer){ stream->packet, text.size, stream->room, 0 };
	stream->packet = NULL;
	stream->room = 0;
	r->bytes = (struct tenon_slice){ 0 };
	r->reply.count = 0;
	return true;
}

static int text_call(struct rpc *r, const char *function, const char *name,
		     struct tenon_buffer *out)
{
	struct wire_value value = wire_string(name);
	struct tenon_slice text;
	int err;

	pthread_mutex_lock(&r->lock);
	err = rpc_server_call(r, function, &value, 1);
	if (!err && out)
		err = rpc_text_result(r, &text);
	if (!err && out && !take_memory(r, text, out))
		err = tenon_buffer_slice(out, text);
	pthread_mutex_unlock(&r->lock);
	return err;
}

int rpc_download(struct tenon_remote *remote, const char *name, struct tenon_buffer *out)
{
	return text_call(rpc_of(remote), "tvm.rpc.server.download", name, out);
}

int rpc_remove(struct tenon_remote *remote, const char *name)
{
	return text_call(rpc_of(remote), "tvm.rpc.server.remove", name, NULL);
}

int rpc_list_files(struct tenon_remote *remote, const char *folder, struct tenon_buffer *out)
{
	return text_call(rpc_of(remote), "tvm.rpc.server.listdir", folder ? folder : ".", out);
}
