/* SPDX-License-Identifier: MIT */
/* Visit a tree and keep its facts as rows. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>

#include "runtime/kind/loaders.h"
#include "tools/model/module_list.h"

#ifdef CONFIG_EXECUTORS
#include "runtime/model/executors.h"
#define EXECUTOR_MISSING executor_plugin_missing
#else
#define EXECUTOR_MISSING(...) false
#endif

/* The reader refuses deeper trees; modules of foreign code may be cyclic. */
#define DEEPEST 300

/* ---- facts about one module, from its visit function */

#define TEXT(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct module_row, field),                                        \
			sizeof(((struct module_row *)0)->field)                                    \
	}
#define NUMBER(field)                                                                              \
	{                                                                                          \
#field, offsetof(struct module_row, field), 0                                      \
	}

/* fields of struct module_row, by their names in visit functions */
static const struct fact {
	const char *name;
	size_t place;
	size_t room; /* size of a text; 0 for a number */
} facts[] = {
	TEXT(format),
	TEXT(name),
	TEXT(machine),
	TEXT(generation),
	TEXT(tvm),
	TEXT(loader),
	TEXT(remedy),
	TEXT(fault),
	NUMBER(nodes),
	NUMBER(parameters),
	NUMBER(size),
	NUMBER(offset),
	NUMBER(parameter_bytes),
};

static void take_fact(struct module_row *m, const struct fact *fact,
		      const struct tenon_value *value)
{
	char *place = (char *)m + fact->place;
	struct tenon_slice text;

	if (!fact->room && value->type == TENON_TYPE_INT)
		*(int64_t *)(void *)place = value->as.integer;
	if (!fact->room)
		return;
	if (tenon_value_text(value, &text)) {
		tenon_error_clear();
		return;
	}
	snprintf(place, fact->room, "%.*s",
		 text.size < fact->room ? (int)text.size : (int)fact->room, text.data);
}

static void take_array(struct tenon_array **place, const struct tenon_value *value)
{
	if (value->type != TENON_TYPE_ARRAY)
		return;
	tenon_object_ref(value->as.object);
	tenon_object_unref(*place);
	*place = (struct tenon_array *)value->as.object;
}

static int take_field(void *context, const char *name, const struct tenon_value *value)
{
	struct module_row *m = context;

	if (!name)
		return 0;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!strcmp(facts[i].name, name))
			take_fact(m, &facts[i], value);
	}
	if (!strcmp(name, "functions"))
		take_array(&m->functions, value);
	if (!strcmp(name, "launch"))
		take_array(&m->launch, value);
	if (!strcmp(name, "regions"))
		take_array(&m->regions, value);
	return 0;
}

static int count_name(void *context, struct tenon_slice name)
{
	(void)name;
	++*(int64_t *)context;
	return 0;
}

/* A kind that this build loads is not ready where the file of its plug-in is missing. */
static void look_for_plugin(struct module_row *m)
{
	const struct tenon_slice kind = tenon_module_kind(m->module);
	struct tenon_buffer why = TENON_BUFFER_INIT;

	if (!strcmp(m->loader, "ready") &&
	    (loader_plugin_missing(kind, &why) || EXECUTOR_MISSING(kind, &why))) {
		snprintf(m->loader, sizeof(m->loader), "missing");
		snprintf(m->remedy, sizeof(m->remedy), "%s", why.data ? why.data : "");
	}
	tenon_buffer_fini(&why);
}

static void take_facts(struct module_row *m)
{
	struct tenon_visitor visitor = { take_field, NULL, m };

	m->nodes = m->parameters = m->parameter_bytes = m->size = m->offset = -1;
	if (tenon_object_visit(&m->module->object, &visitor))
		tenon_error_clear();
	look_for_plugin(m);
	m->function_count = 0;
	if (m->functions)
		m->function_count = m->functions->size;
	else if (tenon_module_each_function(m->module, count_name, &m->function_count))
		tenon_error_clear(); /* it cannot list its functions */
}

/* ---- the tree */

static int add(struct module_list *l, struct tenon_module *module, size_t parent,
	       unsigned int depth, bool last)
{
	struct module_row *m;

	if (!(l->count & (l->count - 1))) {
		size_t room = l->count ? 2 * l->count : 1;

		m = realloc(l->items, room * sizeof(*m));
		if (!m)
			return tenon_error(-TENON_E_NOMEM, "no memory to list %zu modules", room);
		l->items = m;
	}
	m = &l->items[l->count++];
	memset(m, 0, sizeof(*m));
	m->module = module;
	m->parent = parent;
	m->depth = depth;
	m->last = last;
	take_facts(m);
	return 0;
}

static int add_tree(struct module_list *l, struct tenon_module *module, size_t parent,
		    unsigned int depth, bool last)
{
	size_t self = l->count;
	int err;

	err = add(l, module, parent, depth, last);
	for (size_t i = 0; !err && depth < DEEPEST && i < module->import_count; i++)
		err = add_tree(l, module->imports[i], self, depth + 1,
			       i + 1 == module->import_count);
	return err;
}

int module_list_make(struct tenon_module *root, struct module_list *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->root = root;
	err = add_tree(out, root, SIZE_MAX, 0, true);
	if (err) {
		module_list_drop(out);
		return err;
	}
	for (size_t i = 0; i < out->count && !out->library; i++) {
		if (*out->items[i].machine)
			out->library = &out->items[i];
	}
	return 0;
}

void module_list_drop(struct module_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		tenon_object_unref(l->items[i].functions);
		tenon_object_unref(l->items[i].launch);
		tenon_object_unref(l->items[i].regions);
	}
	free(l->items);
	memset(l, 0, sizeof(*l));
}
