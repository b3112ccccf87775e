/* SPDX-License-Identifier: MIT */
/* The import tree as a picture, and the functions of each module. */
#include "tools/inspect/inspect_svg.h"

#include <tenon/backend/buffer.h>

#include "tools/report/page.h"
#include "tools/report/report.h"

/* modules and functions of one module that are listed */
#define MODULES_MOST   200
#define FUNCTIONS_MOST 500

static struct tenon_slice text_at(const struct tenon_array *a, int64_t i)
{
	struct tenon_slice s = { "", 0 };

	if (tenon_value_text(&a->data[i], &s))
		tenon_error_clear();
	return s;
}

static void list_functions(struct tenon_buffer *b, const struct tenon_link_module *m, size_t index)
{
	int64_t i, n = m->functions ? m->functions->size : 0;

	if (!n && !*m->fault && !*m->remedy)
		return;
	page_fold(b, "module %zu, %.*s: %lld function%s%s", index, (int)m->kind.size, m->kind.data,
		  (long long)n, n == 1 ? "" : "s",
		  *m->fault    ? ", cannot be read"
		  : *m->remedy ? ", no loader"
			       : "");
	if (*m->fault)
		page_note(b, "%s", m->fault);
	if (*m->remedy)
		page_note(b, "%s", m->remedy);
	tenon_buffer_printf(b, "<ul>\n");
	for (i = 0; i < n && i < FUNCTIONS_MOST; i++) {
		tenon_buffer_printf(b, "<li><code>");
		page_text(b, text_at(m->functions, i));
		tenon_buffer_printf(b, "</code></li>\n");
	}
	tenon_buffer_printf(b, "</ul>\n");
	if (i < n)
		page_note(b, "and %lld more", (long long)(n - i));
	page_fold_end(b);
}

int report_modules(struct report *r)
{
	struct tenon_buffer picture = TENON_BUFFER_INIT;
	size_t i;
	int err;

	page_section(&r->page, "modules", "Modules");
	err = inspect_svg_tree(r->n, r->file, false, &picture);
	if (!err)
		page_picture(&r->page, (struct tenon_slice){ picture.data, picture.size });
	tenon_buffer_fini(&picture);
	for (i = 0; i < r->n->module_count && i < MODULES_MOST; i++)
		list_functions(&r->page, r->n->modules[i], i);
	if (i < r->n->module_count)
		page_note(&r->page, "The functions of %zu more modules are not listed.",
			  r->n->module_count - i);
	page_section_end(&r->page);
	return err;
}
