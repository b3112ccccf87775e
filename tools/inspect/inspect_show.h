/* SPDX-License-Identifier: MIT */
/* tenon inspect --show, for the command. */
#ifndef TOOLS_INSPECT_INSPECT_SHOW_H
#define TOOLS_INSPECT_INSPECT_SHOW_H

#include "tools/cli/cli.h"

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

#endif /* TOOLS_INSPECT_INSPECT_SHOW_H */
