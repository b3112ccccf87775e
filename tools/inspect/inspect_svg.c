/* SPDX-License-Identifier: MIT */
/* A module tree as a picture. */
#include "tools/inspect/inspect_svg.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "tools/opened_model/module_text.h"
#include "tools/svg/svg.h"

struct lines {
	struct tenon_buffer title, text;
};

static void add(void (*part)(const struct tenon_link_module *m, struct tenon_buffer *out),
		const struct tenon_link_module *m, const char *between, struct tenon_buffer *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	part(m, &text);
	if (text.size)
		tenon_buffer_printf(out, "%s%s", out->size ? between : "", text.data);
	tenon_buffer_fini(&text);
}

static void describe_module(const struct tenon_link_module *m, struct lines *l)
{
	add(module_text_kind, m, "", &l->title);
	add(module_text_format, m, "  ", &l->title);
	add(module_text_facts, m, "", &l->text);
	if (*m->machine)
		tenon_buffer_printf(&l->text, "%sELF %s", l->text.size ? ", " : "", m->machine);
	if (!strcmp(m->loader, "missing"))
		tenon_buffer_printf(&l->text, "%sno loader in this build",
				    l->text.size ? ", " : "");
	if (*m->fault)
		tenon_buffer_printf(&l->text, "%scannot be read", l->text.size ? ", " : "");
}

int inspect_svg_tree(const struct tenon_link_inspection *n, const char *file, bool alone,
		     struct tenon_buffer *out)
{
	struct svg_tree_item *items = calloc(n->module_count + 1, sizeof(*items));
	struct lines *lines = calloc(n->module_count + 1, sizeof(*lines));
	size_t i;
	int err;

	if (!items || !lines) {
		err = tenon_error(-TENON_E_NOMEM, "no memory for a picture of %zu modules",
				  n->module_count);
		goto free_items;
	}
	for (i = 0; i < n->module_count; i++) {
		const struct tenon_link_module *m = n->modules[i];

		describe_module(m, &lines[i]);
		items[i].parent = m->parent;
		items[i].title = (struct tenon_slice){ lines[i].title.data, lines[i].title.size };
		items[i].text = (struct tenon_slice){ lines[i].text.data, lines[i].text.size };
		items[i].lost = !strcmp(m->loader, "missing") || *m->fault;
	}
	err = svg_tree(out, tenon_slice_of(file), items, n->module_count, alone);
	for (i = 0; i < n->module_count; i++) {
		tenon_buffer_fini(&lines[i].title);
		tenon_buffer_fini(&lines[i].text);
	}
free_items:
	free(items);
	free(lines);
	return err;
}
