/* SPDX-License-Identifier: MIT */
/* Modules of the server. */
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/wire_codes.h"

struct rpc_module {
	struct tenon_module base;
	struct rpc *rpc;
	uint64_t handle;
	struct tenon_module *local; /* the inspected file; NULL for none */
};

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	const struct rpc_module *module = (const struct rpc_module *)m;
	struct wire_value values[3] = { { WIRE_MODULE, { .handle = module->handle } },
					{ WIRE_STRING, { .text = name } },
					wire_int(1) };
	struct rpc *r = module->rpc;
	struct rpc_result result;
	int err;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	if (r->generation != WIRE_LEGACY)
		values[2].kind = WIRE_BOOL;
	err = rpc_server_call(r, "tvm.rpc.server.ModuleGetFunction", values, 3);
	if (!err)
		err = rpc_take_result(r, &result);
	pthread_mutex_unlock(&r->lock);
	if (err || result.kind != WIRE_FUNCTION || !result.handle)
		return err;
	return rpc_function_create(r, result.handle, out);
}

static int each_function(struct tenon_module *m,
			 int (*visit)(void *context, struct tenon_slice name), void *context)
{
	const struct rpc_module *module = (const struct rpc_module *)m;

	return module->local ? tenon_module_each_function(module->local, visit, context) : 0;
}

static void destroy(struct tenon_module *m)
{
	struct rpc_module *module = (struct rpc_module *)m;

	rpc_free_later(module->rpc, module->handle, LEGACY_MODULE);
	tenon_object_unref(module->local);
	rpc_unref(module->rpc);
}

static const struct tenon_module_ops module_ops = {
	.get_function = get_function,
	.each_function = each_function,
	.destroy = destroy,
};

int rpc_module_create(struct rpc *r, uint64_t handle, struct tenon_module *local,
		      struct tenon_module **out)
{
	struct rpc_module *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (!m) {
		rpc_free_later(r, handle, LEGACY_MODULE);
		return tenon_error(-TENON_E_NOMEM, "no memory for a module");
	}
	tenon_module_init(&m->base, &module_ops, tenon_slice_of("rpc"), TENON_MODULE_RUNNABLE);
	m->base.flags = TENON_MODULE_OPEN_NAMES;
	m->rpc = r;
	m->handle = handle;
	m->local = local;
	tenon_object_ref(local);
	tenon_object_ref(r);
	*out = &m->base;
	return 0;
}

uint64_t rpc_module_handle(const struct rpc *r, const struct tenon_module *m)
{
	const struct rpc_module *own = (const struct rpc_module *)m;

	return m->ops == &module_ops && own->rpc == r ? own->handle : 0;
}

struct tenon_module *rpc_module_local(const struct tenon_module *m)
{
	return m->ops == &module_ops ? ((const struct rpc_module *)m)->local : NULL;
}

static int load(struct rpc *r, const char *name, struct tenon_module *local,
		struct tenon_module **out)
{
	struct wire_value value = wire_string(name);
	struct rpc_result result;
	int err;

	*out = NULL;
	pthread_mutex_lock(&r->lock);
	err = rpc_server_call(r, "tvm.rpc.server.load_module", &value, 1);
	if (!err)
		err = rpc_take_result(r, &result);
	if (!err && (result.kind != WIRE_MODULE || !result.handle))
		err = rpc_fail(r, tenon_error(-TENON_E_FORMAT, "%s: load_module returned no module",
					      r->address));
	pthread_mutex_unlock(&r->lock);
	return err ? err : rpc_module_create(r, result.handle, local, out);
}

int rpc_load(struct tenon_remote *remote, const char *name, struct tenon_module **out)
{
	return load(rpc_of(remote), name, NULL, out);
}

int rpc_open(struct tenon_remote *remote, const char *path, struct tenon_module **out)
{
	const char *slash = strrchr(path, '/');
	struct tenon_module *local = NULL;
	int err;

	*out = NULL;
	err = rpc_send_file(remote, path, NULL, NULL);
	if (err)
		return err;
	/* a file that this build cannot read may still be one that the server can */
	err = tenon_module_inspect(path, &local);
	if (err == -TENON_E_NOMEM)
		return err;
	if (err)
		tenon_error_clear();
	err = load(rpc_of(remote), slash ? slash + 1 : path, local, out);
	tenon_object_unref(local);
	return err ? tenon_error_in(err, "%s on %s", path, rpc_of(remote)->address) : 0;
}
