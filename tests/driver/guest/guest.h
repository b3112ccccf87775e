/* SPDX-License-Identifier: MIT */
/*
 * What the programs share that are all of a guest's user space: each tests drivers against a real kernel.
 *
 * Such a program loads modules, runs cases against the kernel's drivers, writes TAP to the second serial port and
 * switches the machine off.
 */
#ifndef TESTS_DRIVER_GUEST_H
#define TESTS_DRIVER_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct guest_case {
	const char *name;
	void (*run)(void);
};

extern const struct guest_case uio_cases[];
extern const struct guest_case vfio_cases[];
extern const struct guest_case drm_cases[];
extern const struct guest_case board_cases[];
extern const struct guest_case fpga_cases[];

/* Say why the current case fails; the last error of the thread is printed too. */
void guest_fail(const char *file, int line, const char *what);

/* Skip the current case. */
void guest_skip(const char *why);

/* Write a line of the results. */
void guest_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Run programs that the image brings; their cases are numbered from @number on. Return: the number of the last case. */
unsigned int guest_run_programs(unsigned int number);

/* Leave the current case, with a failure, unless this holds. */
#define expect(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			guest_fail(__FILE__, __LINE__, #what);                                     \
			return;                                                                    \
		}                                                                                  \
	} while (0)

/* In a hundred seconds: nothing here takes a tenth of it unless it is broken. */
uint64_t guest_deadline(void);

/* Sleep for a millisecond. */
void guest_pause(void);

/* Bind a PCI device to a driver. Return: 0; the negative status. */
int guest_bind(const char *address, const char *driver);

/* Does the kernel's log have a line with this text since the last call? Waits for it until the deadline. */
bool guest_log_says(const char *text, uint64_t deadline);

/* Forget what the log holds. */
void guest_log_skip(void);

#endif /* TESTS_DRIVER_GUEST_H */
