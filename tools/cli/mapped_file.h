/* SPDX-License-Identifier: MIT */
/* The message for a file that was truncated while it was mapped. */
#ifndef TOOLS_CLI_MAPPED_FILE_H
#define TOOLS_CLI_MAPPED_FILE_H

/**
 * mapped_file_handle_sigbus - exit with a message when a mapped file was truncated
 *
 * Data of parameters and code of modules are used in mapped files, and access beyond the end of a
 * truncated file raises SIGBUS. A library must not handle signals; the command may, since it owns
 * the process. Any other SIGBUS ends the process as before.
 */
void mapped_file_handle_sigbus(void);

#endif /* TOOLS_CLI_MAPPED_FILE_H */
