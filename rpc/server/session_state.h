/* SPDX-License-Identifier: MIT */
/* What the files that make a session share. */
#ifndef RPC_SERVER_SESSION_STATE_H
#define RPC_SERVER_SESSION_STATE_H

#include <tenon/function.h>
#include <tenon/tensor.h>

#include "rpc/server/handle_table.h"
#include "rpc/server/session.h"
#include "rpc/wire/packet.h"
#include "rpc/wire/stream.h"
#include "runtime/core/arguments.h"

struct session;

/**
 * struct session_rest - what is left of a reply that is read while it is sent
 * @left: bytes that were not read yet
 * @next: read the next bytes; NULL for a reply that was made as a whole
 * @part: where they are read to
 * @fd: a file; or -1
 * @from: bytes of a device's memory
 */
struct session_rest {
	uint64_t left;
	int (*next)(struct session *s, void *part, size_t size);
	void *part;
	int fd;
	DLTensor from;
};

/**
 * struct session - a session
 * @stream: the connection
 * @options: limits
 * @watch: state for the server; never NULL
 * @folder: path of the session's folder
 * @folder_fd: the folder
 * @folder_used: bytes of uploaded files
 * @memory_used: bytes of tensors that the client allocated
 * @generation: encoding of the client
 * @initialised: InitServer was answered
 * @traced: the client has a trace recorded
 * @requests: number of requests so far
 * @handles: the client's handles
 * @upload: the function tvm.rpc.server.upload, if the client asked for it
 * @download: tvm.rpc.server.download
 * @linked: tvm.rpc.server.download_linked_module
 * @packet: the current request
 * @more: bytes of the current request that were not read yet
 * @args: arguments of the current call
 * @tensors: tensors that @args refer to
 * @args_room: number of each allocated
 * @reply: the reply
 * @reply_data: bytes that follow @reply, not copied
 * @rest: what follows @reply_data, and memory for both
 */
struct session {
	struct stream stream;
	const struct session_options *options;
	struct session_watch *watch;
	const char *folder;
	int folder_fd;
	uint64_t folder_used;
	uint64_t memory_used;
	enum wire_generation generation;
	bool initialised;
	bool traced;
	uint64_t requests;
	struct handle_table handles;
	struct tenon_function *upload;
	struct tenon_function *download;
	struct tenon_function *linked;
	struct packet packet;
	uint64_t more;
	struct tenon_value *args;
	DLTensor *tensors;
	uint32_t args_room;
	struct tenon_buffer reply;
	struct tenon_slice reply_data;
	struct session_rest rest;
};

/** session_encoding - encoding of replies: that of the client, or the default while undecided */
static inline enum wire_generation session_encoding(const struct session *s)
{
	return s->generation == WIRE_UNDECIDED ? WIRE_FFI : s->generation;
}

/** session_reply - write a Return packet with the values */
void session_reply(struct session *s, const struct wire_value *values, uint32_t count);

/** session_reply_none - write the reply of a call without a result */
void session_reply_none(struct session *s);

/**
 * session_receive_file - run a call of tvm.rpc.server.upload whose last @s->more bytes were not read
 *
 * The bytes go from the connection to the file, so that a session needs no memory for the largest one.
 *
 * Return: 0, or the error to be sent; @s->more bytes are left to be read.
 */
int session_receive_file(struct session *s);

/** session_reply_bytes - write the reply of a call whose result is @size bytes, which follow in @s->reply_data and @s->rest */
void session_reply_bytes(struct session *s, uint64_t size);

/* ---- session_rest.c: a failure after the first part ends the session, since the length of the reply was sent */

/** session_rest_of_device - have memory of a device follow the reply */
int session_rest_of_device(struct session *s, const DLTensor *from, uint64_t size);

/** session_rest_of_file - run a call of tvm.rpc.server.download; @linked: of tvm.rpc.server.download_linked_module */
int session_rest_of_file(struct session *s, bool linked);

/** session_check_linked - refuse what is no shared object */
int session_check_linked(const char *path);

/** session_rest_send - send what is left */
int session_rest_send(struct session *s);

/** session_rest_drop - close and free */
void session_rest_drop(struct session *s);

/** session_call - run CallFunc and write its reply; 0, or the error to be sent */
int session_call(struct session *s);

/** session_find_function - find a function that the session offers; NULL in @out for none */
int session_find_function(struct session *s, struct tenon_slice name, struct tenon_function **out);

/* the functions on files and modules; self is the session */
PACKED_CALL(session_upload);
PACKED_CALL(session_download);
PACKED_CALL(session_remove);
/* use_file(name, SHA-256 in hexadecimal digits, size): true if the folder has a file of this content */
PACKED_CALL(session_use_file);
PACKED_CALL(session_listdir);

/* begin() starts a trace of this process; now() and begin() return its clock, end() the events */
PACKED_CALL(session_trace_begin);
PACKED_CALL(session_trace_now);
PACKED_CALL(session_trace_end);

/** session_trace_drop - end a trace that the client did not take */
void session_trace_drop(struct session *s);

/**
 * session_check_path - check a client's name of a file in the session's folder
 * @text: the name
 * @path: receives it, NUL-terminated
 * @size: bytes of @path
 *
 * Return: 0; -TENON_E_VALUE for an absolute path, one with "..", and one with a NUL or too long.
 */
int session_check_path(struct tenon_slice text, char *path, size_t size);

/**
 * session_tensor - make a DLTensor of a tensor record
 * @s: session
 * @wire: the record; its shape is borrowed
 * @out: receives the tensor
 *
 * Return: 0; -TENON_E_VALUE for a handle that is not one, for an invalid shape or dtype, and for a
 *	tensor that exceeds its memory.
 */
int session_tensor(struct session *s, struct wire_tensor *wire, DLTensor *out);

/* tensor_settle() of an argument, for any device. */
void session_settle(DLTensor *t);

/* requests on tensors and devices: each writes its reply, or returns the error to be sent */
int session_copy_from(struct session *s);
/*
 * Of memory that this process can write, the @s->more bytes that were not read go from the connection
 * there, others in parts. A tensor that failed may have some of them.
 */
int session_copy_to(struct session *s);
int session_copy_among(struct session *s);
int session_alloc_tensor(struct session *s);
int session_alloc(struct session *s);
int session_free(struct session *s);
int session_set_device(struct session *s);
int session_get_attribute(struct session *s);
int session_sync(struct session *s);
int session_create_stream(struct session *s);
int session_free_stream(struct session *s);
int session_set_stream(struct session *s);
int session_current_stream(struct session *s);

#endif /* RPC_SERVER_SESSION_STATE_H */
