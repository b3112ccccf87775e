/* SPDX-License-Identifier: MIT */
/* Shell commands on this machine, each in a process group of its own and with a deadline. */
#ifndef TOOLS_HIL_PROCESS_H
#define TOOLS_HIL_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SECOND UINT64_C(1000000000)

/* The most that a command may print, so that an endless one does not fill the disk. */
#define PROCESS_OUTPUT_MOST (64u << 20)

/**
 * struct stop - a request to end the run early
 * @fd: readable or closed at its other end when the command that the user started has ended
 * @signalled: set by a signal handler
 */
struct stop {
	int fd;
	volatile sig_atomic_t *signalled;
};

/** stop_is_requested - test for the end of the command or a signal */
bool stop_is_requested(const struct stop *stop);

/**
 * struct process - a command that runs
 * @pid: its first process and the number of its process group; 0 if there is none
 */
struct process {
	pid_t pid;
};

/**
 * process_start - start "sh -c COMMAND sh WORD"
 * @command: for the shell
 * @word: $1 of the command; NULL for none
 * @in: file to read as standard input; NULL for none
 * @out: file to which output and errors are appended
 * @process: receives the process
 *
 * The kernel kills the shell when this process dies.
 *
 * Return: 0; -TENON_E_IO.
 */
int process_start(const char *command, const char *word, const char *in, const char *out,
		  struct process *process);

/** process_has_ended - test whether it has ended; @status as process_wait() */
bool process_has_ended(struct process *process, int *status);

/**
 * process_wait - wait for the end of a process
 * @process: the process; has none afterwards, except after a failure
 * @deadline: time of clock_now()
 * @stop: ends the wait
 * @status: receives the exit status, or 128 and the signal's number
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_CALL on a stop. Neither raises an error.
 */
int process_wait(struct process *process, uint64_t deadline, const struct stop *stop, int *status);

/** process_end - end a process and its group: SIGTERM, and SIGKILL after @grace */
void process_end(struct process *process, uint64_t grace);

/** process_kill_children - kill and reap all children, also those that are adopted meanwhile */
void process_kill_children(void);

/** process_pause - sleep for some milliseconds, or until a stop is requested */
void process_pause(const struct stop *stop, int milliseconds);

#endif /* TOOLS_HIL_PROCESS_H */
