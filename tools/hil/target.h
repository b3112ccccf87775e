/* SPDX-License-Identifier: MIT */
/* The description of a board and of its suites. */
#ifndef TOOLS_HIL_TARGET_H
#define TOOLS_HIL_TARGET_H

/*
 * A file in JSON says how a board is started, reached, reset and stopped, and which suites it runs.
 * docs/hardware-in-loop.md describes the keys.
 */

#include <stddef.h>
#include <stdint.h>

/** struct target_words - an array of strings */
struct target_words {
	const char **at;
	size_t count;
};

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
	struct target_words arguments;
	struct target_words needs;
	int64_t deadline;
};

/** struct target_deadlines - the most seconds that each step may take */
struct target_deadlines {
	int64_t build, prepare, start, reach, copy, suite, stop, run;
};

/**
 * struct target - a board; strings are NULL where the file has none
 * @path: the file
 * @folder: its folder
 * @text: the strings of the file
 * @words: the words of its arrays
 * @name: in reports
 * @build: command that builds the suites
 * @prepare: command that runs before the board starts
 * @run: command that is the board as long as it runs
 * @start: command that starts the board and returns
 * @reset: command that resets the board
 * @stop: command that stops the board
 * @exec: words before a shell command for the board
 * @check: command on the board that fails when the board is not fit for tests
 * @directory: folder on the board for suites
 * @wrap: words before a suite's program on the board, such as an emulator
 */
struct target {
	char *path;
	char *folder;
	char *text;
	const char **words;
	const char *name;
	const char *build, *prepare, *run, *start, *reset, *stop;
	const char *exec, *check, *directory, *wrap;
	struct target_deadlines deadlines;
	struct target_suite *suites;
	size_t suite_count;
};

/**
 * target_read - read a file
 * @path: the file
 * @out: receives the target; target_fini() frees it, also after an error
 *
 * Return: 0; -TENON_E_IO; -TENON_E_FORMAT or -TENON_E_VALUE, with line and column; -TENON_E_NOMEM.
 */
int target_read(const char *path, struct target *out);

/** target_fini - free what target_read() allocated */
void target_fini(struct target *target);

/** target_suite - find a suite by its name; NULL if the target has none of that name */
const struct target_suite *target_suite(const struct target *target, const char *name);

#endif /* TOOLS_HIL_TARGET_H */
