/* SPDX-License-Identifier: MIT */
/* Run commands of tenon in this process and check what must be true of every answer, whatever the file was. */
#ifndef TESTS_FUZZ_COMMAND_H
#define TESTS_FUZZ_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/string.h>

/*
 * Run the command with these words, which end with NULL. Aborts, saying why, when the exit status is none
 * that is documented, a failure has no message, what --json printed is no JSON, or a descriptor stays open.
 * Returns the exit status.
 */
int command_run(const char *const *words);

/* How many runs ended with each exit status, as a line of text on standard error; none: no line. */
void command_report(void);

#define COMMAND(...) command_run((const char *const[]){ __VA_ARGS__, NULL })

/*
 * Which of @count command lines an input is for: a checksum of its bytes decides, so that a campaign
 * tries one for each input, and the same whenever it is run again. Inputs from files go through all.
 */
struct command_choice {
	unsigned int from, to;
};

struct command_choice command_choose(struct tenon_slice input, unsigned int count);

/* Shall inputs go through all command lines, rather than one. */
void command_choose_all(bool yes);

#endif /* TESTS_FUZZ_COMMAND_H */
