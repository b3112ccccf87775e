/* SPDX-License-Identifier: MIT */
/* Find and register backends: built in, plug-ins of the library, and plug-ins of third parties. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/plugin.h"
#include "runtime/device/backend_choice.h"
#include "runtime/device/backend_probe.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_table.h"

/* size of struct tenon_backend in the first version */
#define SIZE_LEAST offsetof(struct tenon_backend, formats)

struct registered {
	const struct tenon_backend *backend;
	struct registered *next;
};

/* a driver that this process or its parent opened */
struct opened {
	struct opened *next;
	const struct tenon_backend *backend;
	uint32_t forks; /* device_forks when it was opened */
};

static struct opened *opened;	      /* under call_lock */
static struct registered *registered; /* grows at the end, never shrinks */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t call_lock = PTHREAD_MUTEX_INITIALIZER;

/* Record that the driver is open in this process. Caller holds call_lock. */
static int note_opened(const struct tenon_backend *b)
{
	uint32_t forks = __atomic_load_n(&device_forks, __ATOMIC_RELAXED);
	struct opened *o = opened;

	if (b->flags & TENON_BACKEND_FORKS)
		return 0;
	while (o && o->backend != b)
		o = o->next;
	if (o && o->forks != forks)
		return tenon_error(-TENON_E_DEVICE,
				   "%s was used before fork(), which its driver does not survive: "
				   "use it in one of the processes only",
				   b->name);
	if (o)
		return 0;
	o = malloc(sizeof(*o));
	if (!o)
		return tenon_error(-TENON_E_NOMEM, "no memory to note a driver");
	o->next = opened;
	o->backend = b;
	o->forks = forks;
	opened = o;
	return 0;
}

static struct plugin *plugin_of(const struct tenon_backend *b)
{
	struct plugin *const *p = plugin_table;

	while (*p && (*p)->backend != b)
		p++;
	return *p;
}

int backend_open_plugin(const struct tenon_backend *b)
{
	struct plugin *p = plugin_of(b);

	return p ? plugin_open(p, -TENON_E_DEVICE) : 0;
}

const struct tenon_backend *backend_opened(const struct tenon_backend *b)
{
	const struct plugin *p = plugin_of(b);

	return p ? p->offer->backend : b;
}

int backend_enter(const struct tenon_backend *b, uint32_t *count)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct opened *before, *o;
	int err;

	err = backend_check_choice(b);
	if (!err)
		err = probe_check_verdict(b);
	if (err)
		return err;
	pthread_once(&once, device_add_fork_handler);
	fork_gate_lock(&call_lock);
	before = opened;
	err = note_opened(b);
	if (!err)
		err = backend_open_plugin(b);
	if (!err)
		err = backend_opened(b)->count(count);
	if (!err)
		return 0;
	/* a driver that did not open may be tried again, also in a child */
	o = opened;
	opened = before;
	if (o != before)
		free(o);
	backend_leave();
	return err;
}

void backend_leave(void)
{
	fork_gate_unlock(&call_lock);
}

void backend_forked(void)
{
	pthread_mutex_init(&register_lock, NULL);
	pthread_mutex_init(&call_lock, NULL);
	probe_forked();
}

static int each_builtin(int (*visit)(void *context, const struct tenon_backend *backend),
			void *context)
{
	struct plugin *const *p;
	int err = 0;

	for (p = plugin_table; !err && *p; p++)
		if ((*p)->backend)
			err = visit(context, (*p)->backend);
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

/* Test whether a backend has the same name or device type. */
static int taken(void *context, const struct tenon_backend *b)
{
	const struct tenon_backend *new = context;

	return !strcmp(b->name, new->name) || b->device_type == new->device_type;
}

/* a valid scheme of a device URI */
static bool is_name(const char *name)
{
	return name && *name && !name[strcspn(name, ":/?")];
}

int tenon_backend_register(const struct tenon_backend *backend)
{
	struct registered *r, **end = &registered;
	int err = 0;

	if (backend->abi != TENON_PLUGIN_ABI || backend->size < SIZE_LEAST)
		return tenon_error(
			-TENON_E_USAGE,
			"a backend of device ABI %u and %u bytes; this library takes ABI "
			"%u and at least %zu bytes. Rebuild it",
			backend->abi, backend->size, TENON_PLUGIN_ABI, SIZE_LEAST);
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
	err = backend_enter(backend, count);
	if (!err)
		backend_leave();
	return err;
}

int tenon_backend_describe(const struct tenon_backend *backend, uint32_t index,
			   struct tenon_device_properties *properties)
{
	uint32_t count;
	int err;

	memset(properties, 0, sizeof(*properties));
	properties->size = sizeof(*properties);
	properties->drm_render = -1;
	memset(properties->pci, 0xff, sizeof(properties->pci));
	err = backend_enter(backend, &count);
	if (err)
		return err;
	err = backend_opened(backend)->describe(index, properties);
	backend_leave();
	return err;
}

const char *tenon_backend_name(const struct tenon_backend *backend)
{
	return backend->name;
}

int32_t tenon_backend_device_type(const struct tenon_backend *backend)
{
	return backend->device_type;
}
