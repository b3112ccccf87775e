/* SPDX-License-Identifier: MIT */
/* tenon inspect of a device's program as its compiler wrote it, and of models with such programs. */
#ifndef TOOLS_INSPECT_INSPECT_PROGRAM_H
#define TOOLS_INSPECT_INSPECT_PROGRAM_H

#include "tools/cli/cli.h"
#include "tools/program/program_file.h"
#include "tools/program/program_report.h"

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

#endif /* TOOLS_INSPECT_INSPECT_PROGRAM_H */
