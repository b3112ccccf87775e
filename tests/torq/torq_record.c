/* SPDX-License-Identifier: MIT */
/* Read what record.py wrote, a line at a time. */
#include "tests/torq/torq_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

static void *grown(void *list, unsigned int count, size_t size)
{
	void *more = realloc(list, (count + 1) * size);

	assert_non_null(more);
	return more;
}

static void add_job(struct torq_run *run, uint32_t entry)
{
	run->jobs = grown(run->jobs, run->job_count, sizeof(*run->jobs));
	run->jobs[run->job_count++] = (struct torq_job){ entry, run->byte_count, 0 };
}

static void add_bytes(struct torq_run *run, bool is_result, bool is_xram, uint32_t address,
		      const char *hex)
{
	struct torq_bytes *b;
	unsigned int value, i;

	run->bytes = grown(run->bytes, run->byte_count, sizeof(*run->bytes));
	b = &run->bytes[run->byte_count++];
	*b = (struct torq_bytes){ is_xram, is_result, address, 0, NULL };
	b->data = malloc(strlen(hex) / 2 + 1);
	assert_non_null(b->data);
	for (i = 0; sscanf(hex + 2 * (size_t)i, "%2x", &value) == 1; i++)
		b->data[i] = (uint8_t)value;
	b->size = i;
	run->jobs[run->job_count - 1].count++;
}

unsigned int torq_record_read(const char *path, struct torq_run *runs, unsigned int room)
{
	FILE *file = fopen(path, "r");
	unsigned int count = 0, address;
	char *line = NULL, memory[8];
	size_t size = 0;
	int at;

	if (!file)
		fail_msg("%s is not there", path);
	while (getline(&line, &size, file) > 0) {
		if (!strncmp(line, "run ", 4)) {
			assert_true(count < room);
			memset(&runs[count++], 0, sizeof(*runs));
		} else if (sscanf(line, "job %x", &address) == 1) {
			add_job(&runs[count - 1], address);
		} else {
			if (sscanf(line, "%*s %7s %x %n", memory, &address, &at) != 2)
				fail_msg("%s: %s", path, line);
			add_bytes(&runs[count - 1], line[0] == 's', memory[0] == 'x', address,
				  line + at);
		}
	}
	free(line);
	fclose(file);
	return count;
}

void torq_record_free(struct torq_run *run)
{
	unsigned int i;

	for (i = 0; i < run->byte_count; i++)
		free(run->bytes[i].data);
	free(run->bytes);
	free(run->jobs);
	memset(run, 0, sizeof(*run));
}
