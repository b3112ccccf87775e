/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/device_table.h"

struct registered {
	const struct tenon_backend *backend;
	struct registered *next;
};

static struct registered *registered; /* grows at the end, never shrinks */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;

void backend_lock(void)
{
	pthread_mutex_lock(&call_lock);
}

void backend_unlock(void)
{
	pthread_mutex_unlock(&call_lock);
}

void backend_forked(void)
{
	pthread_mutex_init(&register_lock, NULL);
	pthread_mutex_init(&call_lock, NULL);
}

static int each_builtin(int (*visit)(void *context, const struct tenon_backend *backend),
			void *context)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && backend_table[i]; i++)
		err = visit(context, backend_table[i]);
	return err;
}

static int each_registered(int (*visit)(void *context, const struct tenon_backend *backend),
			   void *context)
{
	const struct registered *r;
	int err = 0;

	for (r = __atomic_load_n(&registered, __ATOMIC_ACQUIRE); !err && r;
	     r = __atomic_load_n(&r->next, __ATOMIC_ACQUIRE))
		err = visit(context, r->backend);
	return err;
}

int tenon_backend_each(int (*visit)(void *context, const struct tenon_backend *backend),
		       void *context)
{
	int err = each_builtin(visit, context);

	if (err)
		return err;
	plugins_load();
	return each_registered(visit, context);
}

struct wanted {
	struct tenon_slice name;
	struct tenon_slice kind;
	int32_t type;
	const struct tenon_backend *found;
};

static bool has_kind(const struct tenon_backend *b, struct tenon_slice kind)
{
	size_t i;

	for (i = 0; b->kinds && b->kinds[i]; i++)
		if (strlen(b->kinds[i]) == kind.size && !memcmp(b->kinds[i], kind.data, kind.size))
			return true;
	return false;
}

static int matches(void *context, const struct tenon_backend *b)
{
	struct wanted *w = context;
	bool yes;

	if (w->name.data)
		yes = strlen(b->name) == w->name.size &&
		      !memcmp(b->name, w->name.data, w->name.size);
	else if (w->kind.data)
		yes = has_kind(b, w->kind);
	else
		yes = b->device_type == w->type;
	if (yes)
		w->found = b;
	return yes;
}

const struct tenon_backend *tenon_backend_find(struct tenon_slice name)
{
	struct wanted w = { .name = name };

	tenon_backend_each(matches, &w);
	return w.found;
}

const struct tenon_backend *tenon_backend_of_type(int32_t type)
{
	struct wanted w = { .type = type };

	tenon_backend_each(matches, &w);
	return w.found;
}

const struct tenon_backend *tenon_backend_of_kind(struct tenon_slice kind)
{
	struct wanted w = { .kind = kind };

	tenon_backend_each(matches, &w);
	return w.found;
}

/* Is its name or its type taken, in the table or by a registered one. */
static int taken(void *context, const struct tenon_backend *b)
{
	const struct tenon_backend *new = context;

	return !strcmp(b->name, new->name) || b->device_type == new->device_type;
}

/* the part of a URI in front of its path */
static bool is_name(const char *name)
{
	return name && *name && !name[strcspn(name, ":/?")];
}

int tenon_backend_register(const struct tenon_backend *backend)
{
	struct registered *r, **end = &registered;
	int err = 0;

	if (backend->abi != TENON_DEVICE_ABI || backend->size < sizeof(*backend))
		return tenon_error(
			-TENON_E_USAGE,
			"a backend of device ABI %u and %u bytes; this library takes ABI "
			"%u and %zu bytes. Build it anew",
			backend->abi, backend->size, TENON_DEVICE_ABI, sizeof(*backend));
	if (!is_name(backend->name) || !backend->count || !backend->describe || !backend->open)
		return tenon_error(
			-TENON_E_USAGE,
			"backend \"%s\": want a name without \":\", \"/\" and \"?\", and "
			"the slots count, describe and open",
			backend->name ? backend->name : "");
	r = calloc(1, sizeof(*r));
	if (!r)
		return tenon_error(-TENON_E_NOMEM, "no memory to register a backend");
	r->backend = backend;
	pthread_mutex_lock(&register_lock);
	if (each_builtin(taken, (void *)(uintptr_t)backend) ||
	    each_registered(taken, (void *)(uintptr_t)backend)) {
		err = tenon_error(-TENON_E_EXISTS,
				  "backend \"%s\" (device type %d): name or type is taken",
				  backend->name, backend->device_type);
		free(r);
	} else {
		while (*end)
			end = &(*end)->next;
		__atomic_store_n(end, r, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&register_lock);
	return err;
}

int tenon_backend_problems(struct tenon_buffer *out)
{
	plugins_load();
	return plugins_problems(out);
}

int tenon_backend_count(const struct tenon_backend *backend, uint32_t *count)
{
	int err;

	*count = 0;
	backend_lock();
	err = backend->count(count);
	backend_unlock();
	return err;
}

int tenon_backend_describe(const struct tenon_backend *backend, uint32_t index,
			   struct tenon_device_properties *properties)
{
	int err;

	memset(properties, 0, sizeof(*properties));
	properties->drm_render = -1;
	memset(properties->pci, 0xff, sizeof(properties->pci));
	backend_lock();
	err = backend->describe(index, properties);
	backend_unlock();
	return err;
}
