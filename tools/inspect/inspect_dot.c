/* SPDX-License-Identifier: MIT */
/* A module tree as a graph for Graphviz. */
#include "lib/printable_character.h"
#include "tools/inspect/inspect.h"
#include "tools/opened_model/module_text.h"

/* Print a label; escape quotes and backslashes for Graphviz. */
static void print_escaped(struct tenon_slice label, FILE *out)
{
	bool shown;
	size_t n;

	for (; label.size; label.data += n, label.size -= n) {
		n = printable_character(label, &shown);
		if (!shown) {
			fputc('?', out);
			continue;
		}
		if (*label.data == '"' || *label.data == '\\')
			fputc('\\', out);
		fwrite(label.data, 1, n, out);
	}
}

static void print_part(void (*part)(const struct tenon_link_module *m, struct tenon_buffer *out),
		       const struct tenon_link_module *m, FILE *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	part(m, &text);
	if (text.size) {
		if (part != module_text_kind)
			fputs("\\n", out);
		print_escaped((struct tenon_slice){ text.data, text.size }, out);
	}
	tenon_buffer_fini(&text);
}

void inspect_dot(const struct tenon_link_inspection *n, const char *file, FILE *out)
{
	fputs("digraph modules {\n\tlabel=\"", out);
	print_escaped(tenon_slice_of(file), out);
	fputs("\";\n\tnode [shape=box, fontname=\"sans-serif\"];\n", out);
	for (size_t i = 0; i < n->module_count; i++) {
		const struct tenon_link_module *m = n->modules[i];

		fprintf(out, "\tm%zu [label=\"", i);
		print_part(module_text_kind, m, out);
		print_part(module_text_format, m, out);
		print_part(module_text_facts, m, out);
		fprintf(out, "\"%s];\n", !strcmp(m->loader, "missing") ? ", style=dashed" : "");
		if (m->parent != SIZE_MAX)
			fprintf(out, "\tm%zu -> m%zu;\n", m->parent, i);
	}
	fputs("}\n", out);
}
