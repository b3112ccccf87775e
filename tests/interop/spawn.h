/* SPDX-License-Identifier: MIT */
/* Start the command under test in a folder, wait for it, and keep what it wrote. */
#ifndef TENON_TESTS_SPAWN_H
#define TENON_TESTS_SPAWN_H

#include <stddef.h>

#define SPAWN_ARGS_MAX 128

/** struct spawn - one run */
struct spawn {
	const char *argv[SPAWN_ARGS_MAX];
	int argc;
	int status; /* exit status; 128 + signal when one ended it; -1 when it did not start */
	char *out;  /* standard output, NUL-terminated */
	char *err;  /* standard error, NUL-terminated */
};

/** spawn_command - begin a command line with $EMULATOR (if any) and $TENON_COMMAND */
void spawn_command(struct spawn *s);
/** spawn_arg - add an argument; it must live until spawn_run() */
void spawn_arg(struct spawn *s, const char *arg);
/** spawn_run - run it in @folder (NULL: here) and wait */
void spawn_run(struct spawn *s, const char *folder);
/** spawn_line - the command line as text, for messages; static storage */
const char *spawn_line(const struct spawn *s);
/** spawn_fini - free what was captured */
void spawn_fini(struct spawn *s);

#endif
