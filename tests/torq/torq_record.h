/* SPDX-License-Identifier: MIT */
/* Read records of runs of the vendor's model (record.py), which the kernel's model replays. */
#ifndef TESTS_TORQ_TORQ_RECORD_H
#define TESTS_TORQ_TORQ_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* bytes of a memory; @is_result: they are there after the job, and not before it */
struct torq_bytes {
	bool is_xram;
	bool is_result;
	uint32_t address;
	uint32_t size;
	uint8_t *data;
};

struct torq_job {
	uint32_t entry;
	unsigned int first; /* of the run's bytes */
	unsigned int count;
};

/* a run of an executable: its jobs, in their order */
struct torq_run {
	struct torq_job *jobs;
	unsigned int job_count;
	struct torq_bytes *bytes;
	unsigned int byte_count;
};

/* Read the runs of a file; fails the test for one that cannot be read. Return: how many were added to @runs. */
unsigned int torq_record_read(const char *path, struct torq_run *runs, unsigned int room);

void torq_record_free(struct torq_run *run);

#endif /* TESTS_TORQ_TORQ_RECORD_H */
