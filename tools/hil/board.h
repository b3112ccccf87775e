/* SPDX-License-Identifier: MIT */
/* A board that suites run on. */
#ifndef TOOLS_HIL_BOARD_H
#define TOOLS_HIL_BOARD_H

/*
 * A command on the board prints a last line with a mark, its ending and its status. Without that
 * line the connection or the board broke, whatever the status of the local program (ssh, for
 * example) is.
 */

#include <tenon/buffer.h>

#include "lib/sha256.h"
#include "tools/hil/process.h"
#include "tools/hil/suite_result.h"
#include "tools/hil/target.h"

#define BOARD_MARK 64

/**
 * struct board - a board during a run
 * @target: its description
 * @out: folder for logs
 * @work: folder for files of the run, removed at its end
 * @stop: ends every wait
 * @until: time of clock_now() at which the whole run must end
 * @machine: the process of the target's "run"
 * @started: the board was started and has to be stopped
 * @nonce: part of all marks of this run
 * @commands: commands so far
 * @fault: why the last step failed, for people
 */
struct board {
	const struct target *target;
	const char *out;
	const char *work;
	const struct stop *stop;
	uint64_t until;
	struct process machine;
	bool started;
	char nonce[17];
	unsigned int commands;
	char fault[1024];
};

/**
 * enum board_state - how a step ended
 * @BOARD_OK: well
 * @BOARD_UNABLE: something that the step needs is missing on this machine; @fault says what
 * @BOARD_BROKEN: the board or the connection to it broke; @fault says how
 * @BOARD_STOPPED: a stop was requested
 * @BOARD_OVERDUE: the deadline of the whole run passed
 */
enum board_state {
	BOARD_OK,
	BOARD_UNABLE,
	BOARD_BROKEN,
	BOARD_STOPPED,
	BOARD_OVERDUE,
};

/**
 * struct board_reply - the answer to a command on the board
 * @output: what it printed, without the last line
 * @ending: how it ended
 */
struct board_reply {
	struct tenon_buffer output;
	struct suite_ending ending;
};

/** hil_board_local - run a command on this machine; @what names the step in logs and faults */
enum board_state hil_board_local(struct board *board, const char *what, const char *command,
				 const char *word, int64_t seconds);

/** hil_board_start - start the board and wait until it answers */
enum board_state hil_board_start(struct board *board);

/** hil_board_reset - reset the board, or stop and start it, and wait until it answers */
enum board_state hil_board_reset(struct board *board);

/** hil_board_stop - stop the board, if it was started; uses its own deadline only */
void hil_board_stop(struct board *board);

/**
 * hil_board_command - run a shell command on the board
 * @board: the board
 * @command: for the board's shell
 * @in: file to send as standard input; NULL for none
 * @seconds: deadline
 * @reply: receives the answer; hil_board_reply_fini() frees it, also after a failure
 */
enum board_state hil_board_command(struct board *board, const char *command, const char *in,
				   int64_t seconds, struct board_reply *reply);

/** hil_board_reply_fini - free an answer */
void hil_board_reply_fini(struct board_reply *reply);

/** hil_board_answers - test whether the board runs the target's check */
enum board_state hil_board_answers(struct board *board, int64_t seconds);

/**
 * hil_board_send - copy the folder "stage" of the run to the board
 *
 * Replaces the target's directory on the board. The checksum of what arrived is compared.
 */
enum board_state hil_board_send(struct board *board);

/**
 * hil_board_suite - run a suite on the board
 * @board: the board
 * @command: the suite's program and arguments, quoted for the shell
 * @deadline: seconds, after which the board itself stops the suite
 * @log: file that receives its output, also when the board breaks
 * @reply: receives its output and ending
 */
enum board_state hil_board_suite(struct board *board, const char *command, int64_t deadline,
				 const char *log, struct board_reply *reply);

/** hil_board_fault - set @fault; returns @state */
enum board_state hil_board_fault(struct board *board, enum board_state state, const char *format,
				 ...) TENON_PRINTF(3, 4);

/** hil_board_log - path of a log in a buffer */
const char *hil_board_log(const struct board *board, const char *name, char path[512]);

/** hil_board_deadline - time of clock_now() in @seconds, or when the whole run must end */
uint64_t hil_board_deadline(const struct board *board, int64_t seconds);

/** hil_board_overrun - the state after a wait failed: stopped, overdue, or @state */
enum board_state hil_board_overrun(const struct board *board, enum board_state state);

/**
 * hil_file_checksum - SHA-256 of a file of this machine
 * @digits: receives it; "" on failure
 *
 * Return: 0; -TENON_E_IO.
 */
int hil_file_checksum(const char *path, char digits[SHA256_TEXT]);

/* the script that runs a suite on the board, see board_copy.c */
extern const char hil_board_script[];

#endif /* TOOLS_HIL_BOARD_H */
