/* SPDX-License-Identifier: MIT */
/* Run all cases on the device of a backend, with its lists of what it does not pass. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/backend.h>
#include <unistd.h>

#include "tests/cts/cts.h"

static const struct cts_case *const suites[] = {
	cts_memory_cases,   cts_handle_cases, cts_copy_cases,	  cts_queue_cases,
	cts_timeline_cases, cts_fence_cases,  cts_commands_cases, cts_executable_cases,
	cts_argument_cases, cts_call_cases,   cts_tensor_cases,	  cts_thread_cases,
	cts_loss_cases,
};

#define CASES_MOST 256

static struct cts cts;
static bool ended; /* a case came to its end: it was not skipped */

static const char *note_for(const struct cts_note *notes, const char *name)
{
	for (; notes && notes->name; notes++)
		if (!strcmp(notes->name, name))
			return notes->why;
	return NULL;
}

/* the one case that this process is for (cts_expected.c) */
static const char *only(void)
{
	const char *name = getenv("CTS_ONLY");

	return name && *name ? name : NULL;
}

/* CTS_EXPECT adds a name to the list of expected failures, to test what is done about those */
static const char *expected_failure(const char *name)
{
	const char *one = getenv("CTS_EXPECT");

	if (one && !strcmp(one, name))
		return "the environment says so";
	return note_for(cts_backend.expected_failures, name);
}

static void run_case(void **state)
{
	const struct cts_case *c = *state;
	const char *why = note_for(cts_backend.unsupported, c->name);

	if (why)
		cts_skip("unsupported: %s", why);
	why = expected_failure(c->name);
	if (why && !only()) {
		if (cts_passes(c->name))
			fail_msg("it passes: take it off the list of expected failures");
		cts_skip("expected to fail: %s", why);
	}
	ok(tenon_queue_create(cts.device, &cts.queue));
	c->run(&cts);
	ended = true;
	tenon_error_clear();
}

/* A case that failed leaves its queue to the end of the program. */
static int end_case(void **state)
{
	(void)state;
	tenon_object_unref(cts.queue);
	cts.queue = NULL;
	return 0;
}

void cts_ok(int status, const char *expression, const char *file, int line)
{
	if (!status)
		return;
	print_error("%s: %d: %s\n", expression, status, tenon_error_message());
	_fail(file, line);
}

static int skip_all(const char *why)
{
	/* the runner counts a program without a plan by its status, with its last line as the reason */
	printf("%s: %s\n", cts_backend.uri, why);
	return 77;
}

static bool is_case(const char *name)
{
	const struct cts_case *c;
	size_t i;

	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		for (c = suites[i]; c && c->name; c++)
			if (!strcmp(c->name, name))
				return true;
	return false;
}

/* A note about a case that is gone says nothing. */
static int check_notes(const struct cts_note *notes)
{
	int wrong = 0;

	for (; notes && notes->name; notes++)
		if (!is_case(notes->name)) {
			fprintf(stderr, "%s: a note about %s, and there is no such case\n",
				cts_backend.uri, notes->name);
			wrong = 1;
		}
	return wrong;
}

static int make_program(void)
{
	const char *kind = cts_backend.kind ? cts_backend.kind : "functions";

	tenon_buffer_fini(&cts.payload);
	if (cts_write_payload(&cts_backend, &cts.payload))
		return -1;
	return tenon_program_read(
		tenon_slice_of(kind),
		cts_backend.modern ? TENON_GENERATION_FFI : TENON_GENERATION_LEGACY,
		(struct tenon_slice){ cts.payload.data, cts.payload.size }, "cts", &cts.program);
}

static pid_t opened_by;

static int open_all(void)
{
	int err = tenon_device_open(cts_backend.uri, &cts.device);

	opened_by = getpid();
	if (!err)
		err = make_program();
	if (!err && cts.device->ops->executable)
		err = tenon_executable_create(cts.device, cts.program, NULL, &cts.executable);
	return err;
}

/* For cases that are run in a child: a device belongs to the process that opened it. */
static int open_in_child(void **state)
{
	return getpid() == opened_by ? 0 : open_all();
}

int main(void)
{
	static struct CMUnitTest tests[CASES_MOST];
	const char *why = cts_backend.setup ? cts_backend.setup() : NULL;
	const struct cts_case *c;
	size_t i, count = 0;
	int failed, err;

	if (check_notes(cts_backend.unsupported) || check_notes(cts_backend.expected_failures))
		return 1;
	if (why)
		return skip_all(why);
	err = open_all();
	if (err == -TENON_E_DEVICE && !cts.device)
		return skip_all(tenon_error_message());
	if (err) {
		fprintf(stderr, "%s: %s\n", cts_backend.uri, tenon_error_message());
		return 1;
	}
	fprintf(stderr, "# %s: %s, %s\n", cts_backend.uri, cts.device->properties->name,
		cts.device->properties->driver);
	for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		for (c = suites[i]; c && c->name && count < CASES_MOST; c++)
			tests[count++] = (struct CMUnitTest){ c->name, run_case, NULL, end_case,
							      (void *)(uintptr_t)c };
	if (only())
		cmocka_set_test_filter(only());
	failed = _cmocka_run_group_tests(cts_backend.uri, tests, count, open_in_child, NULL);
	tenon_object_unref(cts.executable);
	tenon_object_unref(cts.device);
	tenon_device_close_all();
	tenon_program_free(cts.program);
	tenon_buffer_fini(&cts.payload);
	return only() ? !ended || failed : failed;
}
