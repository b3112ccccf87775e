/* SPDX-License-Identifier: MIT */
/* Print the lines of a report, or build the tree of its members. */
#include "tools/program/program_file.h"

#include "tools/text/text.h"

static struct program_report *self(struct tenon_report *report)
{
	return (struct program_report *)report;
}

static void print_line(struct tenon_report *report, const char *text)
{
	struct program_report *r = self(report);
	const bool first = !r->lines++;

	printable_cell(tenon_slice_of(first ? r->before : ""), 0, r->out);
	printable_cell(tenon_slice_of(text), 0, r->out);
	fprintf(r->out, "%s\n", first ? r->after : "");
}

struct program_report program_report_text(FILE *out)
{
	return (struct program_report){
		.base = { .size = sizeof(struct tenon_report), .line = print_line },
		.out = out,
		.before = "",
		.after = "",
	};
}

/* Return: @item; NULL if it was not added, and is deleted */
static cJSON *add(struct tenon_report *report, const char *name, cJSON *item)
{
	struct program_report *r = self(report);
	cJSON *to = r->depth < PROGRAM_REPORT_DEPTH ? r->at[r->depth] : NULL;

	if (!to) {
		cJSON_Delete(item);
		return NULL;
	}
	if (cJSON_IsArray(to))
		return json_append(to, item) ? item : NULL;
	return json_set(to, name ? name : "", item) ? item : NULL;
}

static void open_item(struct tenon_report *report, const char *name, bool is_list)
{
	struct program_report *r = self(report);
	cJSON *item = r->depth + 1 >= PROGRAM_REPORT_DEPTH ? NULL
		      : is_list				   ? cJSON_CreateArray()
							   : cJSON_CreateObject();

	if (item)
		item = add(report, name, item);
	r->depth++;
	if (r->depth < PROGRAM_REPORT_DEPTH)
		r->at[r->depth] = item;
}

static void close_item(struct tenon_report *report)
{
	struct program_report *r = self(report);

	if (r->depth)
		r->depth--;
}

static void add_number(struct tenon_report *report, const char *name, int64_t number)
{
	add(report, name, json_of_int(number));
}

static void add_text(struct tenon_report *report, const char *name, struct tenon_slice text)
{
	add(report, name, json_of_text(text));
}

static void add_real(struct tenon_report *report, const char *name, double real)
{
	add(report, name, json_of_real(real));
}

static void add_truth(struct tenon_report *report, const char *name, bool truth)
{
	add(report, name, cJSON_CreateBool(truth));
}

struct program_report program_report_json(cJSON *root)
{
	return (struct program_report){
		.base = { .size = sizeof(struct tenon_report),
			  .open = open_item,
			  .close = close_item,
			  .number = add_number,
			  .text = add_text,
			  .truth = add_truth,
			  .real = add_real },
		.at = { root },
	};
}

struct program_report program_report_within(struct program_report *r)
{
	struct program_report within;

	if (!r->out)
		return program_report_json(add(&r->base, "payload", cJSON_CreateObject()));
	within = program_report_text(r->out);
	within.before = "                    ";
	return within;
}

void program_report_fault(struct program_report *r, const char *fault)
{
	if (r->out) {
		fputs("  refused           ", r->out);
		printable_cell(tenon_slice_of(fault), 0, r->out);
		fputc('\n', r->out);
	} else {
		r->depth = 0;
		add_text(&r->base, "fault", tenon_slice_of(fault));
	}
}
