/* SPDX-License-Identifier: MIT */
/* The file of a trace, for suites on the fake device. */
#include "tests/device/trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/trace.h>
#include <unistd.h>

#include "tests/device/fake_device.h"

char trace_path[256];

char *trace_content(void)
{
	FILE *f = fopen(trace_path, "rb");
	char *text;
	long size;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	assert_true(size > 0);
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, f), size);
	fclose(f);
	return text;
}

size_t trace_count(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

struct tenon_memory *trace_memory(struct tenon_device *d, uint64_t size)
{
	struct tenon_memory_request request = { sizeof(request), size, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m = NULL;

	assert_int_equal(tenon_memory_alloc(d, &request, &m), 0);
	return m;
}

char *trace_end(void)
{
	assert_int_equal(tenon_trace(NULL), 0);
	return trace_content();
}

int trace_setup(void **state)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(trace_path, sizeof(trace_path), "%s/trace-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(trace_path);
	if (fd < 0)
		return -1;
	close(fd);
	return fake_setup(state);
}

int trace_teardown(void **state)
{
	remove(trace_path);
	return fake_reset(state);
}
