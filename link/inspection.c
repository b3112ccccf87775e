/* SPDX-License-Identifier: MIT */
/* Visit a tree and keep its facts as rows. */
#include "link/inspection.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>
#include <tenon/visit.h>

#include "lib/brief_errors.h"
#include "runtime/kind/loaders.h"

/* The reader refuses deeper trees; modules of foreign code may be cyclic. */
#define DEEPEST 300

/* ---- facts about one module, from its visit function */

/* fields of visit functions, and where their values go */
#define TEXT(field)                                                                                \
	{                                                                                          \
#field, offsetof(struct inspection_row, texts.field),                              \
			sizeof(((struct inspection_row *)0)->texts.field)                          \
	}
#define NUMBER(name, field)                                                                        \
	{                                                                                          \
		name, offsetof(struct inspection_row, module.field), 0                             \
	}

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
	NUMBER("nodes", nodes),
	NUMBER("parameters", parameters),
	NUMBER("parameter_bytes", parameter_bytes),
	NUMBER("size", payload_size),
	NUMBER("offset", payload_offset),
};

static void take_fact(struct inspection_row *r, const struct fact *fact,
		      const struct tenon_value *value)
{
	char *place = (char *)r + fact->place;
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

static void drop_array(const struct tenon_array *array)
{
	tenon_object_unref((void *)(uintptr_t)array);
}

static void take_array(const struct tenon_array **place, const struct tenon_value *value)
{
	if (value->type != TENON_TYPE_ARRAY)
		return;
	tenon_object_ref(value->as.object);
	drop_array(*place);
	*place = (const struct tenon_array *)value->as.object;
}

static int take_field(void *context, const char *name, const struct tenon_value *value)
{
	struct inspection_row *r = context;

	if (!name)
		return 0;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (!strcmp(facts[i].name, name))
			take_fact(r, &facts[i], value);
	}
	if (!strcmp(name, "functions"))
		take_array(&r->module.functions, value);
	if (!strcmp(name, "launch"))
		take_array(&r->module.launch, value);
	if (!strcmp(name, "regions"))
		take_array(&r->module.regions, value);
	return 0;
}

static int count_name(void *context, struct tenon_slice name)
{
	++*(int64_t *)context;
	return 0;
}

/* A kind that this build loads is not ready where the file of its plug-in is missing. */
static void look_for_plugin(struct inspection_row *r)
{
	struct inspection_texts *t = &r->texts;
	struct tenon_buffer why = TENON_BUFFER_INIT;

	if (!strcmp(t->loader, "ready") && loader_plugin_missing(r->module.kind, &why)) {
		snprintf(t->loader, sizeof(t->loader), "missing");
		snprintf(t->remedy, sizeof(t->remedy), "%s", why.data ? why.data : "");
	}
	tenon_buffer_fini(&why);
}

static void take_facts(struct inspection_row *r)
{
	struct tenon_link_module *m = &r->module;
	struct tenon_visitor visitor = { sizeof(visitor), take_field, NULL, r };

	m->nodes = m->parameters = m->parameter_bytes = m->payload_size = m->payload_offset = -1;
	if (tenon_object_visit(&m->module->object, &visitor))
		tenon_error_clear();
	look_for_plugin(r);
	if (m->functions)
		m->function_count = m->functions->size;
	else if (tenon_module_each_function(m->module, count_name, &m->function_count))
		tenon_error_clear(); /* it cannot list its functions */
}

/* ---- the tree */

static void point_at_texts(struct inspection_row *r)
{
	struct tenon_link_module *m = &r->module;

	m->format = r->texts.format;
	m->name = r->texts.name;
	m->machine = r->texts.machine;
	m->generation = r->texts.generation;
	m->tvm = r->texts.tvm;
	m->loader = r->texts.loader;
	m->remedy = r->texts.remedy;
	m->fault = r->texts.fault;
	m->sha256 = r->texts.sha256;
	m->codegen_id = m->target_key = m->file_name = m->device = "";
}

static int no_memory(size_t count)
{
	return tenon_error(-TENON_E_NOMEM, "no memory to list %zu modules", count);
}

static int add(struct inspection *n, struct tenon_module *module, size_t parent, unsigned int depth,
	       bool last)
{
	const size_t count = n->result.module_count;
	struct inspection_row **bigger, *r;

	if (!(count & (count - 1))) {
		bigger = realloc(n->rows, (count ? 2 * count : 1) * sizeof(*bigger));
		if (!bigger)
			return no_memory(count + 1);
		n->rows = bigger;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return no_memory(count + 1);
	n->rows[n->result.module_count++] = r;
	r->module.size = sizeof(r->module);
	r->module.module = module;
	r->module.kind = tenon_module_kind(module);
	r->module.parent = parent;
	r->module.depth = depth;
	r->module.last = last;
	r->module.number = SIZE_MAX;
	point_at_texts(r);
	take_facts(r);
	if (!n->result.library && *r->texts.machine)
		n->result.library = &r->module;
	return 0;
}

static int add_tree(struct inspection *n, struct tenon_module *module, size_t parent,
		    unsigned int depth, bool last)
{
	const size_t self = n->result.module_count;
	int err;

	err = add(n, module, parent, depth, last);
	for (size_t i = 0; !err && depth < DEEPEST && i < module->import_count; i++)
		err = add_tree(n, module->imports[i], self, depth + 1,
			       i + 1 == module->import_count);
	return err;
}

int inspection_make(struct tenon_module *root, struct inspection **out)
{
	struct inspection *n = calloc(1, sizeof(*n));
	int err;

	*out = NULL;
	if (!n)
		return no_memory(1);
	n->result.size = sizeof(n->result);
	n->result.root = root;
	tenon_object_ref(root);
	err = add_tree(n, root, SIZE_MAX, 0, true);
	/* a row begins with what programs read */
	n->result.modules = (const struct tenon_link_module *const *)(const void *)n->rows;
	if (err)
		tenon_link_inspection_free(&n->result);
	else
		*out = n;
	return err;
}

void tenon_link_inspection_free(const struct tenon_link_inspection *inspection)
{
	struct inspection *n = (struct inspection *)(uintptr_t)inspection;
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n->result.module_count; i++) {
		drop_array(n->rows[i]->module.functions);
		drop_array(n->rows[i]->module.launch);
		drop_array(n->rows[i]->module.regions);
		free(n->rows[i]);
	}
	free(n->rows);
	artifact_set_fini(&n->names);
	tenon_object_unref(n->result.root);
	tenon_object_unref(n->keep);
	free(n);
}
