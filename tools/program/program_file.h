/* SPDX-License-Identifier: MIT */
/* Files that are no modules: a device's program as its compiler wrote it, or a model whose operators are such programs. */
#ifndef TOOLS_PROGRAM_PROGRAM_FILE_H
#define TOOLS_PROGRAM_PROGRAM_FILE_H

#include <stdio.h>
#include <tenon/backend/report.h>

#include "runtime/model/model_format.h"
#include "runtime/payload/payload_format.h"
#include "tools/json/json_value.h"

/*
 * What the bytes of a program mean is known to its payload format alone, which checks and describes them
 * (tenon_payload_format.check and describe). Compilers for NPUs replace operators of a model by such programs; the formats of
 * models are rows of the folders that run them (runtime/model/model_format.h).
 */

/**
 * struct program_file - an open file
 * @path: its path; borrowed
 * @bytes: its bytes
 * @format: of the program; of a model whose programs are checked, that of these; or else NULL
 * @model_format: of the model; NULL for a program
 * @model: the model; NULL for a program
 * @parts: program of the operator that was chosen last
 */
struct program_file {
	const char *path;
	struct tenon_slice bytes;
	const struct tenon_payload_format *format;
	const struct model_format *model_format;
	struct model_file *model;
	struct tenon_buffer parts;
};

/**
 * program_file_is - test whether a file begins as a model, or as a program that its format describes
 * @path: the file
 * @is: receives whether it does
 *
 * Return: 0; as file_map_head(), since a file that cannot be read may be either.
 */
int program_file_is(const char *path, bool *is);

/**
 * program_file_open - open a file
 * @path: the file; must outlive @out
 * @format: of the program, or of those of a model; NULL for the one that describes a program
 * @out: receives the contents; free it with program_file_fini(), also on failure
 *
 * Return: 0; as file_map_open() and model_format.open; -TENON_E_FORMAT when no format describes it.
 */
int program_file_open(const char *path, const struct tenon_payload_format *format,
		      struct program_file *out);
void program_file_fini(struct program_file *f);

/**
 * program_file_choose - get the program of an operator
 * @f: a model
 * @op: the operator
 * @request: receives the program, which is there until the next call
 *
 * Return: 0; as model_format.program.
 */
int program_file_choose(struct program_file *f, const struct model_operator *op,
			struct tenon_payload_request *request);

/** program_file_whole - get the program that a file is, if it is no model */
void program_file_whole(const struct program_file *f, struct tenon_payload_request *request);

/** program_format - get the format that describes the program of an operator; NULL if there is none */
const struct tenon_payload_format *program_format(const struct model_operator *op);

/**
 * program_format_to_check - get the format of a kind that checks its programs
 * @kind: the kind
 * @out: receives the format
 *
 * Return: 0; -TENON_E_NOT_FOUND, naming the kinds that this build checks.
 */
int program_format_to_check(const char *kind, const struct tenon_payload_format **out);

/**
 * program_file_each - visit the programs of a file: itself, or the operators of its kind
 * @f: opened with a format
 * @visit: checks a program, that of an operator of a model; stops with its first status that is not 0
 *
 * Return: 0; the status of @visit; as program_file_choose(); -TENON_E_FORMAT for a model without such operators.
 */
int program_file_each(struct program_file *f,
		      int (*visit)(void *context, const struct model_operator *op,
				   struct tenon_payload_request *request),
		      void *context);

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

#endif /* TOOLS_PROGRAM_PROGRAM_FILE_H */
