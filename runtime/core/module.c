/* SPDX-License-Identifier: MIT */
/* Modules: look functions up, import, save, and release deep trees without recursion. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "lib/brief_errors.h"
#include "lib/nearest_name.h"
#include "runtime/core/module_imports.h"
#include "runtime/core/module_index.h"
#include "runtime/core/module_object.h"
#include "runtime/core/reference.h"

/*
 * A blob may nest as deep as it has modules. Recursive release would need as much stack, so nested
 * releases are queued and the outermost one processes them.
 */
static __thread struct tenon_module **waiting_lists;
static __thread bool releasing;

static void release_list(struct tenon_module **list)
{
	struct tenon_module **child;

	for (child = list + 1; *child; child++)
		object_unref(&(*child)->object);
	free(list);
}

static void release_imports(struct tenon_module **imports)
{
	struct tenon_module **list = imports - 1;

	if (releasing) {
		list[0] = (struct tenon_module *)waiting_lists;
		waiting_lists = list;
		return;
	}
	releasing = true;
	release_list(list);
	while ((list = waiting_lists)) {
		waiting_lists = (struct tenon_module **)list[0];
		release_list(list);
	}
	releasing = false;
}

/* Resize the import list to @count and keep its items. */
static int resize_imports(struct tenon_module *m, size_t count)
{
	struct tenon_module **list = m->imports ? m->imports - 1 : NULL;

	if (count > SIZE_MAX / sizeof(*list) - 2 ||
	    !(list = realloc(list, (count + 2) * sizeof(*list))))
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu imports", count);
	m->imports = list + 1;
	m->imports[m->import_count] = NULL;
	return 0;
}

/* module_index_find(), once a module has imports: a program whose modules have none need not link it. */
static int (*find_in_imports)(struct tenon_module *m, struct tenon_slice name,
			      struct tenon_function **out); /* atomic */

/* Terminate the list and mark all indices stale. */
static void imports_changed(struct tenon_module *m, size_t count)
{
	__atomic_store_n(&find_in_imports, module_index_find, __ATOMIC_RELAXED);
	m->imports[count] = NULL;
	m->imports[-1] = (struct tenon_module *)(uintptr_t)module_index_touch();
	m->import_count = count;
}

static void module_delete(void *self, int flags)
{
	struct tenon_module *m = self;

	if (flags & TENON_DELETE_CONTENT) {
		module_index_free(m->index);
		m->index = NULL;
		tenon_module_clear_imports(m);
		if (m->ops->destroy)
			m->ops->destroy(m);
	}
	if (flags & TENON_DELETE_MEMORY) {
		if (m->ops->free)
			m->ops->free(m);
		else
			free(m);
	}
}

bool module_is_ours(const struct tenon_object *object)
{
	return object->type == TENON_TYPE_MODULE && object->deleter == module_delete;
}

int module_of_value(const struct tenon_value *value, struct tenon_module **out)
{
	struct tenon_object *o;
	int err;

	*out = NULL;
	err = tenon_value_object(value, TENON_TYPE_MODULE, &o);
	if (err)
		return err;
	if (!module_is_ours(o))
		return tenon_error(-TENON_E_TYPE,
				   "the module belongs to another runtime in this process");
	*out = (struct tenon_module *)o;
	return 0;
}

void tenon_module_init(struct tenon_module *m, const struct tenon_module_ops *ops,
		       struct tenon_slice kind, uint32_t properties)
{
	tenon_object_init(&m->object, TENON_TYPE_MODULE, module_delete);
	m->ops = ops;
	m->kind = kind;
	m->properties = properties;
	m->flags = 0;
	m->imports = NULL;
	m->import_count = 0;
	m->index = NULL;
}

int tenon_module_find_function(struct tenon_module *m, struct tenon_slice name, bool imports,
			       struct tenon_function **out)
{
	int err;

	*out = NULL;
	if (m->ops->get_function) {
		err = m->ops->get_function(m, name, out);
		if (err || *out)
			return err;
	}
	if (!imports || !m->import_count)
		return 0;
	return __atomic_load_n(&find_in_imports, __ATOMIC_RELAXED)(m, name, out);
}

int tenon_module_each_function(struct tenon_module *m,
			       int (*visit)(void *context, struct tenon_slice name), void *context)
{
	if (!m->ops->each_function)
		return -TENON_E_UNSUPPORTED;
	return m->ops->each_function(m, visit, context);
}

#ifdef CONFIG_ERROR_MESSAGES
/* modules without a loader whose functions are unknown */
struct unloaded {
	struct tenon_slice kind; /* of the first */
	size_t count;
};

static int see_name(void *context, struct tenon_slice name)
{
	*(bool *)context = true;
	return 1;
}

/* A payload without a loader cannot run; one that lists names lacks no function that it should have. */
static int count_unloaded(void *context, struct tenon_module *m)
{
	struct unloaded *u = context;
	bool lists = false;

	if (m->properties & TENON_MODULE_RUNNABLE || !m->ops->get_function ||
	    !m->ops->each_function)
		return 0;
	if (tenon_module_each_function(m, see_name, &lists) < 0)
		tenon_error_clear();
	if (!lists && !u->count++)
		u->kind = m->kind;
	return 0;
}

void module_print_unloaded(struct tenon_module *m, struct tenon_buffer *out)
{
	struct unloaded u = { .count = 0 };

	count_unloaded(&u, m);
	if (module_walk_imports(m, count_unloaded, &u))
		tenon_error_clear();
	if (u.count)
		tenon_buffer_printf(
			out,
			" No loader for \"%.*s\"%s, so the functions of that import are "
			"unknown; tenon inspect says what it needs.",
			(int)u.kind.size, u.kind.data, u.count > 1 ? " and others" : "");
}

static int offer_name(void *context, struct tenon_slice name)
{
	nearest_name_offer(context, name);
	return 0;
}

static int offer_module(void *context, struct tenon_module *m)
{
	tenon_module_each_function(m, offer_name, context);
	return 0;
}

/* Append a hint to a "not found" message: the nearest name, or the number of functions. */
static void print_nearest(struct tenon_module *m, const char *name, struct tenon_buffer *out)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(name) };

	offer_module(&nearest, m);
	module_walk_imports(m, offer_module, &nearest);
	if (nearest.count)
		nearest_name_print(&nearest, out);
	else
		tenon_buffer_printf(out, " It lists %zu function%s.", nearest.offered,
				    nearest.offered == 1 ? "" : "s");
	module_print_unloaded(m, out);
}
#else
static void print_nearest(struct tenon_module *m, const char *name, struct tenon_buffer *out)
{
}
#endif

int tenon_module_get_function(struct tenon_module *m, const char *name, struct tenon_function **out)
{
	struct tenon_buffer hint = TENON_BUFFER_INIT;
	int err;

	err = tenon_module_find_function(m, tenon_slice_of(name), true, out);
	if (err || *out)
		return err;
	print_nearest(m, name, &hint);
	err = tenon_error(-TENON_E_NOT_FOUND,
			  "no function \"%s\" in module \"%.*s\" and its %zu import%s.%s", name,
			  (int)m->kind.size, m->kind.data, m->import_count,
			  m->import_count == 1 ? "" : "s", hint.data ? hint.data : "");
	tenon_buffer_fini(&hint);
	return err;
}

static int same_module(void *context, struct tenon_module *m)
{
	return m == context;
}

int tenon_module_import(struct tenon_module *m, struct tenon_module *child)
{
	int found, err;

	found = child == m ? 1 : module_walk_imports(child, same_module, m);
	if (found < 0)
		return found;
	if (found)
		return tenon_error(-TENON_E_CYCLE,
				   "module \"%.*s\" cannot import \"%.*s\", which imports it%s",
				   (int)m->kind.size, m->kind.data, (int)child->kind.size,
				   child->kind.data, child == m ? ": they are one" : "");
	err = resize_imports(m, m->import_count + 1);
	if (err)
		return err;
	object_ref(&child->object);
	m->imports[m->import_count] = child;
	imports_changed(m, m->import_count + 1);
	return 0;
}

int module_set_imports(struct tenon_module *m, struct tenon_module *const *children, size_t count)
{
	size_t i;
	int err;

	tenon_module_clear_imports(m);
	if (!count)
		return 0;
	err = resize_imports(m, count);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		object_ref(&children[i]->object);
		m->imports[i] = children[i];
	}
	imports_changed(m, count);
	return 0;
}

void tenon_module_clear_imports(struct tenon_module *m)
{
	struct tenon_module **imports = m->imports;

	if (!imports)
		return;
	m->imports = NULL;
	m->import_count = 0;
	module_index_touch();
	release_imports(imports);
}

static int module_unsupported(struct tenon_module *m, const char *what)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "a module of kind \"%.*s\" %s", (int)m->kind.size,
			   m->kind.data, what);
}

int tenon_module_save(struct tenon_module *m, struct tenon_buffer *out)
{
	if (!m->ops->save)
		return module_unsupported(m, "cannot be written as bytes");
	return m->ops->save(m, out);
}

int tenon_module_write(struct tenon_module *m, const char *path, const char *format)
{
	if (!m->ops->write_file)
		return module_unsupported(m, "cannot be written to a file");
	return m->ops->write_file(m, path, format);
}

int tenon_module_source(struct tenon_module *m, const char *format, struct tenon_value *out)
{
	if (!m->ops->source)
		return module_unsupported(m, "has no source text");
	return m->ops->source(m, format, out);
}

struct tenon_slice tenon_module_kind(const struct tenon_module *m)
{
	return m->kind;
}

uint32_t tenon_module_properties(const struct tenon_module *m)
{
	return m->properties;
}

size_t tenon_module_import_count(const struct tenon_module *m)
{
	return m->import_count;
}

struct tenon_module *tenon_module_import_at(const struct tenon_module *m, size_t index)
{
	return index < m->import_count ? m->imports[index] : NULL;
}
