/* SPDX-License-Identifier: MIT */
/* tenon inspect of a file for Ethos-U. */
#ifndef TOOLS_ETHOSU_ETHOSU_INSPECT_H
#define TOOLS_ETHOSU_ETHOSU_INSPECT_H

#include "tools/cli/cli.h"

/**
 * ethosu_inspect - describe a file: target, command stream, regions, tensors
 * @json: print JSON
 * @disassemble: print the commands too
 *
 * Return: an exit code, its message printed.
 */
int ethosu_inspect(struct cli *cli, const char *path, bool json, bool disassemble);

#endif /* TOOLS_ETHOSU_ETHOSU_INSPECT_H */
