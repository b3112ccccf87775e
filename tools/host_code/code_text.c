/* SPDX-License-Identifier: MIT */
/* Print what host code needs of the processor. */
#include "tools/host_code/code_text.h"

#include <inttypes.h>
#include <string.h>

#include "tools/text/text.h"

/* Extensions of code for one level in parentheses. Return: the index behind them. */
static size_t print_level(const struct tenon_link_processor *p, size_t from, FILE *out)
{
	const char *level = p->extensions[from]->level;
	size_t i;

	for (i = from; i < p->extension_count && !strcmp(p->extensions[i]->level, level); i++)
		fprintf(out, "%s%s", i == from ? " (" : " ", p->extensions[i]->name);
	fputc(')', out);
	return i;
}

static void print_needs(const struct tenon_link_processor *p, FILE *out)
{
	size_t i = 0;

	fprintf(out, "host code: needs %s", p->needs);
	if (p->extension_count && !*p->extensions[0]->level)
		i = print_level(p, 0, out);
	while (i < p->extension_count) {
		fprintf(out, "; other code where the machine has %s", p->extensions[i]->level);
		i = print_level(p, i, out);
	}
	fputc('\n', out);
	if (p->unknown)
		fprintf(out,
			"host code: %" PRIu64 " of %" PRIu64 " bytes are no instructions that are "
			"known here, so it may need more\n",
			p->unknown, p->code);
}

static void print_missing(const struct tenon_link_processor *p, FILE *out)
{
	const struct tenon_link_extension *e;
	const char *between = "";
	size_t i;

	for (i = 0; i < p->extension_count; i++) {
		e = p->extensions[i];
		if (!e->missing)
			continue;
		fprintf(out, "%s%s (%" PRIu64 " function%s", between, e->name, e->functions,
			e->functions == 1 ? "" : "s");
		between = ", ";
		if (*e->function) {
			fputs(e->functions == 1 ? ": " : ", the first: ", out);
			printable_cell(tenon_slice_of(e->function), 0, out);
		}
		fputc(')', out);
	}
}

void code_text(const struct tenon_link_processor *p, FILE *out)
{
	if (!p->known) {
		fprintf(out, "host code: the instructions of %s are not known here\n", p->machine);
		return;
	}
	print_needs(p, out);
	if (!p->missing)
		return;
	fprintf(out, "%s: this machine has %s and lacks ", p->chooses ? "note" : "warning", p->has);
	print_missing(p, out);
	if (p->chooses)
		fputs(". The code asks what the processor has, so it may avoid them by itself\n",
		      out);
	else
		fprintf(out,
			". Here they end the process (SIGILL): compile for %s (tenon-compile "
			"--processor %s; for other compilers -march)\n",
			p->has, p->has);
}
