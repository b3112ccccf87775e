/* SPDX-License-Identifier: MIT */
/* Devices of servers as devices of this process, and their memory. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/wire_codes.h"
#include "runtime/device/device_core.h"

/* places of devices that are not opened by an address: "session/SLOT/cpu:0". They keep their numbers when another
 * session gets the slot, so those with TVM's numbers have a place of their own. */
#define SESSION_PLACE "session/"
#define TVM_PLACE     "tvm/"

/* ---- memory */

static int rpc_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
		     struct tenon_memory **out)
{
	const struct rpc_device *d = (const struct rpc_device *)device;
	struct wire_tensor t = { .device = d->there, .dtype = { kDLUInt, 8, 1 }, .ndim = 1 };
	struct wire_value values[2] = { { WIRE_TENSOR, { .tensor = &t } }, wire_none() };
	struct rpc_memory *m = calloc(1, sizeof(*m));
	int err;

	if (!m || request->bytes > INT64_MAX) {
		free(m);
		return tenon_error(-TENON_E_NOMEM, "no memory for memory");
	}
	if (!tenon_object_promote(d->rpc)) {
		free(m);
		return tenon_error(-TENON_E_LOST, "its session is over");
	}
	t.shape[0] = (int64_t)request->bytes;
	pthread_mutex_lock(&d->rpc->lock);
	err = rpc_post(d->rpc, PACKET_ALLOC_TENSOR, 0, values, 2, &m->handle);
	pthread_mutex_unlock(&d->rpc->lock);
	if (!err && !m->handle)
		err = tenon_error(-TENON_E_NOMEM, "%s: no handle for %" PRIu64 " bytes",
				  d->rpc->address, request->bytes);
	if (err) {
		rpc_unref(d->rpc);
		free(m);
		return err;
	}
	m->allocated = true;
	tenon_memory_init(&m->base, device, request->bytes, request->usage);
	*out = &m->base;
	return 0;
}

int rpc_memory_adopt(struct tenon_device *device, uint64_t handle, uint64_t owner, uint64_t size,
		     struct tenon_memory **out)
{
	const struct rpc_device *d = (const struct rpc_device *)device;
	struct rpc_memory *m = calloc(1, sizeof(*m));

	*out = NULL;
	if (!m) {
		rpc_free_later(d->rpc, owner, LEGACY_NDARRAY);
		return tenon_error(-TENON_E_NOMEM, "no memory for a tensor");
	}
	tenon_object_ref(d->rpc);
	m->handle = handle;
	m->owner = owner;
	tenon_memory_init(&m->base, device, size, TENON_MEMORY_DEFAULT);
	*out = &m->base;
	return 0;
}

static void rpc_free(struct tenon_memory *memory)
{
	const struct rpc_device *d = (const struct rpc_device *)memory->device;
	struct rpc_memory *m = (struct rpc_memory *)memory;

	if (m->allocated)
		rpc_free_memory_later(d->rpc, m->handle, d->there);
	else
		rpc_free_later(d->rpc, m->owner, LEGACY_NDARRAY);
	rpc_unref(d->rpc);
	free(m);
}

const struct tenon_memory_ops rpc_memory_ops = {
	.size = sizeof(rpc_memory_ops),
	.alloc = rpc_alloc,
	.free = rpc_free,
};

/* ---- devices */

static void rpc_device_close(struct tenon_device *device)
{
	struct rpc_device *d = (struct rpc_device *)device;

	if (d->rpc->opened_by_name)
		rpc_unref(d->rpc);
	else
		tenon_object_unref_weak(d->rpc);
	free(d);
}

static const struct tenon_device_ops rpc_device_ops = {
	.size = sizeof(rpc_device_ops),
	.close = rpc_device_close,
	.memory = &rpc_memory_ops,
	.queue = &rpc_queue_ops,
};

static int number_of(struct rpc *r, DLDevice there, int attribute, int64_t *out)
{
	struct tenon_value value;
	int err = rpc_ops.attribute(&r->base, there, attribute, &value);

	*out = 0;
	if (!err && value.type == TENON_TYPE_INT)
		*out = value.as.integer;
	tenon_value_release(&value);
	return err;
}

/*
 * Ask Tenon's server to open the device, to learn why that fails. Other servers are not asked: some
 * of TVM's exit.
 */
static char *reason_of(struct rpc *r, DLDevice there)
{
	struct wire_value value = { WIRE_DEVICE, { .device = there } };
	char *reason = NULL;
	int err;

	if (!r->pipelined)
		return NULL;
	pthread_mutex_lock(&r->lock);
	err = rpc_request(r, PACKET_SET_DEVICE, 0, &value, 1);
	pthread_mutex_unlock(&r->lock);
	if (err == -TENON_E_CALL)
		reason = strdup(tenon_error_message());
	tenon_error_clear();
	return reason;
}

static int no_device(struct rpc *r, DLDevice there)
{
	char *reason = reason_of(r, there);
	int err = tenon_error(-TENON_E_DEVICE, "%s has no device %s:%d%s%s", r->address,
			      tenon_device_name(there.device_type), there.device_id,
			      reason ? ": " : "", reason ? reason : "");

	free(reason);
	return err;
}

static int check_exists(struct rpc *r, DLDevice there)
{
	int64_t exists = 1;
	int err;

	/* TVM's servers do not answer for the CPU, although it exists */
	if (there.device_type == kDLCPU)
		return 0;
	err = number_of(r, there, TENON_ATTRIBUTE_EXISTS, &exists);
	if (err || exists)
		return err;
	return no_device(r, there);
}

static void ask_attributes(struct rpc_device *d)
{
	struct tenon_device_properties *p = d->base.properties;

	snprintf(p->name, sizeof(p->name), "%s:%d of %s", tenon_device_name(d->there.device_type),
		 d->there.device_id, d->rpc->address);
	snprintf(p->driver, sizeof(p->driver), "rpc");
	p->device_class = TENON_CLASS_OTHER;
	p->flags = TENON_DEVICE_INLINE;
	p->alignment = 1;
	p->queues = 1;
	p->heap_count = 1;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL;
	/* what the server has is known when it refuses */
	p->total_memory = p->max_allocation = p->heaps[0].size = UINT64_C(1) << 62;
}

static int device_create(struct rpc *r, DLDevice there, uint32_t index, struct tenon_device **out)
{
	struct rpc_device *d;
	int err = check_exists(r, there);

	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = tenon_device_init(&d->base, &rpc_device_ops, &rpc_backend, index);
	if (err) {
		free(d);
		return err;
	}
	d->rpc = r;
	d->there = there;
	if (r->opened_by_name)
		tenon_object_ref(r);
	else
		tenon_object_ref_weak(r);
	d->base.core->has_number = r->tvm_devices;
	if (r->tvm_devices)
		d->base.id = (DLDevice){ (DLDeviceType)(RPC_TVM_TYPES * (int)r->slot +
							(int)there.device_type),
					 there.device_id };
	ask_attributes(d);
	*out = &d->base;
	return 0;
}

/* ---- names: "HOST:PORT/opencl:0", and options behind */

struct place {
	char *address;
	struct tenon_slice device;
	char key[256];
	char secret_file[PATH_MAX];
	char timeout[32];
};

static int read_option(const struct tenon_device_option *o, struct place *p)
{
	const struct {
		const char *name;
		char *value;
		size_t room;
	} texts[] = {
		{ "key", p->key, sizeof(p->key) },
		{ "secret", p->secret_file, sizeof(p->secret_file) },
		{ "timeout", p->timeout, sizeof(p->timeout) },
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!tenon_slice_equal(o->key, tenon_slice_of(texts[i].name)))
			continue;
		if (o->value.size >= texts[i].room)
			return tenon_error(-TENON_E_VALUE,
					   "%s= has %zu bytes, at most %zu are possible",
					   texts[i].name, o->value.size, texts[i].room - 1);
		memcpy(texts[i].value, o->value.data, o->value.size);
		/* an option may be given twice: the last counts */
		texts[i].value[o->value.size] = '\0';
		return 0;
	}
	return tenon_error(-TENON_E_VALUE,
			   "rpc has no option \"%.*s\": it has key=KEY, secret=FILE and "
			   "timeout=MILLISECONDS",
			   (int)o->key.size, o->key.data);
}

static int read_place(const struct tenon_device_choice *choice, struct place *p)
{
	struct tenon_slice path = choice->place;
	const char *slash = memrchr(path.data, '/', path.size);
	size_t i;
	int err = 0;

	memset(p, 0, sizeof(*p));
	if (!slash || slash == path.data)
		return tenon_error(-TENON_E_VALUE, "a device of another machine is named like "
						   "rpc://HOST:PORT/opencl:0?key=KEY");
	p->device.data = slash + 1;
	p->device.size = path.size - (size_t)(p->device.data - path.data);
	for (i = 0; i < choice->option_count && !err; i++)
		err = read_option(&choice->options[i], p);
	if (err)
		return err;
	p->address = strndup(path.data, (size_t)(slash - path.data));
	return p->address ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for an address");
}

static int find_session(const struct place *p, struct rpc **out)
{
	struct tenon_remote_options o = { .size = sizeof(o), .key = p->key };
	const char *slash = strchr(p->address, '/');

	if (!strncmp(p->address, SESSION_PLACE, strlen(SESSION_PLACE)) ||
	    !strncmp(p->address, TVM_PLACE, strlen(TVM_PLACE))) {
		*out = rpc_session_at((uint32_t)strtoul(slash + 1, NULL, 10));
		return *out ? 0
			    : tenon_error(-TENON_E_DEVICE, "rpc://%s: there is no such session",
					  p->address);
	}
	o.request_ms = (uint32_t)strtoul(p->timeout, NULL, 10);
	o.secret_file = *p->secret_file ? p->secret_file : NULL;
	return rpc_session_of_name(p->address, &o, out);
}

int rpc_device_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct rpc *r = NULL;
	DLDevice there;
	struct place p;
	int err = read_place(choice, &p);

	if (!err)
		err = tenon_device_parse(p.device, &there);
	if (!err)
		err = find_session(&p, &r);
	if (!err)
		err = device_create(r, there, choice->index, out);
	rpc_unref(r);
	free(p.address);
	return err;
}

int rpc_device_of(struct tenon_remote *remote, DLDevice there, struct tenon_device **out)
{
	struct rpc *r = rpc_of(remote);
	struct tenon_device *old;
	char name[100];
	int err;

	*out = NULL;
	snprintf(name, sizeof(name), "rpc://%s%u/%s:%d", r->tvm_devices ? TVM_PLACE : SESSION_PLACE,
		 r->slot, tenon_device_name(there.device_type), there.device_id);
	err = tenon_device_open(name, &old);
	if (err)
		return err;
	if (((struct rpc_device *)old)->rpc == r) {
		*out = old;
		return 0;
	}
	/* left over from the session that had this number before */
	tenon_error(-TENON_E_LOST, "its session is over");
	tenon_device_lose(old, -TENON_E_LOST);
	tenon_error_clear();
	err = tenon_device_reopen(old, out);
	tenon_object_unref(old);
	return err;
}
