/* SPDX-License-Identifier: MIT */
/* tenon inspect of archives in Model Library Format, for the command. */
#ifndef TOOLS_INSPECT_INSPECT_ARCHIVE_H
#define TOOLS_INSPECT_INSPECT_ARCHIVE_H

#include "tools/cli/cli.h"

/** inspect_archive - show what is in an archive in Model Library Format; returns an exit code */
int inspect_archive(struct cli *cli, const char *file, bool json);

/** inspect_archive_show - print a file of an archive as text; returns an exit code */
int inspect_archive_show(struct cli *cli, const char *file, const char *name);

#endif /* TOOLS_INSPECT_INSPECT_ARCHIVE_H */
