/* SPDX-License-Identifier: MIT */
#ifndef TENON_REMOTE_H
#define TENON_REMOTE_H

/**
 * DOC: sessions with RPC servers
 *
 * A session with a server of TVM's RPC: `tenon rpc serve`, or TVM's own of any version from 0.8. Files
 * are uploaded to it, modules are loaded there, and their functions are called there:
 *
 *	tenon_remote_connect("board:9090", NULL, &remote);
 *	tenon_remote_open(remote, "vecadd.so", &module);
 *	tenon_module_get_function(module, "vecadd", &vecadd);
 *	tenon_remote_device(remote, (DLDevice){ kDLOpenCL, 0 }, &device);
 *	tenon_tensor_create_on(tenon_device_id(device), shape, 1, dtype, &a);
 *	tenon_call(vecadd, &ret, tenon_arg_object(a), …);
 *
 * Functions, modules and tensors of the server are ordinary objects here. Arguments of such a function
 * are numbers, texts, bytes, dtypes, devices, and objects and tensors of the same session: a tensor of
 * the host must be copied to a device of the session first.
 *
 * A device of a server is also opened by name, `rpc://HOST:PORT/opencl:0?key=KEY`. Devices with the same
 * address, key and secret file share a session.
 *
 * Tenon's own server and this client agree in the handshake to send requests that need no answer, such
 * as copies to the server, without waiting for the one before. The first failure of these is returned by
 * the next request that waits. With other servers each request waits, and the bytes are those of TVM's
 * client.
 *
 * Any thread may use a session; requests are sent one after the other. The loss of the connection is
 * final: every request then returns -TENON_E_LOST with the reason.
 */

#include <tenon/buffer.h>
#include <tenon/device.h>
#include <tenon/export.h>
#include <tenon/function.h>
#include <tenon/model.h>
#include <tenon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* device type of a device of another machine */
#define TENON_DL_RPC 120

struct tenon_remote;

/**
 * struct tenon_remote_options - options for connecting; 0 selects each default
 * @size: sizeof(struct tenon_remote_options)
 * @key: key of the server
 * @connect_ms: time limit for connecting (10 s), and for each wait for a tracker's server (10 minutes)
 * @request_ms: time limit for each request; default: none. A request that exceeds it ends the session.
 * @session_ms: ask the server to end the session after this time; default: no limit
 * @wait_each: wait for the answer of each request, and offer no extension to the server
 * @progress: called while a file is sent, with the bytes so far; may be NULL
 * @context: passed to @progress
 * @secret_file: file with the secret that the server and this client prove to each other to know, as that
 *	of `tenon rpc serve --secret-file`; NULL for none
 * @silence_ms: longest time in which no byte comes while a request waits for its answer: 15 minutes, or @request_ms;
 *	UINT32_MAX for no limit. Within an answer that has begun, the limit is a minute. A server that exceeds
 *	it ends the session.
 * @reserved: not read; padding in older programs
 * @tvm_devices: number devices of the session as TVM's clients do: the type is that on the server + 128 ·
 *	(number of the session + 1), and the number is that on the server. For software that knows TVM's numbers
 */
struct tenon_remote_options {
	size_t size;
	const char *key;
	uint32_t connect_ms;
	uint32_t request_ms;
	uint32_t session_ms;
	bool wait_each;
	void (*progress)(void *context, const char *file, uint64_t done, uint64_t total);
	void *context;
	const char *secret_file;
	uint32_t silence_ms;
	uint32_t reserved;
	bool tvm_devices;
};

/**
 * struct tenon_remote_facts - what is known of a session; valid as long as the session
 * @address: as given
 * @server: the server's key
 * @generation: encoding of the server: TENON_GENERATION_LEGACY for TVM up to 0.20, else
 *	TENON_GENERATION_FFI
 * @pipelined: requests need not wait for each other
 * @requests: number of requests so far
 * @waits: how many of them waited for an answer
 */
struct tenon_remote_facts {
	const char *address;
	const char *server;
	enum tenon_generation generation;
	bool pipelined;
	uint64_t requests;
	uint64_t waits;
};

/**
 * struct tenon_remote_timing - how to measure a function; as in TVM's time_evaluator
 * @size: sizeof(struct tenon_remote_timing)
 * @number: calls of a repetition; 0 is 1
 * @repeat: repetitions; 0 is 1
 * @min_repeat_ms: raise @number until a repetition takes this long
 * @cooldown_ms: pause between repetitions
 * @repeats_to_cooldown: pause after this many repetitions; 0 is 1
 * @cache_flush_bytes: bytes to write before each repetition
 */
struct tenon_remote_timing {
	size_t size;
	int64_t number;
	int64_t repeat;
	int64_t min_repeat_ms;
	int64_t cooldown_ms;
	int64_t repeats_to_cooldown;
	int64_t cache_flush_bytes;
};

/**
 * tenon_remote_connect - open a session
 * @address: "HOST:PORT", "[HOST]:PORT", "unix:PATH", "rpc+ssh://[USER@]HOST", "rpc+tls://HOST:PORT",
 *	"fd:NUMBER" for a connected socket, which the session owns then, or
 *	"rpc+tracker://HOST:PORT" for a server of the key that a tracker hands out; without @connect_ms of @options,
 *	that waits until one is free
 * @options: NULL for all defaults
 * @out: receives the session with one reference; end it with tenon_remote_close()
 *
 * Return: 0; -TENON_E_VALUE for text that is no address, for a secret that is too short or that other
 *	users can read, and for a server with a wrong certificate; -TENON_E_IO when the server cannot be
 *	reached, refused the key or the secret, or does not know the secret; -TENON_E_TIMEOUT;
 *	-TENON_E_FORMAT for a peer that is no such server; -TENON_E_UNSUPPORTED when this build has no
 *	client, or not the option for secrets or TLS; -TENON_E_NOMEM.
 */
TENON_API int tenon_remote_connect(const char *address, const struct tenon_remote_options *options,
				   struct tenon_remote **out);

/**
 * tenon_remote_of_device - the session of a device
 * @device: a device
 * @there: receives type and number of the device on the server; may be NULL
 *
 * Return: the session, not referenced; NULL for a device of this machine, and when its session is over.
 */
TENON_API struct tenon_remote *tenon_remote_of_device(struct tenon_device *device, DLDevice *there);

/**
 * tenon_remote_close - end a session, and release the caller's reference
 *
 * The server releases everything. Objects of the session stay valid, and requests on them fail. NULL is
 * allowed.
 */
TENON_API void tenon_remote_close(struct tenon_remote *remote);

/** tenon_remote_facts - describe a session */
TENON_API void tenon_remote_facts(struct tenon_remote *remote, struct tenon_remote_facts *out);

/** tenon_remote_ping - send the smallest request and wait for its answer */
TENON_API int tenon_remote_ping(struct tenon_remote *remote);

/**
 * tenon_remote_send_file - make sure that the server has a file
 * @remote: session
 * @path: the file here
 * @name: its name in the session's folder; NULL for the last part of @path
 * @sent: receives false if the server had a file with these bytes; may be NULL
 *
 * Tenon's server is asked first whether it has bytes with this hash, from this session or an earlier
 * one.
 *
 * Return: 0; -TENON_E_IO for a file that cannot be read; -TENON_E_CALL with the server's message;
 *	-TENON_E_LOST; -TENON_E_TIMEOUT.
 */
TENON_API int tenon_remote_send_file(struct tenon_remote *remote, const char *path,
				     const char *name, bool *sent);

/** tenon_remote_upload - write a file on the server; errors as tenon_remote_send_file() */
TENON_API int tenon_remote_upload(struct tenon_remote *remote, const char *name,
				  struct tenon_slice bytes);

/** tenon_remote_download - append the bytes of a file on the server to @out */
TENON_API int tenon_remote_download(struct tenon_remote *remote, const char *name,
				    struct tenon_buffer *out);

/** tenon_remote_remove - remove a file on the server; one that is missing is no error */
TENON_API int tenon_remote_remove(struct tenon_remote *remote, const char *name);

/** tenon_remote_list_files - append the names of files, separated by ",", to @out */
TENON_API int tenon_remote_list_files(struct tenon_remote *remote, const char *folder,
				      struct tenon_buffer *out);

/**
 * tenon_remote_function - get a global function of the server
 * @remote: session
 * @name: its name
 * @out: receives the function with one reference; NULL when there is none
 *
 * Return: 0 also when there is none; -TENON_E_CALL; -TENON_E_LOST; -TENON_E_TIMEOUT.
 */
TENON_API int tenon_remote_function(struct tenon_remote *remote, const char *name,
				    struct tenon_function **out);

/** tenon_remote_list_functions - append the names of global functions, separated by "," */
TENON_API int tenon_remote_list_functions(struct tenon_remote *remote, struct tenon_buffer *out);

/** tenon_remote_load - load a module from a file of the session's folder */
TENON_API int tenon_remote_load(struct tenon_remote *remote, const char *name,
				struct tenon_module **out);

/**
 * tenon_remote_open - send a file and load it there
 * @remote: session
 * @path: the file here, for the server's machine
 * @out: receives the module with one reference
 *
 * The module lists the functions that the file here lists, and can be opened as a model with
 * tenon_remote_open_model().
 *
 * Return: as tenon_remote_send_file().
 */
TENON_API int tenon_remote_open(struct tenon_remote *remote, const char *path,
				struct tenon_module **out);

/**
 * tenon_remote_device - get a device of the server as a device of this process
 * @remote: session
 * @there: type and number on the server
 * @out: receives the device with one reference
 *
 * Return: 0; -TENON_E_DEVICE when the server has no such device; -TENON_E_LOST.
 */
TENON_API int tenon_remote_device(struct tenon_remote *remote, DLDevice there,
				  struct tenon_device **out);

/** tenon_remote_attribute - as tenon_device_attribute(), for a device of the server */
TENON_API int tenon_remote_attribute(struct tenon_remote *remote, DLDevice there, int attribute,
				     struct tenon_value *out);

/**
 * tenon_remote_time - measure a function on the server
 * @remote: session
 * @module: module of the session; NULL for a global function of the server
 * @name: the function
 * @there: device of the server to wait for
 * @timing: how to measure; NULL for one call
 * @args: @count arguments, as in a call
 * @count: number of arguments
 * @seconds: a double is appended for each repetition: mean seconds of a call
 *
 * Return: 0; -TENON_E_CALL with the server's message; -TENON_E_LOST; -TENON_E_TIMEOUT.
 */
TENON_API int tenon_remote_time(struct tenon_remote *remote, struct tenon_module *module,
				const char *name, DLDevice there,
				const struct tenon_remote_timing *timing,
				const struct tenon_value *args, int32_t count,
				struct tenon_buffer *seconds);

/**
 * tenon_remote_post - call a function of the session without waiting for its result
 * @remote: session
 * @function: function of the session
 * @args: @count arguments
 * @count: number of arguments
 *
 * With a server without the extension the call waits.
 *
 * Return: 0; -TENON_E_TYPE for an argument that cannot be sent; -TENON_E_LOST. What goes wrong later is
 *	returned by the next request that waits, such as tenon_remote_wait().
 */
TENON_API int tenon_remote_post(struct tenon_remote *remote, struct tenon_function *function,
				const struct tenon_value *args, int32_t count);

/** tenon_remote_wait - wait for the answers of all requests; returns the first failure */
TENON_API int tenon_remote_wait(struct tenon_remote *remote);

/**
 * tenon_remote_sync - wait until a device of the server has done all its work
 * @remote: session
 * @there: device of the server
 *
 * Return: 0; what went wrong on the device, with the server's message; -TENON_E_LOST; -TENON_E_TIMEOUT.
 */
TENON_API int tenon_remote_sync(struct tenon_remote *remote, DLDevice there);

/**
 * tenon_remote_open_model - open a model that runs on the server
 * @remote: session
 * @module: from tenon_remote_open()
 * @options: as in tenon_model_open(); @options->devices are devices of the session
 * @out: receives the model, for the functions of tenon/model.h
 *
 * The executor is the server's: a run is one request, not one for each operator. Outputs are tensors
 * on devices of the session.
 *
 * Return: as tenon_model_open(), and as a call on the server.
 */
TENON_API int tenon_remote_open_model(struct tenon_remote *remote, struct tenon_module *module,
				      const struct tenon_model_options *options,
				      struct tenon_model **out);

/** tenon_remote_time_model - measure runs of such a model on the server; as tenon_remote_time() */
TENON_API int tenon_remote_time_model(struct tenon_remote *remote, struct tenon_model *model,
				      const struct tenon_remote_timing *timing,
				      struct tenon_buffer *seconds);

#ifdef __cplusplus
}
#endif

#endif /* TENON_REMOTE_H */
