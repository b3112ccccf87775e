/* SPDX-License-Identifier: MIT */
/* A trace and a record of a run: one of them at a time, each ended by its own call. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/record.h"

static char folder[256], trace_file[300], record_folder[300];

static const struct record_options options = { .folder = record_folder, .limit = RECORD_LIMIT };

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/record-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(trace_file, sizeof(trace_file), "%s/trace.json", folder);
	snprintf(record_folder, sizeof(record_folder), "%s/record", folder);
	return 0;
}

static int tear_down(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

static void a_record_begins_and_ends_once(void **state)
{
	struct record_report report;

	(void)state;
	assert_int_equal(record_end(&report), -TENON_E_USAGE);
	assert_error_has("no record of a run is being written");
	assert_false(record_on());
	if (record_begin(&options))
		fail_msg("%s", tenon_error_message());
	assert_true(record_on());
	assert_int_equal(record_begin(&options), -TENON_E_USAGE);
	assert_error_has("a record of a run is being written already");
	assert_int_equal(record_end(&report), 0);
	assert_int_equal(report.operations, 0);
	assert_false(record_on());
	assert_int_equal(record_end(&report), -TENON_E_USAGE);
	tenon_error_clear();
}

static void a_trace_and_a_record_are_told_apart(void **state)
{
	const struct trace_there there = { 0 };
	struct tenon_buffer text = TENON_BUFFER_INIT;
	struct record_report report;

	(void)state;
	assert_int_equal(tenon_trace(trace_file), 0);
	assert_int_equal(record_begin(&options), -TENON_E_USAGE);
	assert_error_has("a trace is being written already");
	assert_int_equal(record_end(&report), -TENON_E_USAGE);
	assert_error_has("no record");
	assert_false(record_on());
	assert_null(record_before(&(struct operator_call){ .count = 0 }));
	assert_true(trace_number() > 0);
	assert_int_equal(trace_take(&text), -TENON_E_USAGE);
	assert_error_has("is for a file");
	assert_int_equal(tenon_trace(NULL), 0);

	strcat(record_folder, "-again");
	assert_int_equal(record_begin(&options), 0);
	assert_int_equal(tenon_trace(trace_file), -TENON_E_USAGE);
	assert_error_has("a record of a run is being written already");
	assert_int_equal(trace_keep(), -TENON_E_USAGE);
	assert_error_has("a trace for another machine: a record");
	assert_int_equal(tenon_trace(NULL), -TENON_E_USAGE);
	assert_error_has("no trace is being written");
	/* what a trace has, a record has not */
	assert_int_equal(trace_number(), 0);
	assert_int_equal(trace_merge(&there), 0);
	tenon_trace_span("track", "name", 1, 2);
	assert_int_equal(record_end(&report), 0);

	assert_int_equal(trace_keep(), 0);
	assert_int_equal(tenon_trace(NULL), -TENON_E_USAGE);
	assert_error_has("is for another machine");
	assert_int_equal(trace_take(&text), 0);
	assert_true(text.size > 0);
	tenon_buffer_fini(&text);
	assert_int_equal(trace_take(&text), -TENON_E_USAGE);
	tenon_error_clear();
	assert_int_equal(trace_number(), 0);
	assert_int_equal(trace_merge(&there), 0);
}

static unsigned int asked;

static void ask(void)
{
	asked++;
}

static void who_adds_to_a_trace_is_asked_in_its_process_alone(void **state)
{
	int status;
	pid_t child;

	(void)state;
	trace_collect_with(ask);
	assert_int_equal(tenon_trace(trace_file), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		tenon_trace(NULL);
		_exit(asked != 0 || trace_number() != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(tenon_trace(NULL), 0);
	assert_int_equal(asked, 1);
	trace_collect_with(NULL);
}

static void what_a_record_lacks_has_words(void **state)
{
	(void)state;
	for (int why = 0; why < RECORD_LACKS; why++)
		assert_true(strlen(record_lack_text((enum record_lack)why)) > 5);
	assert_string_equal(record_lack_text(RECORD_LACKS), "unknown");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_begins_and_ends_once),
		cmocka_unit_test(a_trace_and_a_record_are_told_apart),
		cmocka_unit_test(who_adds_to_a_trace_is_asked_in_its_process_alone),
		cmocka_unit_test(what_a_record_lacks_has_words),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
