/* SPDX-License-Identifier: MIT */
/* Suites that start processes of the command cannot run under an emulator. */
#ifndef TESTS_REMOTE_EMULATED_H
#define TESTS_REMOTE_EMULATED_H

#include <stdbool.h>

/* Print why the suite is skipped, if an emulator runs this program. */
bool server_is_emulated(void);

#endif /* TESTS_REMOTE_EMULATED_H */
