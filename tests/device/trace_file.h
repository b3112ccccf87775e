/* SPDX-License-Identifier: MIT */
/* Record a trace of the fake device to a file and read it back, for the suites that check traces. */
#ifndef TESTS_DEVICE_TRACE_FILE_H
#define TESTS_DEVICE_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct tenon_device;
struct tenon_memory;

extern char trace_path[256];

/* Set up and tear down a group: the file, and the fake. */
int trace_setup(void **state);
int trace_teardown(void **state);

/* Return: the content of the file; to be freed. */
char *trace_content(void);
/* End the trace. Return: the content of its file; to be freed. */
char *trace_end(void);
/* How often a text has a word. */
size_t trace_count(const char *text, const char *word);

/* Allocate memory of a device. */
struct tenon_memory *trace_memory(struct tenon_device *d, uint64_t size);

#endif /* TESTS_DEVICE_TRACE_FILE_H */
