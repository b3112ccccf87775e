/* SPDX-License-Identifier: MIT */
/* What payload formats report of programs, as text or as JSON. */
#ifndef TOOLS_PROGRAM_PROGRAM_REPORT_H
#define TOOLS_PROGRAM_PROGRAM_REPORT_H

#include <stdio.h>
#include <tenon/backend/report.h>

#include "tools/json/json_value.h"

/* a build without JSON has no header of cJSON */
struct cJSON;

/* objects and lists in each other; what is deeper is left out */
#define PROGRAM_REPORT_DEPTH 16

/**
 * struct program_report - a report that prints lines, or adds members to an object
 * @base: for the format
 * @out: where lines are printed; NULL for members
 * @before: printed before the first line: whose program it is; not printed as it is
 * @after: printed behind it
 * @lines: how many were printed
 * @at: objects and lists that were begun, the last one at @depth
 * @depth: how many are around @at
 */
struct program_report {
	struct tenon_report base;
	FILE *out;
	const char *before;
	const char *after;
	size_t lines;
	struct cJSON *at[PROGRAM_REPORT_DEPTH];
	size_t depth;
};

/** program_report_text - a report that prints lines; the caller may set @before and @after */
struct program_report program_report_text(FILE *out);

/** program_report_json - a report that adds members to @root */
struct program_report program_report_json(struct cJSON *root);

/** program_report_within - a report on the program of an operator, within the report @r on its model */
struct program_report program_report_within(struct program_report *r);

/** program_report_fault - say why a program cannot be described further */
void program_report_fault(struct program_report *r, const char *fault);

#endif /* TOOLS_PROGRAM_PROGRAM_REPORT_H */
