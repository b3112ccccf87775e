/* SPDX-License-Identifier: MIT */
/* Choose the device of a call, open it once, and make it current for the call. */
#include "runtime/target/target_module.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/module_kind.h>
#include <tenon/device.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/device/device_thread.h"

/**
 * struct target - a module and where it runs
 * @inner: the module
 * @key: target key; the URI follows its NUL
 * @uri: URI of the device; "" for the thread's current device
 * @device: the device, once it was opened; atomic
 */
struct target {
	struct tenon_module *inner;
	char *key;
	const char *uri;
	struct tenon_device *device;
};

struct target_set {
	struct tenon_object object;
	size_t count;
	struct target at[];
};

struct target_module {
	struct tenon_module base;
	struct target_set *list;
	size_t self;
};

/* All functions of one name, one per target; the first is the one that was looked up. */
struct target_call {
	struct target_set *list;
	size_t count;
	struct {
		struct tenon_function *function;
		struct target *target;
	} at[];
};

/* ---- devices */

/* Return the device of a target, or NULL where it has none; the first call opens it. */
static int get_device(struct target *t, struct tenon_device **out)
{
	struct tenon_device *none = NULL;
	int err;

	*out = __atomic_load_n(&t->device, __ATOMIC_ACQUIRE);
	if (*out || !*t->uri)
		return 0;
	err = tenon_device_open(t->uri, out);
	if (err)
		return tenon_error_in(err, "target key \"%s\"", t->key);
	if (__atomic_compare_exchange_n(&t->device, &none, *out, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return 0;
	tenon_object_unref(*out);
	*out = none;
	return 0;
}

/* The thread's current device of a type; NULL when it has none yet. */
static struct tenon_device *current_device(int32_t type)
{
	const struct device_place *p = device_places;

	for (; p < device_places + DEVICE_PLACES && p->type; p++)
		if (p->type == type)
			return p->device;
	return NULL;
}

/* ---- calls */

static int choose(const struct target_call *c, size_t *chosen)
{
	struct tenon_device *device;
	size_t i;
	int err;

	*chosen = 0;
	for (i = 0; c->count > 1 && i < c->count; i++) {
		err = get_device(c->at[i].target, &device);
		if (err)
			return err;
		if (device && current_device(device->id.device_type) == device) {
			*chosen = i;
			return 0;
		}
	}
	return 0;
}

static PACKED_CALL(call_target)
{
	const struct target_call *c = self;
	struct tenon_device *device, *before = NULL;
	struct tenon_function *f;
	size_t chosen;
	int err;

	err = choose(c, &chosen);
	if (!err)
		err = get_device(c->at[chosen].target, &device);
	if (err)
		return err;
	f = c->at[chosen].function;
	if (device)
		before = current_device(device->id.device_type);
	if (!device || before == device)
		return f->call(f, args, count, ret);
	tenon_object_ref(before);
	err = tenon_device_set_current(device);
	if (!err)
		err = f->call(f, args, count, ret);
	/* restore the device also after a failed call, and keep the error of the call */
	if (before && tenon_device_set_current(before) && !err)
		err = tenon_error_status();
	tenon_object_unref(before);
	return err;
}

static void release_call(void *self)
{
	struct target_call *c = self;
	size_t i;

	for (i = 0; i < c->count; i++)
		tenon_object_unref(c->at[i].function);
	tenon_object_unref(c->list);
	free(c);
}

static int add_function(struct target_call *c, struct target *t, struct tenon_slice name)
{
	struct tenon_function *f;
	int err;

	if (!t->inner->ops->get_function)
		return 0;
	err = t->inner->ops->get_function(t->inner, name, &f);
	if (err || !f)
		return err;
	c->at[c->count].function = f;
	c->at[c->count++].target = t;
	return 0;
}

/* Test whether a name begins with a key and a colon, and remove these. */
static bool take_key(struct tenon_slice *name, const char *key)
{
	const size_t size = strlen(key);

	if (name->size <= size + 1 || memcmp(name->data, key, size) || name->data[size] != ':')
		return false;
	name->data += size + 1;
	name->size -= size + 1;
	return true;
}

static bool is_sibling(const struct target_set *list, size_t a, size_t b)
{
	return a != b && tenon_slice_equal(list->at[a].inner->kind, list->at[b].inner->kind);
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	struct target_module *t = (struct target_module *)m;
	struct target_set *list = t->list;
	bool alone = take_key(&name, list->at[t->self].key);
	struct target_call *c;
	size_t i;
	int err;

	*out = NULL;
	c = calloc(1, sizeof(*c) + list->count * sizeof(c->at[0]));
	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	c->list = list;
	tenon_object_ref(list);
	err = add_function(c, &list->at[t->self], name);
	for (i = 0; i < list->count && !err && c->count && !alone; i++)
		if (is_sibling(list, t->self, i))
			err = add_function(c, &list->at[i], name);
	if (!err && c->count)
		err = tenon_function_create(c, call_target, release_call, out);
	if (err || !c->count)
		release_call(c);
	return err;
}

/* ---- what else a module does: as the one behind it */

static struct tenon_module *inner_of(const struct tenon_module *m)
{
	const struct target_module *t = (const struct target_module *)m;

	return t->list->at[t->self].inner;
}

static int each_function(struct tenon_module *m,
			 int (*visit)(void *context, struct tenon_slice name), void *context)
{
	return tenon_module_each_function(inner_of(m), visit, context);
}

static int save(struct tenon_module *m, struct tenon_buffer *out)
{
	struct tenon_module *inner = inner_of(m);

	return inner->ops->save(inner, out);
}

static int source(struct tenon_module *m, const char *format, struct tenon_value *out)
{
	struct tenon_module *inner = inner_of(m);

	if (inner->ops->source)
		return inner->ops->source(inner, format, out);
	return tenon_error(-TENON_E_UNSUPPORTED, "\"%.*s\" modules have no source",
			   (int)inner->kind.size, inner->kind.data);
}

static int visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct tenon_module *inner = inner_of(m);

	return inner->ops->visit ? inner->ops->visit(inner, v) : 0;
}

static void destroy(struct tenon_module *m)
{
	tenon_object_unref(((struct target_module *)m)->list);
}

static const struct tenon_module_ops target_ops = {
	.get_function = get_function,
	.each_function = each_function,
	.save = save,
	.source = source,
	.visit = visit,
	.destroy = destroy,
};

/* ---- lists */

static void set_delete(void *self, int flags)
{
	struct target_set *list = self;
	size_t i;

	for (i = 0; flags & TENON_DELETE_CONTENT && i < list->count; i++) {
		tenon_object_unref(list->at[i].inner);
		tenon_object_unref(list->at[i].device);
		free(list->at[i].key);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(list);
}

int target_set_create(size_t room, struct target_set **out)
{
	*out = calloc(1, sizeof(**out) + room * sizeof((*out)->at[0]));
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu targets", room);
	tenon_object_init(&(*out)->object, TENON_TYPE_OBJECT, set_delete);
	return 0;
}

int target_set_add(struct target_set *list, struct tenon_slice key, struct tenon_slice device,
		   struct tenon_module **m)
{
	struct target *t = &list->at[list->count];
	struct target_module *outer = calloc(1, sizeof(*outer));
	char *texts = malloc(key.size + device.size + 2);

	if (!outer || !texts) {
		free(outer);
		free(texts);
		return tenon_error(-TENON_E_NOMEM, "no memory for a target");
	}
	memcpy(texts, key.data, key.size);
	texts[key.size] = 0;
	memcpy(texts + key.size + 1, device.data, device.size);
	texts[key.size + 1 + device.size] = 0;
	*t = (struct target){ *m, texts, texts + key.size + 1, NULL };
	tenon_module_init(&outer->base, &target_ops, t->inner->kind, t->inner->properties);
	/* "KEY:NAME" is not in the list of names */
	outer->base.flags = t->inner->flags | TENON_MODULE_OPEN_NAMES;
	outer->list = list;
	outer->self = list->count++;
	tenon_object_ref(list);
	*m = &outer->base;
	return 0;
}

void target_set_close(struct target_set *list)
{
	tenon_object_unref(list);
}
