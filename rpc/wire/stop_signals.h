/* SPDX-License-Identifier: MIT */
/* What a server, a tracker and a proxy set for their process: signals that end them, and descriptors. */
#ifndef RPC_WIRE_STOP_SIGNALS_H
#define RPC_WIRE_STOP_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/**
 * struct stop_signals - SIGTERM and SIGINT
 * @fd: signalfd, which does not block; -1 if it could not be opened
 * @before: signals that the thread blocked before
 */
struct stop_signals {
	int fd;
	sigset_t before;
};

/**
 * stop_signals_open - block the signals, and open a descriptor for them
 * @s: receives it; to be closed after a failure, too
 * @children: SIGCHLD as well
 *
 * Return: 0; -TENON_E_IO.
 */
int stop_signals_open(struct stop_signals *s, bool children);

/** stop_signals_close - take what is pending, which would end the program, and unblock what was not blocked before */
void stop_signals_close(struct stop_signals *s);

/** descriptors_allow_all - raise the limit of descriptors as far as the process may: each connection takes one */
void descriptors_allow_all(void);

#endif /* RPC_WIRE_STOP_SIGNALS_H */
