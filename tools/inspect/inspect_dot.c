/* SPDX-License-Identifier: MIT */
/* A module tree as a graph for Graphviz */
#include "tools/inspect/inspect.h"

/* Print a label; escape quotes and backslashes for Graphviz. */
static void print_escaped(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void print_part(void (*part)(const struct module_row *m, struct tenon_buffer *out),
		       const struct module_row *m, FILE *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	part(m, &text);
	if (text.size) {
		if (part != module_list_kind)
			fputs("\\n", out);
		print_escaped(text.data, out);
	}
	tenon_buffer_fini(&text);
}

void inspect_dot(const struct module_list *l, FILE *out)
{
	fputs("digraph modules {\n\tlabel=\"", out);
	print_escaped(l->file, out);
	fputs("\";\n\tnode [shape=box, fontname=\"sans-serif\"];\n", out);
	for (size_t i = 0; i < l->count; i++) {
		const struct module_row *m = &l->items[i];

		fprintf(out, "\tm%zu [label=\"", i);
		print_part(module_list_kind, m, out);
		print_part(module_list_format, m, out);
		print_part(module_list_facts, m, out);
		fprintf(out, "\"%s];\n", !strcmp(m->loader, "missing") ? ", style=dashed" : "");
		if (m->parent != SIZE_MAX)
			fprintf(out, "\tm%zu -> m%zu;\n", m->parent, i);
	}
	fputs("}\n", out);
}
