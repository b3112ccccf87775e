/* SPDX-License-Identifier: MIT */
/* The message for code that this machine's processor cannot run. */
#ifndef TOOLS_HOST_CODE_ILLEGAL_INSTRUCTION_H
#define TOOLS_HOST_CODE_ILLEGAL_INSTRUCTION_H

/**
 * illegal_instruction_handle_sigill - say why SIGILL ends the process
 *
 * A module that was compiled for a processor with more instructions raises it. The message names the file, the function,
 * what is missing and what to compile for; then the signal ends the process as it does without a handler, so that scripts
 * see it and a core is written. A library must not handle signals; the command may, since it owns the process.
 */
void illegal_instruction_handle_sigill(void);

#endif /* TOOLS_HOST_CODE_ILLEGAL_INSTRUCTION_H */
