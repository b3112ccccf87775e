/* SPDX-License-Identifier: MIT */
/*
 * Global functions of servers of TVM's RPC, whose handshake is Python's: libtenon-rpc, opened at the first use, serves the
 * sessions. A local session is served by a thread of this process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/rpc.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

#define LIBRARY "libtenon-rpc.so.0"

struct library {
	void (*options_init)(struct tenon_rpc_server_options *options, size_t size);
	int (*serve)(int fd, const char *folder, const struct tenon_rpc_server_options *options);
	int (*send_exception)(int fd, const char *message);
};

static int open_library(struct library *out)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *words;

	if (handle) {
		*(void **)&out->options_init = dlsym(handle, "tenon_rpc_server_options_init");
		*(void **)&out->serve = dlsym(handle, "tenon_rpc_serve_session");
		*(void **)&out->send_exception = dlsym(handle, "tenon_rpc_send_exception");
		if (out->options_init && out->serve && out->send_exception)
			return 0;
	}
	words = dlerror();
	return tenon_error(-TENON_E_UNSUPPORTED, "a server needs " LIBRARY ": %s",
			   words ? words : "it is of another version");
}

static int serve(int fd, const char *folder)
{
	struct tenon_rpc_server_options o;
	struct library library;
	int err = open_library(&library);

	if (err)
		return err;
	library.options_init(&o, sizeof(o));
	/* as in TVM: the limits of this process */
	o.folder_most = UINT64_MAX;
	o.memory_most = 0;
	o.native_code = true;
	return library.serve(fd, folder, &o);
}

static int get_descriptor(const char *function, const struct tenon_value *args, int32_t count,
			  int32_t arguments, int *out)
{
	int64_t fd;
	int err = arguments_check(function, count, arguments, arguments);

	if (!err)
		err = tvm_int(function, args, 0, &fd);
	if (!err && (fd < 0 || fd > INT32_MAX))
		err = tenon_error(-TENON_E_VALUE, "%s: %lld is no descriptor", function,
				  (long long)fd);
	*out = err ? -1 : (int)fd;
	return err;
}

/* The folder in which functions of Python keep a session's files */
static int get_folder(char **out)
{
	struct tenon_value path = tenon_arg_none();
	struct tenon_function *work_path;
	struct tenon_slice text;
	int err = tenon_function_find("tvm.rpc.server.workpath", &work_path);

	*out = NULL;
	if (err)
		return err;
	if (!work_path) {
		*out = getcwd(NULL, 0);
		return *out ? 0 : tenon_error(-TENON_E_IO, "the current folder has no name");
	}
	err = tenon_call(work_path, &path, tenon_arg_string("."));
	tenon_object_unref(work_path);
	if (!err)
		err = tenon_value_text(&path, &text);
	if (!err) {
		*out = strndup(text.data, text.size);
		err = *out ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a path");
	}
	tenon_value_release(&path);
	return err;
}

/* a socket behind the handshake */
static PACKED_CALL(server_loop)
{
	char *folder;
	int fd, err;
	*ret = tenon_arg_none();
	err = get_descriptor("rpc.ServerLoop", args, count, 1, &fd);
	if (!err)
		err = get_folder(&folder);
	if (err)
		return err;
	err = serve(fd, folder);
	free(folder);
	return err;
}

/* a socket, and the text */
static PACKED_CALL(return_exception)
{
	struct library library;
	struct tenon_slice text;
	char *message;
	int fd, err;
	*ret = tenon_arg_none();
	err = get_descriptor("rpc.ReturnException", args, count, 2, &fd);
	if (!err)
		err = tvm_text("rpc.ReturnException", args, 1, &text);
	if (!err)
		err = open_library(&library);
	if (err)
		return err;
	message = strndup(text.data, text.size);
	if (!message)
		return tenon_error(-TENON_E_NOMEM, "no memory for a message");
	err = library.send_exception(fd, message);
	free(message);
	return err;
}

/* ---- sessions that a thread of this process serves */

int tvm_start_thread(void *(*run)(void *context), void *context)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, run, context);
	pthread_attr_destroy(&attr);
	return err ? tenon_error(-TENON_E_NOMEM, "no thread for a session") : 0;
}

bool tvm_transfer(int fd, void *data, size_t size, bool out)
{
	char *at = data;
	ssize_t n;

	for (; size; size -= (size_t)n, at += n) {
		n = out ? send(fd, at, size, MSG_NOSIGNAL) : recv(fd, at, size, 0);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return false;
	}
	return true;
}

bool tvm_greet(int fd)
{
	struct {
		uint32_t magic;
		uint32_t size;
		char key[1024];
	} message;

	if (!tvm_transfer(fd, &message, 8, false) || message.size > sizeof(message.key) ||
	    !tvm_transfer(fd, message.key, message.size, false))
		return false;
	message.size = 6;
	memcpy(message.key, "server", 6);
	return tvm_transfer(fd, &message, 8 + 6, true);
}

/* what the thread of a session gets; it frees both */
struct local {
	int fd;
	char *folder;
	bool greeted;
};

static void *run_local(void *context)
{
	struct local *l = context;

	if (!l->greeted || tvm_greet(l->fd))
		serve(l->fd, l->folder);
	tenon_error_clear();
	close(l->fd);
	free(l->folder);
	free(l);
	return NULL;
}

int tvm_serve_in_thread(bool greeted, int *fd)
{
	struct library library;
	struct local *l;
	int fds[2], err = open_library(&library);

	*fd = -1;
	if (err)
		return err;
	l = calloc(1, sizeof(*l));
	if (!l)
		return tenon_error(-TENON_E_NOMEM, "no memory for a session");
	err = get_folder(&l->folder);
	if (err)
		goto free_local;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		err = tenon_error(-TENON_E_IO, "no sockets for a session");
		goto free_folder;
	}
	l->fd = fds[1];
	l->greeted = greeted;
	err = tvm_start_thread(run_local, l);
	if (!err) {
		*fd = fds[0];
		return 0;
	}
	close(fds[0]);
	close(fds[1]);
free_folder:
	free(l->folder);
free_local:
	free(l);
	return err;
}

static PACKED_CALL(local_session)
{
	int fd, err = arguments_check("rpc.LocalSession", count, 0, 0);

	if (!err)
		err = tvm_serve_in_thread(true, &fd);
	return err ? err : tvm_connect_over(fd, ret);
}

const struct global_function tvm_server_globals[] = {
	{ "rpc.LocalSession", local_session },
	{ "rpc.ReturnException", return_exception },
	{ "rpc.ServerLoop", server_loop },
	{ NULL, NULL },
};
