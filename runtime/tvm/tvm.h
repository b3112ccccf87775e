/* SPDX-License-Identifier: MIT */
/*
 * What makes libtvm_runtime.so a drop-in for the library of that name: the global functions that TVM's Python package
 * expects of its runtime. They are registered with libtenon, by public headers.
 */
#ifndef RUNTIME_TVM_TVM_H
#define RUNTIME_TVM_TVM_H

#include <tenon/device.h>
#include <tenon/function.h>
#include <tenon/remote.h>

#include "lib/plugin.h"
#include "runtime/core/arguments.h"

/* Each list ends with a NULL name. */
extern const struct global_function tvm_tensor_globals[];
extern const struct global_function tvm_device_globals[];
extern const struct global_function tvm_param_globals[];
extern const struct global_function tvm_evaluator_globals[];
extern const struct global_function tvm_session_globals[];
extern const struct global_function tvm_server_globals[];
extern const struct global_function tvm_event_server_globals[];
extern const struct global_function tvm_child_session_globals[];
extern const struct global_function tvm_static_library_globals[];
extern const struct global_function tvm_refused_globals[];

/* ---- arguments.c: they return 0, or an error that names the function and the argument */

int tvm_int(const char *function, const struct tenon_value *args, int32_t i, int64_t *out);
int tvm_text(const char *function, const struct tenon_value *args, int32_t i,
	     struct tenon_slice *out);
/* None, and the number 0, are NULL */
int tvm_pointer(const char *function, const struct tenon_value *args, int32_t i, void **out);
int tvm_device(const char *function, const struct tenon_value *args, int32_t i, DLDevice *out);
int tvm_tensor(const char *function, const struct tenon_value *args, int32_t i, DLTensor **out);
/* @out: an object of the type or a derived type, borrowed */
int tvm_object(const char *function, const struct tenon_value *args, int32_t i, int32_t type,
	       void *out);

/* ---- sessions.c: devices of servers. Their type is that on the server + 128 · (number of the session + 1) */

#define TVM_SESSION_TYPES 128

static inline bool tvm_is_remote(DLDevice device)
{
	return device.device_type >= TVM_SESSION_TYPES;
}

/* The same device as its server numbers it */
static inline DLDevice tvm_there(DLDevice device)
{
	return (DLDevice){ (DLDeviceType)((int)device.device_type % TVM_SESSION_TYPES),
			   device.device_id };
}

/**
 * tvm_session - get the session of a device of a server
 * @device: a device for which tvm_is_remote()
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_DEVICE when there is no such session.
 */
int tvm_session(DLDevice device, struct tenon_remote **out);

/**
 * tvm_open_device - open a device, also one of a server
 * @out: receives it with one reference; NULL for the processor, which needs no device
 *
 * Return: 0; as tenon_device_get(), or as tenon_remote_device().
 */
int tvm_open_device(DLDevice device, struct tenon_device **out);

/**
 * tvm_connect_over - open a session over a socket
 * @fd: the socket, which the session owns in any case
 * @ret: receives the session as a module
 *
 * Return: as tenon_remote_connect().
 */
int tvm_connect_over(int fd, struct tenon_value *ret);

/* ---- server.c: sessions that a thread serves */

/**
 * tvm_start_thread - start a thread that nothing joins
 * @run: its function
 * @context: what it gets
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int tvm_start_thread(void *(*run)(void *context), void *context);

/* Send or receive all bytes. Return: false when the connection ended. */
bool tvm_transfer(int fd, void *data, size_t size, bool out);

/* Answer the greeting of a client of this process: magic number, length and text of a key. Return: false as above. */
bool tvm_greet(int fd);

/**
 * tvm_serve_in_thread - serve a session with the rights of this process
 * @greeted: the client sends a greeting, as tvm_connect_over() does
 * @fd: receives the client's end, which the caller closes; the thread ends with it
 *
 * Return: 0; -TENON_E_UNSUPPORTED without libtenon-rpc; -TENON_E_IO; -TENON_E_NOMEM; as the function in Python that
 *	names the folder.
 */
int tvm_serve_in_thread(bool greeted, int *fd);

#endif /* RUNTIME_TVM_TVM_H */
