/* SPDX-License-Identifier: MIT */
/*
 * Probing a driver in a child process. The parent starts the command with PROBE_OPTION and the name
 * of the backend, standard output and error on one pipe, the report on another:
 *
 *	head	magic; as integers of 32 bits: device ABI, size of struct tenon_device_properties
 *	known	32 bits: 1 if the command has the backend
 *	answer	32 bits each: outcome (works or failed), number of devices; reason, doctor as strings; the
 *		properties as they are in memory; the end
 *
 * The child writes the head before it loads the driver, so that the parent can tell a command of
 * another version from a crash. The driver could write to the pipe: the report is untrusted.
 */
#ifndef RUNTIME_PROBE_PROBE_H
#define RUNTIME_PROBE_PROBE_H

#include <sys/types.h>

#include "runtime/device/backend_probe.h"

#define PROBE_WORDS   512
#define PROBE_DEVICES 256
/* more than the largest report */
#define PROBE_REPORT_MOST (PROBE_DEVICES * sizeof(struct tenon_device_properties) + (64 << 10))

/**
 * struct probe_answer - what a backend answered; ended by probe_answer_fini()
 * @outcome: TENON_PROBE_WORKS or TENON_PROBE_FAILED
 * @count: number of devices
 * @devices: their properties
 * @reason: text
 * @doctor: text
 */
struct probe_answer {
	uint32_t outcome;
	uint32_t count;
	struct tenon_device_properties *devices;
	struct tenon_buffer reason;
	struct tenon_buffer doctor;
};

/* Probe in this process. Return: 0, also for a driver that failed; -TENON_E_NOMEM. */
int probe_ask(const struct tenon_backend *backend, struct probe_answer *answer);
void probe_answer_fini(struct probe_answer *answer);

/**
 * struct probe_child - a child process that probes a driver
 * @report: its report
 * @words: last PROBE_WORDS bytes of standard output and error
 * @word_count: bytes in @words
 * @status: from waitpid()
 * @is_known: @status is valid
 * @hung: it was killed at the timeout
 */
struct probe_child {
	struct tenon_buffer report;
	char words[PROBE_WORDS];
	size_t word_count;
	int status;
	bool is_known;
	bool hung;
};

/*
 * Run the command, until it ends or @timeout nanoseconds have passed. Return: 0, and then
 * @child->report is to be freed; -TENON_E_UNSUPPORTED when it cannot be started; -TENON_E_NOMEM.
 */
int probe_child_run(const char *command, const char *backend, uint64_t timeout,
		    struct probe_child *child);

/* enum probe_report_state - completeness of a report */
enum probe_report_state {
	PROBE_REPORT_NONE,    /* there is no head of this version */
	PROBE_REPORT_UNKNOWN, /* the command does not have the backend */
	PROBE_REPORT_BEGUN,   /* the driver did not answer */
	PROBE_REPORT_WHOLE,
};

/*
 * Read a report; @answer is filled when it is whole. Return: enum probe_report_state;
 * -TENON_E_NOMEM.
 */
int probe_report_read(struct tenon_slice bytes, struct probe_answer *answer);

/* probe_report_write() for the library */
int probe_report(const char *name, int fd);

/* what the row of this room gives the library */
extern const struct prober probe_prober;

#endif /* RUNTIME_PROBE_PROBE_H */
