/* SPDX-License-Identifier: MIT */
/* What the files that make a session of the client share; the interface is tenon/remote.h. */
#ifndef RPC_CLIENT_RPC_H
#define RPC_CLIENT_RPC_H

#include <pthread.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/module_kind.h>

#include "lib/trace.h"
#include "rpc/wire/packet.h"
#include "rpc/wire/stream.h"
#include "runtime/device/device_remote.h"

/* most requests sent ahead whose replies have not been read */
#define RPC_WAITING_MOST 256
/* bytes of requests that are kept back to be sent together */
#define RPC_TOGETHER (UINT64_C(64) << 10)

/* TVM's types of devices of a session are a multiple of this and the type on the server */
#define RPC_TVM_TYPES 128

/* a reply that has begun must go on within this time */
#define RPC_REST_MS 60000

/** struct rpc_known - a function of the server that this client uses */
struct rpc_known {
	const char *name;
	uint64_t handle;
};

#define RPC_KNOWN 16

/** struct rpc_freed - a handle to be freed; 0 in @type for memory of @device */
struct rpc_freed {
	uint64_t handle;
	int32_t type;
	DLDevice device;
};

/**
 * struct rpc - a session
 * @base: the object
 * @lock: held while a request is made and its reply read
 * @address: as given
 * @key: as given
 * @secret_file: as given, or ""
 * @slot: number among the sessions of the process, for names of devices
 * @next: in the list of sessions
 * @opened_by_name: may be shared by devices with this address and key
 * @tvm_devices: as in struct tenon_remote_options
 * @connection: to the server; NULL after it was closed
 * @stream: its packets
 * @generation: encoding of the server
 * @pipelined: the server took the extension
 * @request_ms: time limit of a request; 0 for none
 * @silence_ms: longest wait for a byte of the server; 0 for no limit
 * @progress: of struct tenon_remote_options
 * @progress_context: likewise
 * @server: the server's key
 * @reason: why the session is over; NULL while it is not
 * @out: requests that were not sent yet
 * @reply: of the last request
 * @bytes: the reply's packet
 * @requests: number of requests so far
 * @waits: of these, how many waited
 * @waiting: number of requests sent ahead, whose replies were not read yet
 * @failed: one of these was an exception
 * @failure: text of the first that was; NULL without memory for it
 * @freed: handles of objects that were destroyed
 * @freed_count: number of them
 * @freed_room: allocated
 * @values: arguments
 * @tensors: that @values refer to
 * @values_room: allocated of each
 * @block: largest packet of a copy; 0 for no limit
 * @block_known: the server was asked
 * @known: functions of the server that were looked up, and are never freed
 * @known_count: number of them
 * @traced: trace_number() of the trace for which the server was asked to record; 0 for none
 * @recorded: it does
 * @clock: its clock when it began
 */
struct rpc {
	struct tenon_remote base;
	pthread_mutex_t lock;
	char *address;
	char *key;
	char *secret_file;
	uint32_t slot;
	struct rpc *next;
	bool opened_by_name;
	bool tvm_devices;
	struct connection *connection;
	struct stream stream;
	enum wire_generation generation;
	bool pipelined;
	uint64_t request_ms;
	uint64_t silence_ms;
	void (*progress)(void *context, const char *file, uint64_t done, uint64_t total);
	void *progress_context;
	char *server;
	char *reason;
	struct tenon_buffer out;
	struct wire_sequence reply;
	struct tenon_slice bytes;
	uint64_t requests;
	uint64_t waits;
	uint64_t waiting;
	bool failed;
	char *failure;
	struct rpc_freed *freed;
	size_t freed_count;
	size_t freed_room;
	struct wire_value *values;
	struct wire_tensor *tensors;
	uint32_t values_room;
	uint64_t block;
	bool block_known;
	struct rpc_known known[RPC_KNOWN];
	uint32_t known_count;
	uint32_t traced;
	bool recorded;
	struct trace_clock clock;
};

/* ---- rpc_trace.c: traces */

/** rpc_trace - add a request of the session to the trace; not if @start is 0 */
void rpc_trace(const struct rpc *r, const char *name, uint64_t start);

/**
 * rpc_trace_begin - have the server record what it does, if a trace began since it was last called
 *
 * Only servers with Tenon's extension can. A server that refuses is named in the trace; the caller,
 * who holds the lock, finds a session that ended at its next request.
 */
void rpc_trace_begin(struct rpc *r);

/**
 * rpc_trace_end - add what the server recorded to the trace; the caller holds the lock
 * @deadline: as in struct connection, for replies to the program's requests: without them, the trace
 *	has nothing of the server
 */
void rpc_trace_end(struct rpc *r, uint64_t deadline);

/** rpc_trace_end_all - likewise, for all sessions */
void rpc_trace_end_all(void);

extern const struct remote_ops rpc_ops;
extern const struct tenon_backend rpc_backend;

static inline struct rpc *rpc_of(struct tenon_remote *remote)
{
	return (struct rpc *)remote;
}

/* ---- rpc_tracker.c */

/**
 * struct rpc_match - a server that a tracker handed out
 * @address: where it is
 * @key: what its client must name
 */
struct rpc_match {
	char address[300];
	char key[1024];
};

/**
 * rpc_ask_tracker - ask a tracker for a server
 * @tracker: its address
 * @key: key of the servers
 * @connect_ms: time to reach the tracker
 * @wait_ms: time until a server is free
 * @out: receives the server
 */
int rpc_ask_tracker(const char *tracker, const char *key, uint64_t connect_ms, uint64_t wait_ms,
		    struct rpc_match *out);

/* ---- rpc_session.c, rpc_connect.c: sessions */

/** rpc_connect - tenon_remote_connect() */
int rpc_connect(const char *address, const struct tenon_remote_options *options,
		struct tenon_remote **out);

/** rpc_connect_over - likewise over a connection that is open, which the session owns in any case */
int rpc_connect_over(struct connection *connection, const char *address,
		     const struct tenon_remote_options *options, struct tenon_remote **out);

/** rpc_handshake - exchange keys, send InitServer, and find out the server's generation */
int rpc_handshake(struct rpc *r, const struct tenon_remote_options *o);

/**
 * rpc_session_of_name - share the session that devices with an address and key have, or connect
 * @options: with a key
 * @out: referenced; NULL on failure
 */
int rpc_session_of_name(const char *address, const struct tenon_remote_options *options,
			struct rpc **out);

/** rpc_session_after - the session of the lowest slot above @slot, referenced; NULL for none */
struct rpc *rpc_session_after(uint32_t slot);

/** rpc_session_at - the session of a slot, referenced; NULL for none */
struct rpc *rpc_session_at(uint32_t slot);

static inline void rpc_unref(struct rpc *r)
{
	tenon_object_unref(r);
}

/* ---- rpc_request.c: requests. The caller holds the lock. */

/** rpc_drop_failure - forget that a request sent ahead has failed */
void rpc_drop_failure(struct rpc *r);

/** rpc_fail - end the session for the thread's error; returns @status */
int rpc_fail(struct rpc *r, int status);

/**
 * rpc_request - send a request and read its reply
 * @r: session
 * @code: enum packet_code
 * @function: handle, of PACKET_CALL
 * @values: arguments
 * @count: number of them
 *
 * Return: 0 with @r->reply set; -TENON_E_CALL for an exception, also for that of an earlier request
 *	that was sent ahead; -TENON_E_LOST; -TENON_E_TIMEOUT; -TENON_E_FORMAT.
 */
int rpc_request(struct rpc *r, enum packet_code code, uint64_t function,
		const struct wire_value *values, uint32_t count);

/**
 * rpc_post - send a request, and wait for its reply only if the server has no extension
 * @handle: receives the handle that the result will have; may be NULL. The reply is one value for
 *	syscalls, and a result for PACKET_CALL.
 */
int rpc_post(struct rpc *r, enum packet_code code, uint64_t function,
	     const struct wire_value *values, uint32_t count, uint64_t *handle);

/** rpc_copy_to - send a CopyToRemote packet; @t has exactly @size bytes */
int rpc_copy_to(struct rpc *r, const struct wire_tensor *t, const void *data, uint64_t size);

/** rpc_copy_from - send a CopyFromRemote packet and read the bytes of its reply */
int rpc_copy_from(struct rpc *r, const struct wire_tensor *t, void *data, uint64_t size);

/**
 * rpc_begin_large - begin a call whose last argument is a text that is sent apart
 * @values: the last has no bytes
 * @more: bytes of the last, which the caller sends next
 */
int rpc_begin_large(struct rpc *r, uint64_t function, const struct wire_value *values,
		    uint32_t count, uint64_t more);

/** rpc_end_large - read the reply of such a call */
int rpc_end_large(struct rpc *r);

/** rpc_drain - read all replies to come; the failure of an earlier request waits for the next */
int rpc_drain(struct rpc *r);

/**
 * rpc_drain_until - likewise, and leave the session as it is when they do not come
 * @deadline: as in struct connection; a reply that has begun is read to its end
 *
 * Return: as rpc_drain(); -TENON_E_TIMEOUT.
 */
int rpc_drain_until(struct rpc *r, uint64_t deadline);

/** rpc_settle - read all replies to come */
int rpc_settle(struct rpc *r);

/** rpc_one_value - the only value of a reply of a syscall */
int rpc_one_value(struct rpc *r, enum wire_kind kind, struct wire_value *out);

/* ---- rpc_arguments.c */

/** rpc_make_arguments - convert @count values to @r->values; the caller holds the lock */
int rpc_make_arguments(struct rpc *r, const struct tenon_value *args, uint32_t count);

/** rpc_device_there - the device of the server that a device here stands for */
int rpc_device_there(struct rpc *r, DLDevice here, DLDevice *there);

/* ---- rpc_result.c */

/** struct rpc_result - the result of a call, copied from the reply */
struct rpc_result {
	struct tenon_value value;
	enum wire_kind kind;
	int32_t type;
	uint64_t handle;
	struct wire_tensor tensor;
};

/** rpc_take_result - read the reply of PACKET_CALL; the caller holds the lock */
int rpc_take_result(struct rpc *r, struct rpc_result *out);

/** rpc_finish_result - make the value of a result; the caller does not hold the lock */
int rpc_finish_result(struct rpc *r, struct rpc_result *result, struct tenon_value *out);

/* ---- objects with a handle of the server */

/** struct rpc_object - an object that only the server knows */
struct rpc_object {
	struct tenon_object object;
	struct rpc *rpc;
	uint64_t handle;
};

/**
 * rpc_free_later - free a handle before the next request; any thread
 * @type: enum legacy_code: servers of TVM up to 0.20 find the destructor by it
 */
void rpc_free_later(struct rpc *r, uint64_t handle, int32_t type);

/** rpc_free_locked - rpc_free_later() for a caller that holds the lock */
void rpc_free_locked(struct rpc *r, uint64_t handle, int32_t type);

/** rpc_free_memory_later - likewise, memory of DevAllocDataWithScope */
void rpc_free_memory_later(struct rpc *r, uint64_t handle, DLDevice there);

int rpc_object_create(struct rpc *r, uint64_t handle, struct tenon_object **out);
bool rpc_object_is(const struct tenon_object *o);

/** rpc_function_create - a function of the server; takes over the handle, also on failure */
int rpc_function_create(struct rpc *r, uint64_t handle, struct tenon_function **out);

/** rpc_function_handle - its handle; 0 for a function that is none of this session */
uint64_t rpc_function_handle(const struct rpc *r, const struct tenon_function *f);

/** rpc_call - call a function by its handle with values of this process */
int rpc_call(struct rpc *r, uint64_t handle, const struct tenon_value *args, int32_t count,
	     struct tenon_value *ret);

/** rpc_module_create - a module of the server; takes over the handle, also on failure */
int rpc_module_create(struct rpc *r, uint64_t handle, struct tenon_module *local,
		      struct tenon_module **out);

/** rpc_module_handle - its handle; 0 for a module that is none of this session */
uint64_t rpc_module_handle(const struct rpc *r, const struct tenon_module *m);

/** rpc_module_local - the inspected file that the module was loaded from; NULL for none */
struct tenon_module *rpc_module_local(const struct tenon_module *m);

/* ---- functions of the server */

/** rpc_global - look up a global function; 0 in @handle for none; the caller holds the lock */
int rpc_global(struct rpc *r, const char *name, uint64_t *handle);

/**
 * rpc_server_function - look up a function of the server once
 * @name: a literal: its address is kept
 *
 * The caller holds the lock. Return: 0; -TENON_E_UNSUPPORTED if there is none.
 */
int rpc_server_function(struct rpc *r, const char *name, uint64_t *handle);

/**
 * rpc_server_call - call a function of the server with wire values
 *
 * The caller holds the lock. The reply is in @r->reply. -TENON_E_UNSUPPORTED if there is none.
 */
int rpc_server_call(struct rpc *r, const char *name, const struct wire_value *values,
		    uint32_t count);

/** rpc_text_result - the text of a reply of PACKET_CALL */
int rpc_text_result(struct rpc *r, struct tenon_slice *out);

/* ---- devices */

/**
 * struct rpc_device - a device of a server
 * @rpc: its session: referenced where the device's name opened it, else weakly, so that a session ends with
 *	what the program has of it while the device is still in the table of open devices
 * @there: its number on the server
 */
struct rpc_device {
	struct tenon_device base;
	struct rpc *rpc;
	DLDevice there;
};

/** rpc_is_device - test whether a device of this process is one of a server */
static inline bool rpc_is_device(DLDevice id)
{
	return id.device_type == TENON_DL_RPC || id.device_type >= RPC_TVM_TYPES;
}

/** struct rpc_memory - memory of a server; freed with @code */
struct rpc_memory {
	struct tenon_memory base;
	uint64_t handle;
	uint64_t owner;
	bool allocated;
};

extern const struct tenon_memory_ops rpc_memory_ops;
extern const struct tenon_queue_ops rpc_queue_ops;

int rpc_device_open(const struct tenon_device_choice *choice, struct tenon_device **out);

/** rpc_device_of - remote_ops.device */
int rpc_device_of(struct tenon_remote *remote, DLDevice there, struct tenon_device **out);

/** rpc_memory_adopt - memory of a tensor that a call returned; @owner is freed with it */
int rpc_memory_adopt(struct tenon_device *device, uint64_t handle, uint64_t owner, uint64_t size,
		     struct tenon_memory **out);

/** rpc_put - copy host memory to memory of the server, in blocks that it takes */
int rpc_put(struct rpc *r, DLDevice there, uint64_t handle, uint64_t offset, const void *host,
	    uint64_t size);

/** rpc_get - copy memory of the server to the host */
int rpc_get(struct rpc *r, DLDevice there, uint64_t handle, uint64_t offset, void *host,
	    uint64_t size);

/* ---- the rest of rpc_ops */

int rpc_send_file(struct tenon_remote *remote, const char *path, const char *name, bool *sent);
int rpc_upload(struct tenon_remote *remote, const char *name, struct tenon_slice bytes);
int rpc_download(struct tenon_remote *remote, const char *name, struct tenon_buffer *out);
int rpc_remove(struct tenon_remote *remote, const char *name);
int rpc_list_files(struct tenon_remote *remote, const char *folder, struct tenon_buffer *out);
int rpc_list_functions(struct tenon_remote *remote, struct tenon_buffer *out);
int rpc_function(struct tenon_remote *remote, const char *name, struct tenon_function **out);
int rpc_load(struct tenon_remote *remote, const char *name, struct tenon_module **out);
int rpc_open(struct tenon_remote *remote, const char *path, struct tenon_module **out);
int rpc_post_call(struct tenon_remote *remote, struct tenon_function *function,
		  const struct tenon_value *args, int32_t count);
int rpc_time(struct tenon_remote *remote, struct tenon_module *module, const char *name,
	     DLDevice there, const struct tenon_remote_timing *timing,
	     const struct tenon_value *args, int32_t count, struct tenon_buffer *seconds);
#ifdef CONFIG_EXECUTORS
int rpc_open_model(struct tenon_remote *remote, struct tenon_module *module,
		   const struct tenon_model_options *options, struct tenon_model **out);
int rpc_time_model(struct tenon_remote *remote, struct tenon_model *model,
		   const struct tenon_remote_timing *timing, struct tenon_buffer *seconds);
#else
static inline int rpc_open_model(struct tenon_remote *remote, struct tenon_module *module,
				 const struct tenon_model_options *options,
				 struct tenon_model **out)
{
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "this build has no executors (EXECUTORS)");
}

static inline int rpc_time_model(struct tenon_remote *remote, struct tenon_model *model,
				 const struct tenon_remote_timing *timing,
				 struct tenon_buffer *seconds)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "this build has no executors (EXECUTORS)");
}
#endif

/* the device of the server that calls without a device refer to */
static inline DLDevice rpc_cpu(void)
{
	return (DLDevice){ kDLCPU, 0 };
}

#endif /* RPC_CLIENT_RPC_H */
