/* SPDX-License-Identifier: MIT */
/* The console of a board. */
#ifndef TOOLS_HIL_CONSOLE_H
#define TOOLS_HIL_CONSOLE_H

/*
 * The line is a device or a Unix socket (QEMU). The login shell is replaced by a loop that reads a
 * line and runs it, without echo, prompt or line editing. The kernel's messages may appear between
 * the lines of a command's output, so results are copied in a file with a checksum.
 */

#include <stdbool.h>
#include <tenon/buffer.h>

#include "tools/hil/process.h"

/* longest line that a terminal of Linux accepts, with room for its end */
#define CONSOLE_LINE_MOST 4000

/**
 * struct console - an open line
 * @fd: the line; -1 if closed
 * @log: descriptor of the log of all that came
 * @received: bytes of the current answer
 * @echoes: attempts that the console only printed again
 * @silences: attempts after which it printed nothing
 * @has_answered: a command was run
 */
struct console {
	int fd;
	int log;
	struct tenon_buffer received;
	unsigned int echoes;
	unsigned int silences;
	bool has_answered;
};

/**
 * console_open - open a line
 * @where: a device, or unix:PATH
 * @speed: in baud, for a device
 * @log: file to which everything received is appended
 * @console: receives the line
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE for a speed that does not exist.
 */
int console_open(const char *where, int64_t speed, const char *log, struct console *console);

/** console_close - close the line */
void console_close(struct console *console);

/** console_send - write text, before the deadline; 0, or a negative status without an error */
int console_send(struct console *console, const char *text, uint64_t deadline,
		 const struct stop *stop);

/**
 * console_wait - receive until a line begins with a mark and has ended
 * @mark: the mark
 * @found: receives the offset of the mark in @received
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_LOST when the line was closed; -TENON_E_CALL on a stop. None
 * raises an error.
 */
int console_wait(struct console *console, const char *mark, uint64_t deadline,
		 const struct stop *stop, size_t *found);

/** console_receive - receive what comes within some milliseconds; as console_wait() */
int console_receive(struct console *console, int milliseconds, const struct stop *stop);

#endif /* TOOLS_HIL_CONSOLE_H */
