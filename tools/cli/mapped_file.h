/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CLI_MAPPED_FILE_H
#define TOOLS_CLI_MAPPED_FILE_H

/**
 * mapped_file_watch - end the command with a message when a mapped file has been cut off
 *
 * The data of parameters and the code of modules are used where the file is mapped, and touching what was cut off
 * raises SIGBUS. A library must not handle signals; the command may, since it owns the process. Any other SIGBUS
 * ends the process as before.
 */
void mapped_file_watch(void);

#endif /* TOOLS_CLI_MAPPED_FILE_H */
