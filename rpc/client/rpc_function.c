/* SPDX-License-Identifier: MIT */
/* Functions and other objects of the server. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/wire_codes.h"
#include "runtime/core/arguments.h"

/* ---- objects that only the server knows */

static void object_delete(void *self, int flags)
{
	struct rpc_object *o = self;

	if (flags & TENON_DELETE_CONTENT) {
		rpc_free_later(o->rpc, o->handle, LEGACY_OBJECT);
		rpc_unref(o->rpc);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(o);
}

bool rpc_object_is(const struct tenon_object *o)
{
	return o->deleter == object_delete;
}

int rpc_object_create(struct rpc *r, uint64_t handle, struct tenon_object **out)
{
	struct rpc_object *o = calloc(1, sizeof(*o));
	int32_t type;
	int err = 0;

	*out = NULL;
	if (!o)
		err = tenon_error(-TENON_E_NOMEM, "no memory for an object");
	if (!err)
		err = tenon_type_register("tenon.RemoteObject", TENON_TYPE_OBJECT, &type);
	if (err) {
		free(o);
		rpc_free_later(r, handle, LEGACY_OBJECT);
		return err;
	}
	tenon_object_init(&o->object, type, object_delete);
	o->rpc = r;
	o->handle = handle;
	tenon_object_ref(r);
	*out = &o->object;
	return 0;
}

/* ---- functions */

/* as in a function object that tenon_function_create() makes, but with a session and a handle */
struct rpc_function_object {
	struct tenon_function base;
	struct rpc *rpc;
	uint64_t handle;
};

int rpc_call(struct rpc *r, uint64_t handle, const struct tenon_value *args, int32_t count,
	     struct tenon_value *ret)
{
	struct rpc_result result;
	int err;

	pthread_mutex_lock(&r->lock);
	err = rpc_make_arguments(r, args, (uint32_t)count);
	if (!err)
		err = rpc_request(r, PACKET_CALL, handle, r->values, (uint32_t)count);
	if (!err)
		err = rpc_take_result(r, &result);
	pthread_mutex_unlock(&r->lock);
	return err ? err : rpc_finish_result(r, &result, ret);
}

static PACKED_CALL(call)
{
	const struct rpc_function_object *f = self;

	return rpc_call(f->rpc, f->handle, args, count, ret);
}

static void function_delete(void *self, int flags)
{
	struct rpc_function_object *f = self;

	if (flags & TENON_DELETE_CONTENT) {
		rpc_free_later(f->rpc, f->handle, LEGACY_FUNCTION);
		rpc_unref(f->rpc);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(f);
}

int rpc_function_create(struct rpc *r, uint64_t handle, struct tenon_function **out)
{
	struct rpc_function_object *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f) {
		rpc_free_later(r, handle, LEGACY_FUNCTION);
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	}
	tenon_object_init(&f->base.object, TENON_TYPE_FUNCTION, function_delete);
	f->base.call = call;
	f->rpc = r;
	f->handle = handle;
	tenon_object_ref(r);
	*out = &f->base;
	return 0;
}

uint64_t rpc_function_handle(const struct rpc *r, const struct tenon_function *f)
{
	const struct rpc_function_object *own = (const struct rpc_function_object *)f;

	return f->call == call && own->rpc == r ? own->handle : 0;
}

int rpc_post_call(struct tenon_remote *remote, struct tenon_function *function,
		  const struct tenon_value *args, int32_t count)
{
	struct rpc *r = rpc_of(remote);
	uint64_t handle = rpc_function_handle(r, function);
	int err;

	if (!handle)
		return tenon_error(-TENON_E_TYPE, "the function is none of the session with %s",
				   r->address);
	pthread_mutex_lock(&r->lock);
	err = rpc_make_arguments(r, args, (uint32_t)count);
	if (!err)
		err = rpc_post(r, PACKET_CALL, handle, r->values, (uint32_t)count, NULL);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* ---- global functions of the server */

int rpc_global(struct rpc *r, const char *name, uint64_t *handle)
{
	struct wire_value value = wire_string(name);
	int err = rpc_request(r, PACKET_GET_FUNCTION, 0, &value, 1);

	*handle = 0;
	if (!err)
		err = rpc_one_value(r, WIRE_POINTER, &value);
	if (!err)
		*handle = value.as.handle;
	return err;
}

int rpc_server_function(struct rpc *r, const char *name, uint64_t *handle)
{
	struct wire_value text = wire_string(name);
	uint32_t i;
	int err;

	for (i = 0; i < r->known_count; i++)
		if (!strcmp(r->known[i].name, name)) {
			*handle = r->known[i].handle;
			return 0;
		}
	/* Tenon's servers have all of them, so the handle is known before the answer */
	err = r->pipelined ? rpc_post(r, PACKET_GET_FUNCTION, 0, &text, 1, handle)
			   : rpc_global(r, name, handle);
	if (!err && !*handle)
		err = tenon_error(-TENON_E_UNSUPPORTED, "%s has no function %s", r->address, name);
	if (!err && r->known_count < RPC_KNOWN)
		r->known[r->known_count++] = (struct rpc_known){ name, *handle };
	return err;
}

int rpc_server_call(struct rpc *r, const char *name, const struct wire_value *values,
		    uint32_t count)
{
	uint64_t handle;
	int err = rpc_server_function(r, name, &handle);

	return err ? err : rpc_request(r, PACKET_CALL, handle, values, count);
}

int rpc_function(struct tenon_remote *remote, const char *name, struct tenon_function **out)
{
	struct rpc *r = rpc_of(remote);
	uint64_t handle;
	int err;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	err = rpc_global(r, name, &handle);
	pthread_mutex_unlock(&r->lock);
	return err || !handle ? err : rpc_function_create(r, handle, out);
}

/* ---- names of functions */

/* List functions by number, which servers of TVM 0.21 and later offer. */
static int list_by_index(struct rpc *r, struct tenon_buffer *out)
{
	struct tenon_value ret = tenon_arg_none(), name = tenon_arg_none();
	struct tenon_function *list = NULL, *names = NULL;
	struct tenon_slice text;
	int64_t i, count = 0;
	int err;

	err = rpc_function(&r->base, "ffi.FunctionListGlobalNamesFunctor", &list);
	if (!err && !list)
		err = tenon_error(-TENON_E_UNSUPPORTED, "%s cannot list its functions", r->address);
	if (!err)
		err = tenon_call(list, &ret);
	if (!err)
		err = tenon_value_object(&ret, TENON_TYPE_FUNCTION, &names);
	if (!err)
		err = tenon_call(names, &name, tenon_arg_int(-1));
	if (!err)
		err = tenon_value_int(&name, &count);
	for (i = 0; i < count && !err; i++) {
		err = tenon_call(names, &name, tenon_arg_int(i));
		if (!err)
			err = tenon_value_text(&name, &text);
		if (!err)
			err = tenon_buffer_printf(out, "%s%.*s", out->size ? "," : "",
						  (int)text.size, text.data);
		tenon_value_release(&name);
	}
	tenon_value_release(&ret);
	tenon_object_unref(list);
	return err;
}

int rpc_list_functions(struct tenon_remote *remote, struct tenon_buffer *out)
{
	struct rpc *r = rpc_of(remote);
	struct tenon_function *list;
	struct tenon_value text = tenon_arg_none();
	struct tenon_slice names;
	int err = rpc_function(remote, "tenon.rpc.list_functions", &list);

	if (err)
		return err;
	if (!list)
		return list_by_index(r, out);
	err = tenon_call(list, &text);
	tenon_object_unref(list);
	if (!err)
		err = tenon_value_text(&text, &names);
	if (!err)
		err = tenon_buffer_slice(out, names);
	tenon_value_release(&text);
	return err;
}
