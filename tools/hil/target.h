/* SPDX-License-Identifier: MIT */
/* The description of a board and of its suites. */
#ifndef TOOLS_HIL_TARGET_H
#define TOOLS_HIL_TARGET_H

/*
 * A file in TOML says how a board is started, reached, reset and stopped, and which suites it runs.
 * docs/hardware-in-loop.md describes the keys.
 */

#include <stdint.h>

#include "tools/toml/toml.h"

/**
 * struct target_suite - a suite that runs on the board
 * @name: its name in reports
 * @file: the program, a path on this machine
 * @arguments: words for the program
 * @needs: files and folders to copy with it
 * @deadline: seconds; 0 for the target's
 */
struct target_suite {
	const char *name;
	const char *file;
	struct toml_strings arguments;
	struct toml_strings needs;
	int64_t deadline;
};

/** struct target_deadlines - the most seconds that each step may take */
struct target_deadlines {
	int64_t build, prepare, start, reach, copy, suite, stop, run;
};

/**
 * struct target - a board; strings are NULL where the file has none
 * @folder: folder of the file
 * @name: in reports
 * @build: command that builds the suites
 * @prepare: command that runs before the board starts
 * @run: command that is the board as long as it runs
 * @start: command that starts the board and returns
 * @reset: command that resets the board
 * @stop: command that stops the board
 * @exec: words before a shell command for the board
 * @console: a serial line with a shell: a device, or unix:PATH
 * @login: user at the console's login prompt
 * @password: and its password
 * @speed: of the console, in baud
 * @check: command on the board that fails when the board is not fit for tests
 * @directory: folder on the board for suites
 * @wrap: words before a suite's program on the board, such as an emulator
 */
struct target {
	struct toml toml;
	char *path;
	char *folder;
	const char *name;
	const char *build, *prepare, *run, *start, *reset, *stop;
	const char *exec, *console, *login, *password;
	int64_t speed;
	const char *check, *directory, *wrap;
	struct target_deadlines deadlines;
	struct target_suite *suites;
	size_t suite_count;
};

/**
 * target_read - read a file
 * @path: the file
 * @out: receives the target; target_fini() frees it, also after an error
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT with the line; -TENON_E_NOMEM; as toml_parse().
 */
int target_read(const char *path, struct target *out);

/** target_fini - free what target_read() allocated */
void target_fini(struct target *target);

/** target_suite - find a suite by its name; NULL if the target has none of that name */
const struct target_suite *target_suite(const struct target *target, const char *name);

#endif /* TOOLS_HIL_TARGET_H */
