/* SPDX-License-Identifier: MIT */
/* A module tree as text in columns. */
#include <stdlib.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "lib/option.h"
#include "tools/inspect/inspect.h"
#include "tools/opened_model/module_text.h"
#include "tools/text/text.h"

enum { KIND, FORMAT, FACTS, LOADER, COLUMNS };

/* a line of the tree, as cells */
struct line {
	struct tenon_buffer cell[COLUMNS];
};

static const char *text_of(const struct tenon_buffer *b)
{
	return b->data ? b->data : "";
}

static void print_head(const struct tenon_link_inspection *n, const char *file, FILE *out)
{
	const struct tenon_link_module *library = n->library;
	char size[SIZE_TEXT];

	printable_format(out, "%s   ", file);
	if (library)
		fprintf(out, "ELF %s, ", library->machine);
	if (library && *library->tvm)
		fprintf(out, "TVM %s, ", library->tvm);
	fprintf(out, "%zu module%s, %s\n", n->module_count, n->module_count == 1 ? "" : "s",
		size_text(n->file_size, size));
}

/*
 * Draw the branches in front of a line: two spaces per level, a bar below parents with more
 * imports.
 */
static void add_branches(const struct tenon_link_inspection *n, const struct tenon_link_module *m,
			 bool below, struct tenon_buffer *out)
{
	if (m->parent != SIZE_MAX)
		add_branches(n, n->modules[m->parent], true, out);
	if (m->parent == SIZE_MAX)
		tenon_buffer_printf(out, "  ");
	else if (below)
		tenon_buffer_printf(out, m->last ? "   " : "│  ");
	else
		tenon_buffer_printf(out, m->last ? "└─ " : "├─ ");
}

static void make_line(const struct tenon_link_inspection *n, const struct tenon_link_module *m,
		      struct line *line)
{
	add_branches(n, m, false, &line->cell[KIND]);
	module_text_kind(m, &line->cell[KIND]);
	module_text_format(m, &line->cell[FORMAT]);
	module_text_facts(m, &line->cell[FACTS]);
	if (*m->loader)
		tenon_buffer_printf(&line->cell[LOADER], "loader: %s", m->loader);
}

static void print_line(const struct line *line, const size_t *width, FILE *out)
{
	int last = COLUMNS - 1;

	while (last && !line->cell[last].size)
		last--;
	for (int i = 0; i <= last; i++) {
		const char *text = text_of(&line->cell[i]);

		fputs(text, out);
		if (i < last)
			fprintf(out, "%*s",
				(int)(width[i] - printable_width(text) + (width[i] ? 2 : 0)), "");
	}
	fputc('\n', out);
}

/* ---- functions */

static void print_words(const struct tenon_value *list, const char *between, FILE *out)
{
	const struct tenon_array *array;
	struct tenon_slice word;

	if (!list || list->type != TENON_TYPE_ARRAY)
		return;
	array = (const struct tenon_array *)list->as.object;
	for (int64_t i = 0; i < array->size; i++) {
		struct tenon_buffer text = TENON_BUFFER_INIT;

		if (!tenon_value_text(&array->data[i], &word))
			printable_append(&text, word, 64);
		fprintf(out, "%s%s", i ? between : "", text_of(&text));
		tenon_buffer_fini(&text);
	}
}

static void print_launch(const struct tenon_link_module *m, int64_t i, FILE *out)
{
	struct tenon_value args = tenon_arg_string("args"), tags = tenon_arg_string("tags");
	const struct tenon_map *launch;

	if (!m->launch || i >= m->launch->size || m->launch->data[i].type != TENON_TYPE_MAP)
		return;
	launch = (const struct tenon_map *)m->launch->data[i].as.object;
	fputc('(', out);
	print_words(tenon_map_find(launch, &args), ", ", out);
	fputs(")  ", out);
	print_words(tenon_map_find(launch, &tags), " ", out);
}

static void print_regions(const struct tenon_link_module *m, const char *indent, FILE *out)
{
	struct tenon_slice region;

	for (int64_t i = 0; m->regions && i < m->regions->size; i++) {
		struct tenon_buffer text = TENON_BUFFER_INIT;

		if (!tenon_value_text(&m->regions->data[i], &region))
			printable_append(&text, region, 256);
		fprintf(out, "%sregion %lld: %s\n", indent, (long long)i, text_of(&text));
		tenon_buffer_fini(&text);
	}
}

static void print_functions(const struct tenon_link_inspection *n,
			    const struct tenon_link_module *m, FILE *out)
{
	struct tenon_buffer indent = TENON_BUFFER_INIT;
	struct tenon_slice name;

	if (!m->functions)
		return;
	add_branches(n, m, true, &indent);
	/* a bar if imports follow */
	tenon_buffer_printf(&indent, m->module->import_count ? "│    " : "     ");
	for (int64_t i = 0; i < m->functions->size; i++) {
		struct tenon_buffer text = TENON_BUFFER_INIT;

		if (!tenon_value_text(&m->functions->data[i], &name))
			printable_append(&text, name, 256);
		fprintf(out, "%s%s", text_of(&indent), text_of(&text));
		print_launch(m, i, out);
		fputc('\n', out);
		tenon_buffer_fini(&text);
	}
	print_regions(m, text_of(&indent), out);
	tenon_buffer_fini(&indent);
}

/* ---- problems below the tree, each kind once */

static bool said_before(const struct tenon_link_inspection *n, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (*n->modules[k]->remedy &&
		    tenon_slice_equal(n->modules[k]->kind, n->modules[i]->kind))
			return true;
	}
	return false;
}

static void print_remedies(const struct tenon_link_inspection *n, FILE *out)
{
	int said = 0;

	for (size_t i = 0; i < n->module_count; i++) {
		const struct tenon_link_module *m = n->modules[i];
		struct tenon_buffer kind = TENON_BUFFER_INIT;

		module_text_kind(m, &kind);
		if (*m->fault)
			fprintf(out, "%s: cannot be read: %s\n", text_of(&kind), m->fault);
		/* limit for a bounded search: trees have few kinds */
		if (*m->remedy && said < 16 && !said_before(n, i)) {
			fprintf(out, "no loader for %s: %s\n", text_of(&kind), m->remedy);
			said++;
		}
		tenon_buffer_fini(&kind);
	}
}

void inspect_text(const struct tenon_link_inspection *n, const char *file, bool functions,
		  FILE *out)
{
	struct line *lines = calloc(n->module_count, sizeof(*lines));
	size_t width[COLUMNS] = { 0 };

	print_head(n, file, out);
	if (!lines)
		tenon_error(-TENON_E_NOMEM, "no memory for %zu lines", n->module_count);
	for (size_t i = 0; lines && i < n->module_count; i++) {
		make_line(n, n->modules[i], &lines[i]);
		for (int c = 0; c < COLUMNS; c++) {
			size_t w = printable_width(text_of(&lines[i].cell[c]));

			width[c] = w > width[c] ? w : width[c];
		}
	}
	for (size_t i = 0; lines && i < n->module_count; i++) {
		print_line(&lines[i], width, out);
		if (functions)
			print_functions(n, n->modules[i], out);
		for (int c = 0; c < COLUMNS; c++)
			tenon_buffer_fini(&lines[i].cell[c]);
	}
	free(lines);
	if (OPTION_ON(SELF_TEST))
		inspect_cases_text(n, file, out);
	print_remedies(n, out);
}
