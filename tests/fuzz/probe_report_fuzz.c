/* SPDX-License-Identifier: MIT */
/* The bytes are what a child process says of a backend: a driver that it opens may have overwritten them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/file_map.h"
#include "runtime/probe/probe.h"
#include "tests/fuzz/fuzz.h"

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	int fd = memfd_create("report", 0);
	struct tenon_slice bytes;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || probe_report_write("cpu", fd) || file_map_open(path, &bytes))
		abort();
	visit(context, "of the processor", bytes);
	file_map_close(&bytes);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_answer answer;

	if (probe_report_read((struct tenon_slice){ (const char *)data, size }, &answer) ==
	    PROBE_REPORT_WHOLE)
		probe_answer_fini(&answer);
	return 0;
}
