/* SPDX-License-Identifier: MIT */
/* tenon inspect of a device's program as its compiler wrote it, and of models with such programs. */
#ifndef TOOLS_INSPECT_INSPECT_PROGRAM_H
#define TOOLS_INSPECT_INSPECT_PROGRAM_H

#include "tools/cli/cli.h"

/**
 * inspect_program - describe a file for which program_file_is() is true
 * @json: print JSON
 * @commands: print the commands of programs, too
 *
 * Return: an exit code, its message printed.
 */
int inspect_program(struct cli *cli, const char *path, bool json, bool commands);

#endif /* TOOLS_INSPECT_INSPECT_PROGRAM_H */
