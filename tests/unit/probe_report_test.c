/* SPDX-License-Identifier: MIT */
/* What a child process reports of a driver, read as untrusted bytes. */
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/probe/probe.h"

/* What a child writes about the processor. */
static size_t make_report(const char *name, char *bytes, size_t room)
{
	size_t size = 0;
	ssize_t n;
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(probe_report_write(name, fds[1]), 0);
	close(fds[1]);
	while ((n = read(fds[0], bytes + size, room - size)) > 0)
		size += (size_t)n;
	close(fds[0]);
	return size;
}

/* Read a copy of just that size, so that a sanitizer sees what is read behind its end. */
static int read_copy(const char *bytes, size_t size, struct probe_answer *a)
{
	char *copy = malloc(size ? size : 1);
	int state;

	memcpy(copy, bytes, size);
	state = probe_report_read((struct tenon_slice){ copy, size }, a);
	free(copy);
	assert_string_equal(tenon_error_message(), "");
	return state;
}

static void what_is_written_is_read(void **state)
{
	char bytes[8192];
	size_t size = make_report("cpu", bytes, sizeof(bytes));
	struct probe_answer a;

	(void)state;
	assert_int_equal(read_copy(bytes, size, &a), PROBE_REPORT_WHOLE);
	assert_int_equal(a.outcome, TENON_PROBE_WORKS);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.devices[0].device_class, TENON_CLASS_CPU);
	probe_answer_fini(&a);
	size = make_report("nobody", bytes, sizeof(bytes));
	assert_int_equal(read_copy(bytes, size, &a), PROBE_REPORT_UNKNOWN);
}

static void a_report_that_ends_early_is_none(void **state)
{
	char bytes[8192];
	size_t size = make_report("cpu", bytes, sizeof(bytes) - 1), i;
	struct probe_answer a;

	(void)state;
	for (i = 0; i < size; i++)
		assert_int_equal(read_copy(bytes, i, &a),
				 i < 16 ? PROBE_REPORT_NONE : PROBE_REPORT_BEGUN);
	/* or goes on */
	bytes[size] = 0;
	assert_int_equal(read_copy(bytes, size + 1, &a), PROBE_REPORT_BEGUN);
}

/* A driver can write what it likes: texts stay texts, and counts are those of what is there. */
static void a_damaged_report_is_read_within_its_bounds(void **state)
{
	static const char values[] = { 0, 1, 0x7f, (char)0x80, (char)0xff };
	char bytes[8192];
	size_t size = make_report("cpu", bytes, sizeof(bytes)), i, k;
	struct probe_answer a;

	(void)state;
	for (i = 0; i < size; i++)
		for (k = 0; k < sizeof(values); k++) {
			char before = bytes[i];

			bytes[i] = values[k];
			if (read_copy(bytes, size, &a) == PROBE_REPORT_WHOLE) {
				assert_int_equal(a.count, 1);
				assert_true(a.outcome <= TENON_PROBE_FAILED);
				assert_true(a.devices[0].heap_count <= TENON_HEAPS_MOST);
				probe_answer_fini(&a);
			}
			bytes[i] = before;
		}
}

static void texts_without_an_end_get_one(void **state)
{
	char bytes[8192];
	size_t size = make_report("cpu", bytes, sizeof(bytes));
	struct tenon_device_properties *p;
	struct probe_answer a;
	size_t at = size - 8 - sizeof(*p);

	(void)state;
	memset(bytes + at, 'x', sizeof(*p));
	assert_int_equal(read_copy(bytes, size, &a), PROBE_REPORT_WHOLE);
	p = a.devices;
	assert_int_equal(strlen(p->name), sizeof(p->name) - 1);
	assert_int_equal(strlen(p->vendor), sizeof(p->vendor) - 1);
	assert_int_equal(strlen(p->driver), sizeof(p->driver) - 1);
	assert_int_equal(strlen(p->compute_version), sizeof(p->compute_version) - 1);
	assert_int_equal(strlen(p->architecture), sizeof(p->architecture) - 1);
	probe_answer_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_report_that_ends_early_is_none),
		cmocka_unit_test(a_damaged_report_is_read_within_its_bounds),
		cmocka_unit_test(texts_without_an_end_get_one),
	};

	return cmocka_run_group_tests_name("reports of drivers", tests, NULL, NULL);
}
