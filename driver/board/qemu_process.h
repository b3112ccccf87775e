/* SPDX-License-Identifier: MIT */
/* Start, suspend and stop an emulator that never outlives this process. */
#ifndef DRIVER_BOARD_QEMU_PROCESS_H
#define DRIVER_BOARD_QEMU_PROCESS_H

/*
 * A shell starts the emulator and reads a pipe from us: when this process ends, however it ends, the pipe
 * closes and the shell kills the emulator. Both are in a process group of their own.
 */

#include <stdint.h>
#include <sys/types.h>

/**
 * struct qemu_process - a running emulator
 * @group: process group, and the shell's id
 * @leash: our end of the pipe
 * @uart: our end of the UART's socket
 */
struct qemu_process {
	pid_t group;
	int leash;
	int uart;
};

/**
 * qemu_process_start - start an emulator
 * @words: its command line, ended by NULL. In it descriptor 3 is @memory and descriptor 4 the UART's socket
 * @memory: the board's memory
 * @out: the process
 *
 * Return: 0; -TENON_E_IO.
 */
int qemu_process_start(const char *const *words, int memory, struct qemu_process *out);

/** qemu_process_signal - send a signal to the emulator */
void qemu_process_signal(const struct qemu_process *p, int signal);

/** qemu_process_await_stop - wait until it stands still, or has ended */
void qemu_process_await_stop(const struct qemu_process *p);

/** qemu_process_stop - kill it, wait for its end, and close what is open */
void qemu_process_stop(struct qemu_process *p);

/** qemu_process_forget - close what is open, without a word to the process */
void qemu_process_forget(struct qemu_process *p);

#endif /* DRIVER_BOARD_QEMU_PROCESS_H */
