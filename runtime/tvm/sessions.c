/* SPDX-License-Identifier: MIT */
/* Global functions of TVM's RPC client: sessions as modules, whose functions are the global ones of the server. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/module_kind.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/number.h"
#include "lib/slice_text.h"
#include "runtime/tvm/tvm.h"

/**
 * struct session - a session as a module
 * @base: the module
 * @remote: the session, referenced
 * @type: what its devices' types have more than those on the server
 * @next: in the list
 */
struct session {
	struct tenon_module base;
	struct tenon_remote *remote;
	int32_t type;
	struct session *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *sessions;

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	char text[256];

	if (name.size >= sizeof(text))
		return tenon_error(-TENON_E_VALUE, "a function's name of %zu bytes", name.size);
	memcpy(text, name.data, name.size);
	text[name.size] = '\0';
	return tenon_remote_function(((struct session *)m)->remote, text, out);
}

/* The connection ends with the last function, module or tensor of the session. */
static void destroy(struct tenon_module *m)
{
	struct session *s = (struct session *)m, **at;

	pthread_mutex_lock(&lock);
	for (at = &sessions; *at && *at != s;)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	pthread_mutex_unlock(&lock);
	tenon_object_unref(s->remote);
}

static const struct tenon_module_ops session_ops = {
	.get_function = get_function,
	.destroy = destroy,
};

int tvm_session(DLDevice device, struct tenon_remote **out)
{
	int32_t type = (int32_t)device.device_type / TVM_SESSION_TYPES * TVM_SESSION_TYPES;
	struct session *s;

	*out = NULL;
	pthread_mutex_lock(&lock);
	for (s = sessions; s && s->type != type;)
		s = s->next;
	if (s) {
		*out = s->remote;
		tenon_object_ref(*out);
	}
	pthread_mutex_unlock(&lock);
	return s ? 0
		 : tenon_error(-TENON_E_DEVICE, "remote[%d]: there is no such session",
			       (int)type / TVM_SESSION_TYPES - 1);
}

int tvm_open_device(DLDevice device, struct tenon_device **out)
{
	struct tenon_remote *remote;
	int err;

	*out = NULL;
	if (device.device_type == kDLCPU)
		return 0;
	if (!tvm_is_remote(device))
		return tenon_device_get(device, out);
	err = tvm_session(device, &remote);
	if (err)
		return err;
	err = tenon_remote_device(remote, tvm_there(device), out);
	tenon_object_unref(remote);
	return err;
}

/* Find out the number of a session by one of its devices. */
static int session_type(struct tenon_remote *remote, int32_t *out)
{
	struct tenon_device *device;
	int err = tenon_remote_device(remote, (DLDevice){ kDLCPU, 0 }, &device);

	if (err)
		return err;
	*out = (int32_t)tenon_device_id(device).device_type - kDLCPU;
	tenon_object_unref(device);
	return 0;
}

/* Takes over the reference. */
static int session_create(struct tenon_remote *remote, struct tenon_value *ret)
{
	struct session *s = calloc(1, sizeof(*s));
	int err = s ? session_type(remote, &s->type)
		    : tenon_error(-TENON_E_NOMEM, "no memory for a session");

	if (err) {
		free(s);
		tenon_object_unref(remote);
		return err;
	}
	tenon_module_init(&s->base, &session_ops, tenon_slice_of("rpc"), TENON_MODULE_RUNNABLE);
	s->base.flags = TENON_MODULE_OPEN_NAMES;
	s->remote = remote;
	pthread_mutex_lock(&lock);
	s->next = sessions;
	sessions = s;
	pthread_mutex_unlock(&lock);
	*ret = tenon_arg_object(s);
	return 0;
}

/* ---- global functions */

#define CONNECT "rpc.Connect"
#define TIMEOUT " -timeout="

static int read_address(const struct tenon_value *args, char *address, size_t size)
{
	struct tenon_slice host;
	int64_t port;
	int err = tvm_text(CONNECT, args, 0, &host);
	bool six;

	if (!err)
		err = tvm_int(CONNECT, args, 1, &port);
	if (err)
		return err;
	six = host.size && *host.data != '[' && memchr(host.data, ':', host.size);
	if (snprintf(address, size, "%s%.*s%s:%lld", six ? "[" : "", (int)host.size, host.data,
		     six ? "]" : "", (long long)port) >= (int)size)
		return tenon_error(-TENON_E_VALUE, CONNECT ": a host's name of %zu bytes",
				   host.size);
	return 0;
}

/* The key, and the limit of the session in seconds that may be behind it */
static int read_key(const struct tenon_value *args, char *key, size_t size, uint32_t *session_ms)
{
	struct tenon_slice text;
	int err = tvm_text(CONNECT, args, 2, &text);
	char *timeout;
	double seconds;

	if (err)
		return err;
	if (text.size >= size)
		return tenon_error(-TENON_E_VALUE, CONNECT ": a key of %zu bytes", text.size);
	memcpy(key, text.data, text.size);
	key[text.size] = '\0';
	timeout = strstr(key, TIMEOUT);
	if (!timeout)
		return 0;
	*timeout = '\0';
	seconds = number_read(timeout + strlen(TIMEOUT), NULL);
	if (!(seconds > 0 && seconds < 1e6))
		return tenon_error(-TENON_E_VALUE,
				   CONNECT ": the timeout %s is no number of seconds",
				   timeout + strlen(TIMEOUT));
	*session_ms = (uint32_t)(seconds * 1000);
	return 0;
}

/* host, port, key, whether to log, and the constructor of the session with its arguments */
static PACKED_CALL(connect)
{
	struct tenon_remote_options o = { .size = sizeof(o), .tvm_devices = true };
	char address[300], key[1024] = "";
	struct tenon_slice constructor;
	struct tenon_remote *remote;
	int err = arguments_check(CONNECT, count, 2, INT32_MAX);
	if (!err)
		err = read_address(args, address, sizeof(address));
	if (!err && count > 2)
		err = read_key(args, key, sizeof(key), &o.session_ms);
	if (!err && count > 4)
		err = tvm_text(CONNECT, args, 4, &constructor);
	if (!err && count > 4 && !slice_is(constructor, "rpc.LocalSession"))
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  CONNECT ": sessions by the constructor %.*s are not supported",
				  (int)constructor.size, constructor.data);
	if (err)
		return err;
	o.key = key;
	err = tenon_remote_connect(address, &o, &remote);
	return err ? err : session_create(remote, ret);
}

int tvm_connect_over(int fd, struct tenon_value *ret)
{
	struct tenon_remote_options o = { .size = sizeof(o), .tvm_devices = true };
	struct tenon_remote *remote;
	char address[40];
	int err;

	snprintf(address, sizeof(address), "fd:%d", fd);
	err = tenon_remote_connect(address, &o, &remote);
	return err ? err : session_create(remote, ret);
}

static int get_session(const char *function, const struct tenon_value *args, int32_t count,
		       int32_t arguments, struct session **out)
{
	struct tenon_module *m;
	int err = arguments_check(function, count, arguments, arguments);

	if (!err)
		err = tvm_object(function, args, 0, TENON_TYPE_MODULE, &m);
	if (!err && m->ops != &session_ops)
		err = tenon_error(-TENON_E_TYPE, "%s: argument 1 is no session", function);
	*out = err ? NULL : (struct session *)m;
	return err;
}

static PACKED_CALL(table_index)
{
	struct session *s;
	int err = get_session("rpc.SessTableIndex", args, count, 1, &s);
	if (!err)
		*ret = tenon_arg_int(s->type / TVM_SESSION_TYPES - 1);
	return err;
}

static PACKED_CALL(load_module)
{
	static const char function[] = "rpc.LoadRemoteModule";
	struct tenon_module *module;
	struct tenon_slice name;
	struct session *s;
	char *text;
	int err = get_session(function, args, count, 2, &s);
	if (!err)
		err = tvm_text(function, args, 1, &name);
	if (err)
		return err;
	text = strndup(name.data, name.size);
	if (!text)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a name", function);
	err = tenon_remote_load(s->remote, text, &module);
	free(text);
	if (!err)
		*ret = tenon_arg_object(module);
	return err;
}

/* Get a session after another one, with one reference; NULL after the last. */
static struct tenon_remote *session_after(int32_t type, int32_t *found)
{
	struct tenon_remote *next = NULL;
	struct session *s;

	pthread_mutex_lock(&lock);
	*found = INT32_MAX;
	for (s = sessions; s; s = s->next) {
		if (s->type > type && s->type < *found) {
			*found = s->type;
			next = s->remote;
		}
	}
	if (next)
		tenon_object_ref(next);
	pthread_mutex_unlock(&lock);
	return next;
}

/* Two modules of one server. A session refuses those of others; one that ended, or whose server cannot import, is passed by. */
static PACKED_CALL(import_module)
{
	static const char function[] = "rpc.ImportRemoteModule";
	struct tenon_module *parent, *child;
	struct tenon_remote *remote;
	struct tenon_function *import;
	int32_t type = -1;
	int err = arguments_check(function, count, 2, 2);

	if (!err)
		err = tvm_object(function, args, 0, TENON_TYPE_MODULE, &parent);
	if (!err)
		err = tvm_object(function, args, 1, TENON_TYPE_MODULE, &child);
	if (err)
		return err;
	err = -TENON_E_TYPE;
	while (err == -TENON_E_TYPE && (remote = session_after(type, &type))) {
		import = NULL;
		if (tenon_remote_function(remote, "tvm.rpc.server.ImportModule", &import))
			tenon_error_clear();
		if (import) {
			err = tenon_call(import, ret, tenon_arg_object(parent),
					 tenon_arg_object(child));
			tenon_object_unref(import);
		}
		tenon_object_unref(remote);
	}
	if (err != -TENON_E_TYPE)
		return err;
	return tenon_error(err,
			   "%s: the modules are not of one session whose server imports modules",
			   function);
}

const struct global_function tvm_session_globals[] = {
	{ CONNECT, connect },
	{ "rpc.ImportRemoteModule", import_module },
	{ "rpc.LoadRemoteModule", load_module },
	{ "rpc.SessTableIndex", table_index },
	{ NULL, NULL },
};
