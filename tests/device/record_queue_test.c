/* SPDX-License-Identifier: MIT */
/* What is recorded of queues and operators, what a record lacks and why, and files that cannot be written. */
#include "tests/device/fake_device.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/record.h"

#define BYTES 64

static char parent[256], folder[300];
static struct record_report report;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(parent, sizeof(parent), "%s/record-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(parent))
		return -1;
	snprintf(folder, sizeof(folder), "%s/record", parent);
	return fake_reset(state);
}

/* A case that failed may have left a record. */
static int tear_down(void **state)
{
	(void)state;
	if (record_on())
		record_end(&report);
	tenon_error_clear();
	tenon_device_close_all();
	return nftw(parent, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void begin(uint64_t limit)
{
	const struct record_options options = { .folder = folder, .limit = limit };

	if (record_begin(&options))
		fail_msg("%s", tenon_error_message());
}

static void end(void)
{
	if (record_end(&report))
		fail_msg("%s", tenon_error_message());
}

static const char *manifest(void)
{
	static char text[1 << 16];
	char path[400];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/" RECORD_MANIFEST, folder);
	f = fopen(path, "r");
	assert_non_null(f);
	size = fread(text, 1, sizeof(text) - 1, f);
	text[size] = '\0';
	fclose(f);
	return text;
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no %s in %s", words, text);
}

/* a queue, and memory of its device */
static struct tenon_queue *queue;
static struct tenon_memory *first, *second;

static void open_queue(const char *uri)
{
	const struct tenon_memory_request request = { sizeof(request), BYTES, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_device *d;

	assert_int_equal(tenon_device_open(uri, &d), 0);
	assert_int_equal(tenon_queue_create(d, &queue), 0);
	assert_int_equal(tenon_memory_alloc(d, &request, &first), 0);
	assert_int_equal(tenon_memory_alloc(d, &request, &second), 0);
}

static void close_queue(void)
{
	struct tenon_device *d = queue->device;

	tenon_object_unref(second);
	tenon_object_unref(first);
	tenon_object_unref(queue);
	tenon_object_unref(d);
}

static void operations_of_a_queue_are_recorded(void **state)
{
	uint32_t from[BYTES / 4] = { 1, 2, 3 }, back[BYTES / 4] = { 0 };
	const char *text;

	(void)state;
	begin(RECORD_LIMIT);
	open_queue("cpu:0");
	assert_int_equal(tenon_queue_fill(queue, first, 0, BYTES, 7, 4, NULL), 0);
	assert_int_equal(tenon_queue_write(queue, first, 0, from, BYTES, NULL), 0);
	assert_int_equal(tenon_queue_copy(queue, second, 0, first, 0, BYTES, NULL), 0);
	assert_int_equal(tenon_queue_read(queue, back, second, 0, BYTES, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, TENON_FOREVER), 0);
	assert_memory_equal(back, from, BYTES);
	close_queue();
	end();
	assert_int_equal(report.operations, 4);
	text = manifest();
	assert_has(text, "\"number\":1,\"kind\":\"fill\",\"device\":\"cpu:0\"");
	assert_has(text, "\"pattern\":7,\"width\":4");
	assert_has(text, "\"number\":2,\"kind\":\"write\"");
	assert_has(text, "\"number\":3,\"kind\":\"copy\"");
	assert_has(text, "\"number\":4,\"kind\":\"read\"");
	assert_has(text, "\"tensor\":\"64xuint8\",\"bytes_only\":true");
}

static void what_does_not_fit_is_counted(void **state)
{
	(void)state;
	begin(BYTES + 10);
	open_queue("cpu:0");
	/* its contents fit, its entry does not; then all is left out */
	assert_int_equal(tenon_queue_fill(queue, first, 0, BYTES, 7, 4, NULL), 0);
	assert_int_equal(tenon_queue_fill(queue, first, 0, BYTES, 8, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, TENON_FOREVER), 0);
	close_queue();
	end();
	assert_int_equal(report.operations, 0);
	assert_int_equal(report.left_out[RECORD_LACK_LIMIT], 2);
	assert_has(manifest(), "\"left_out\":{\"limit\":2,");
}

static void a_list_that_the_device_does_not_keep_is_recorded_one_by_one(void **state)
{
	struct tenon_commands *commands;

	(void)state;
	begin(RECORD_LIMIT);
	open_queue("cpu:0");
	assert_int_equal(tenon_commands_create(queue->device, &commands), 0);
	assert_int_equal(tenon_commands_fill(commands, tenon_range(first, 0), BYTES, 7, 4), 0);
	assert_int_equal(tenon_commands_finish(commands), 0);
	assert_int_equal(tenon_queue_execute(queue, commands, NULL, 0, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, TENON_FOREVER), 0);
	tenon_object_unref(commands);
	close_queue();
	end();
	assert_int_equal(report.operations, 1);
	assert_int_equal(report.left_out[RECORD_LACK_COMMANDS], 0);
}

static void an_operation_that_fails_fails_as_ever(void **state)
{
	(void)state;
	begin(RECORD_LIMIT);
	open_queue("fake:0");
	fake.submits_left = 0;
	assert_int_equal(tenon_queue_fill(queue, first, 0, BYTES, 7, 4, NULL), -TENON_E_VALUE);
	assert_error_has("fake: no operation");
	fake.submits_left = -1;
	close_queue();
	end();
	assert_int_equal(report.operations, 0);
	assert_int_equal(report.left_out[RECORD_LACK_FAILED], 1);
}

static void memory_that_cannot_be_read_fails_no_operation(void **state)
{
	uint32_t back[BYTES / 4];

	(void)state;
	begin(RECORD_LIMIT);
	open_queue("fake:0");
	/* the record's own read, before that of the program */
	fake.marks_fail = 1;
	assert_int_equal(tenon_queue_read(queue, back, first, 0, BYTES, NULL), 0);
	assert_error("");
	fake_finish(queue);
	close_queue();
	end();
	assert_int_equal(report.operations, 0);
	assert_int_equal(report.left_out[RECORD_LACK_READING], 1);
}

static void a_folder_is_made_where_there_is_one(void **state)
{
	const struct record_options options = { .folder = folder, .limit = RECORD_LIMIT };

	(void)state;
	assert_int_equal(mkdir(folder, 0777), 0);
	assert_int_equal(record_begin(&options), -TENON_E_EXISTS);
	assert_error_has("exists; a record is written to a new folder");
	assert_int_equal(rmdir(folder), 0);
	strcat(folder, "/within");
	assert_int_equal(record_begin(&options), -TENON_E_IO);
	assert_error_has("/record/within: cannot be created: No such file or directory");
	assert_false(record_on());
}

static void a_file_that_cannot_be_written_ends_the_record_in_an_error(void **state)
{
	(void)state;
	begin(RECORD_LIMIT);
	assert_int_equal(rmdir(folder), 0);
	open_queue("cpu:0");
	/* programs go on */
	assert_int_equal(tenon_queue_fill(queue, first, 0, BYTES, 7, 4, NULL), 0);
	assert_int_equal(tenon_queue_fill(queue, first, 0, BYTES, 8, 4, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, TENON_FOREVER), 0);
	close_queue();
	assert_int_equal(record_end(&report), -TENON_E_IO);
	assert_error_has("/record: No such file or directory");
	assert_int_equal(report.operations, 0);
	assert_int_equal(mkdir(folder, 0777), 0);
}

static void a_manifest_that_cannot_be_written_is_told(void **state)
{
	(void)state;
	begin(RECORD_LIMIT);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(record_end(&report), -TENON_E_IO);
	assert_error_has(RECORD_MANIFEST);
	assert_int_equal(mkdir(folder, 0777), 0);
}

static void a_module_that_is_gone_is_counted(void **state)
{
	const char *const files[] = { "/nonexistent/a \"b\".so", "parts/manifest.json" };
	const struct record_options options = { folder, RECORD_LIMIT, files, 2 };

	(void)state;
	assert_int_equal(record_begin(&options), 0);
	assert_error("");
	end();
	assert_int_equal(report.left_out[RECORD_LACK_FILE], 2);
	assert_has(manifest(), "{\"name\":\"a \\\"b\\\".so\"},\n{\"name\":\"manifest.json\"}");
}

static void a_child_process_adds_nothing(void **state)
{
	int status;
	pid_t child;

	(void)state;
	begin(RECORD_LIMIT);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		const struct operator_call call = { .count = 0 };
		const bool none = !record_before(&call);

		_exit(record_end(&report) == -TENON_E_USAGE && none ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	end();
	assert_int_equal(report.operations, 0);
}

/* ---- operators */

static float numbers[4];
static int64_t extents[] = { 2, 2 };

static struct operator_call call_of(struct tenon_value *args, uint32_t count, uint32_t outputs)
{
	return (struct operator_call){
		.name = tenon_slice_of("add"),
		.function = tenon_slice_of("fused_add"),
		.args = args,
		.count = count,
		.outputs = outputs,
	};
}

static void call(struct tenon_value *args, uint32_t count, uint32_t outputs, int err)
{
	const struct operator_call c = call_of(args, count, outputs);
	struct operator_begun *begun = record_before(&c);

	assert_non_null(begun);
	numbers[0]++;
	record_after(begun, err);
}

static void calls_of_operators_are_recorded(void **state)
{
	DLTensor tensor =
		tenon_dltensor(numbers, extents, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value args[] = { tenon_arg_tensor(&tensor), tenon_arg_int(-3),
				      tenon_arg_bool(true),	 tenon_arg_float(0.5),
				      tenon_arg_none(),		 tenon_arg_tensor(&tensor) };
	const char *text;

	(void)state;
	begin(RECORD_LIMIT);
	call(args, 6, 5, 0);
	/* a byte of truth, as TVM up to 0.20 calls it, in no place; whether it is read or written is not known */
	extents[0] = 0;
	tensor.dtype = tenon_dtype(TENON_DTYPE_UINT, 1, 1);
	call(args, 1, 0, 0);
	extents[0] = 2;
	end();
	assert_int_equal(report.operations, 2);
	text = manifest();
	assert_has(text, "\"kind\":\"operator\",\"name\":\"add\",\"function\":\"fused_add\"");
	assert_has(text, "{\"int\":\"-3\"},{\"bool\":true},{\"real\":\"3fe0000000000000\"},{}");
	assert_has(text, "{\"tensor\":\"2x2xfloat32\",\"before\":");
	assert_has(text, "{\"tensor\":\"2x2xfloat32\",\"after\":");
	assert_has(text, "{\"tensor\":\"0x2xbool\",\"before\":");
}

static void calls_that_cannot_be_repeated_are_counted(void **state)
{
	int64_t gaps[] = { 4, 2 };
	DLTensor tensor =
		tenon_dltensor(numbers, extents, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value word = tenon_arg_string("word"), number = tenon_arg_int(1);
	struct tenon_value value = tenon_arg_tensor(&tensor);

	(void)state;
	begin(RECORD_LIMIT);
	/* neither number nor tensor; no tensor; one with gaps; one that failed */
	call(&word, 1, 0, 0);
	call(&number, 1, 0, 0);
	call(&value, 1, 0, -TENON_E_VALUE);
	tensor.strides = gaps;
	call(&value, 1, 0, 0);
	end();
	assert_int_equal(report.operations, 0);
	assert_int_equal(report.left_out[RECORD_LACK_ARGUMENT], 3);
	assert_int_equal(report.left_out[RECORD_LACK_FAILED], 1);
}

static void a_call_that_outlives_its_record_is_in_no_other(void **state)
{
	DLTensor tensor =
		tenon_dltensor(numbers, extents, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	struct tenon_value value = tenon_arg_tensor(&tensor);
	const struct operator_call c = call_of(&value, 1, 0);
	struct operator_begun *begun;

	(void)state;
	begin(RECORD_LIMIT);
	begun = record_before(&c);
	assert_non_null(begun);
	end();
	strcat(folder, "-again");
	begin(RECORD_LIMIT);
	record_after(begun, 0);
	end();
	assert_int_equal(report.operations, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		CASE(operations_of_a_queue_are_recorded),
		CASE(what_does_not_fit_is_counted),
		CASE(a_list_that_the_device_does_not_keep_is_recorded_one_by_one),
		CASE(an_operation_that_fails_fails_as_ever),
		CASE(memory_that_cannot_be_read_fails_no_operation),
		CASE(a_folder_is_made_where_there_is_one),
		CASE(a_file_that_cannot_be_written_ends_the_record_in_an_error),
		CASE(a_manifest_that_cannot_be_written_is_told),
		CASE(a_module_that_is_gone_is_counted),
		CASE(a_child_process_adds_nothing),
		CASE(calls_of_operators_are_recorded),
		CASE(calls_that_cannot_be_repeated_are_counted),
		CASE(a_call_that_outlives_its_record_is_in_no_other),
	};

	return cmocka_run_group_tests(tests, fake_setup, NULL);
}
