/* SPDX-License-Identifier: MIT */
/* What the files of tenon inspect share. Those of an option are called behind OPTION_ON() alone. */
#ifndef TOOLS_INSPECT_INSPECT_H
#define TOOLS_INSPECT_INSPECT_H

#include <stdio.h>
#include <tenon/link.h>
#include <tenon/model.h>

#include "tools/cli/verbs.h"
#include "tools/json/json_value.h"
#include "tools/program/program_file.h"

/** inspect_text - print what is in @file as text; @functions lists the functions too */
void inspect_text(const struct tenon_link_inspection *n, const char *file, bool functions,
		  FILE *out);

/** inspect_dot - print what is in @file as a graph for Graphviz */
void inspect_dot(const struct tenon_link_inspection *n, const char *file, FILE *out);

/**
 * inspect_json - print what is in @file as JSON
 * @model: the model in it; NULL for none
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int inspect_json(const struct tenon_link_inspection *n, const char *file, struct tenon_model *model,
		 FILE *out);

/** inspect_cases_text - print a line for each case; nothing for a file without cases */
void inspect_cases_text(const struct tenon_link_inspection *n, const char *file, FILE *out);

/** inspect_code_text - print what code_text() does; nothing for host code that all processors run, or a file without any */
void inspect_code_text(const struct tenon_link_inspection *n, const char *file, FILE *out);

/* bytes of a type as text */
#define INSPECT_TYPE_ROOM 160

/** inspect_type - write a type: "1x?x64xfloat32", or "?" if it is known only after a run; returns @text */
const char *inspect_type(const struct tenon_port *port, char text[INSPECT_TYPE_ROOM]);

/** inspect_model_text - inputs, outputs and memory; with @all operators and parameters too */
void inspect_model_text(struct tenon_model *model, bool all, FILE *out);

/** inspect_model_choice - list the models of a file that has several and no default */
void inspect_model_choice(struct tenon_module *root, FILE *out);

/** inspect_model_dot - print operators and the values between them, as a graph for Graphviz */
void inspect_model_dot(struct tenon_model *model, const char *file, FILE *out);

#ifdef CONFIG_JSON
/** inspect_cases_json - add "cases" to an object; nothing for a file without cases */
void inspect_cases_json(const struct tenon_link_inspection *n, const char *file, cJSON *root);

/** inspect_code_json - add "processor" to an object; nothing for a file without host code */
void inspect_code_json(const struct tenon_link_inspection *n, const char *file, cJSON *root);

/** inspect_model_json - full description; NULL if out of memory */
cJSON *inspect_model_json(struct tenon_model *model);
#endif

/**
 * inspect_show - print an artifact of a module as text
 * @file: the module
 * @name: file name of the artifact, or the number of its module in the import tree
 *
 * Return: an exit code, its message printed.
 */
int inspect_show(struct cli *cli, const char *file, const char *name);

/**
 * inspect_show_bytes - print a program or a file as text
 * @name: its name; the suffix may tell what it is
 * @bytes: its contents
 *
 * The payload format of its suffix prints it where it can (tenon_payload_format.show). JSON is indented, SPIR-V disassembled by spirv-dis, of an ELF file the symbols are listed, text is
 * printed as it is, and anything else as the first of its bytes.
 */
void inspect_show_bytes(struct cli *cli, const char *name, struct tenon_slice bytes);

/** inspect_archive - show what is in an archive in Model Library Format; returns an exit code */
int inspect_archive(struct cli *cli, const char *file, bool json);

/** inspect_archive_show - print a file of an archive as text; returns an exit code */
int inspect_archive_show(struct cli *cli, const char *file, const char *name);

/**
 * inspect_program - describe a file for which program_file_is() is true
 * @json: print JSON
 * @commands: print the commands of programs, too
 *
 * Return: an exit code, its message printed.
 */
int inspect_program(struct cli *cli, const char *path, bool json, bool commands);

/**
 * inspect_program_report - report what is in an open file
 * @f: the file
 * @commands: as above
 * @report: receives it
 *
 * Return: 0; a status with the reason in the message, for a program that cannot be read.
 */
int inspect_program_report(struct program_file *f, bool commands, struct program_report *report);

#endif /* TOOLS_INSPECT_INSPECT_H */
