/* SPDX-License-Identifier: MIT */
/* A run: prepare, start the board, run the suites, stop the board, write the reports. */
#ifndef TOOLS_HIL_SESSION_H
#define TOOLS_HIL_SESSION_H

#include <stdio.h>

#include "tools/hil/board.h"

/**
 * struct session_suite - a suite of a run
 * @definition: what to run
 * @path: where its program is on the board
 * @result: its result
 */
struct session_suite {
	struct target_suite definition;
	char *path;
	struct suite_result result;
};

/**
 * struct session - a run
 * @target: the board's description
 * @out: absolute path of the folder of results
 * @work: folder for files of the run
 * @seed: number that suites receive as TENON_SEED
 * @deadline: seconds for the whole run
 * @progress: print each step to this stream; NULL for no
 * @suites: the board itself as the first one, and those to run
 * @count: how many
 * @facts: lines "key: value" for the reports
 * @machine: the board's "uname -m"; "" if unknown
 * @started_at: time of day at the start
 * @resets: how often the board was reset
 * @state: how the run went; the results of suites are elsewhere
 * @board: the board
 */
struct session {
	const struct target *target;
	const char *out;
	const char *work;
	uint64_t seed;
	int64_t deadline;
	FILE *progress;
	struct session_suite *suites;
	size_t count;
	struct tenon_buffer facts;
	char machine[32];
	int64_t started_at;
	unsigned int resets;
	enum board_state state;
	struct board board;
};

/**
 * hil_session_run - do the run and write the reports
 *
 * Return: exit code: CLI_DIFFERS if a suite failed, CLI_TIMEOUT after the deadline of the run,
 * CLI_BROKEN if the board broke, CLI_UNAVAILABLE if a suite could not run or nothing passed, CLI_OK.
 */
int hil_session_run(struct session *session, const struct stop *stop);

/** hil_session_rescue - stop the board after the process that ran hil_session_run() was killed */
void hil_session_rescue(struct session *session, const struct stop *stop);

/** hil_session_code - the exit code that the results mean */
int hil_session_code(const struct session *session);

/** hil_session_fini - free what a session holds */
void hil_session_fini(struct session *session);

#define REPORT_KTAP "results.ktap"
#define REPORT_XML  "results.xml"
#define REPORT_JSON "results.json"

/**
 * report_write - write all reports
 *
 * Return: 0; -TENON_E_IO, -TENON_E_NOMEM. Where memory was missing for a fact, the reports are written without facts.
 */
int report_write(const struct session *session);

/** report_has_facts - whether there are facts, all of them */
bool report_has_facts(const struct session *session);

/** report_next_fact - cut the next line "name: value" off a copy of the facts; NULL is none. Returns whether there was one */
bool report_next_fact(char **at, char **name, char **value);

/** report_json - append the report in JSON */
int report_json(const struct session *session, struct tenon_buffer *out);

#endif /* TOOLS_HIL_SESSION_H */
