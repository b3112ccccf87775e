/* SPDX-License-Identifier: MIT */
/* Weights in files beside a model: what a folder may hold, and each fault of a list or of a file. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/relax/relax_weights.h"
#include "tests/nomem/failing_malloc.h"
#include "tests/unit/suite.h"

#define LIST	  "tensor-cache.json"
#define OLDER	  "ndarray-cache.json"
#define LIST_MOST (64 << 20) /* bytes of a list that is read */

static const DLDevice host = { kDLCPU, 0 };
static char folder[256];

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const void *bytes, size_t size)
{
	FILE *f = fopen(path_of(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static int load_on(DLDevice device)
{
	return relax_weights_load(tenon_slice_of(folder), device);
}

static int load(const char *list)
{
	put(LIST, list, strlen(list));
	return load_on(host);
}

static void assert_weight(const char *name, const float *values, size_t count)
{
	struct tenon_tensor *t = relax_weights_find(tenon_slice_of(name));

	assert_non_null(t);
	assert_memory_equal(t->dl.data, values, count * sizeof(*values));
	tenon_object_unref(t);
}

/* A list with the file of put_shard(), and its records. */
#define FILE_OF(records)                                                                           \
	"{\"records\": [{\"dataPath\": \"shard.bin\", \"format\": \"raw-shard\", \"nbytes\": "     \
	"136, "                                                                                    \
	"\"records\": " records "}]}"
#define RECORD(dtype, shape, bytes, offset, more)                                                  \
	"{\"name\": \"w\", \"dtype\": \"" dtype "\", \"shape\": " shape ", \"nbytes\": " bytes     \
	", \"byteOffset\": " offset more "}"
#define ONE(dtype, shape, bytes, offset, more)                                                     \
	FILE_OF("[" RECORD(dtype, shape, bytes, offset, more) "]")

static const float one_two[] = { 1, 2 }, three_four[] = { 3, 4 };

/* 1 and 2 at the beginning, their upper halves at 16, 3 and 4 at 64 and 128 */
static void put_shard(const char *name)
{
	static const uint16_t halves[] = { 0x3f80, 0x4000 };
	char bytes[136] = { 0 };

	memcpy(bytes, one_two, sizeof(one_two));
	memcpy(bytes + 16, halves, sizeof(halves));
	memcpy(bytes + 64, three_four, sizeof(three_four));
	memcpy(bytes + 128, three_four, sizeof(three_four));
	put(name, bytes, sizeof(bytes));
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "%s/weights-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(folder))
		return -1;
	put_shard("shard.bin");
	return 0;
}

static int tear_down(void **state)
{
	static const char *const files[] = { LIST, OLDER, "shard.bin", "below/shard.bin", "pipe" };
	size_t i;

	(void)state;
	relax_weights_clear();
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(path_of(files[i]));
	rmdir(path_of("below"));
	rmdir(path_of(LIST));
	return rmdir(folder);
}

/* ---- what is read */

static void a_weight_is_read_wherever_it_begins(void **state)
{
	static const struct {
		const char *list;
		const float *values;
		size_t count;
	} cases[] = {
		{ ONE("float32", "[2]", "8", "64", ""), three_four, 2 },
		{ ONE("float32", "[1, 2]", "8", "128", ", \"format\": \"raw\""), three_four, 2 },
		{ ONE("float32", "[]", "4", "4", ""), one_two + 1, 1 },
		{ ONE("float32", "[2]", "4", "16", ", \"format\": \"f32-to-bf16\""), one_two, 2 },
		/* the format of float32 is on other dtypes, too */
		{ ONE("int32", "[2]", "8", "0", ", \"format\": \"f32-to-bf16\""), one_two, 2 },
		{ ONE("float32", "[0]", "0", "136", ""), one_two, 0 },
		{ ONE("float32", "[2]", "8", "0", ", \"more\": [1, {\"name\": 5}]"), one_two, 2 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (load(cases[i].list))
			fail_msg("case %zu: %s", i, tenon_error_message());
		assert_weight("w", cases[i].values, cases[i].count);
		assert_int_equal(relax_weights_count(), 1);
	}
}

static void a_file_may_lie_in_a_folder_below(void **state)
{
	(void)state;
	assert_int_equal(mkdir(path_of("below"), 0700), 0);
	put_shard("below/shard.bin");
	assert_int_equal(load("{\"metadata\": {\"records\": 5}, \"records\": [{\"dataPath\": "
			      "\"below/shard.bin\", \"format\": \"raw-shard\", \"nbytes\": 136, "
			      "\"records\": [" RECORD("float32", "[2]", "8", "0", "") "]}]}"),
			 0);
	assert_weight("w", one_two, 2);
}

static void the_list_of_older_tvm_is_read_where_there_is_no_other(void **state)
{
	static const char list[] = ONE("float32", "[2]", "8", "64", "");

	(void)state;
	put(OLDER, list, sizeof(list) - 1);
	assert_int_equal(load_on(host), 0);
	assert_weight("w", three_four, 2);
	assert_int_equal(load(ONE("float32", "[2]", "8", "0", "")), 0);
	assert_weight("w", one_two, 2);
}

/* Pages of a file are private. */
static void who_writes_to_a_weight_changes_no_file(void **state)
{
	struct tenon_tensor *t;

	(void)state;
	assert_int_equal(load(ONE("float32", "[2]", "8", "64", "")), 0);
	t = relax_weights_find(tenon_slice_of("w"));
	relax_weights_clear();
	((float *)t->dl.data)[0] = 9;
	tenon_object_unref(t);
	assert_int_equal(load_on(host), 0);
	assert_weight("w", three_four, 2);
}

/* ---- what is refused */

#define IN_FILE(path, format, bytes)                                                               \
	"{\"records\": [{\"dataPath\": \"" path "\", \"format\": \"" format                        \
	"\", \"nbytes\": " bytes ", \"records\": []}]}"

static void a_list_that_is_malformed_is_refused(void **state)
{
	static const struct {
		const char *list;
		int status;
		const char *words;
	} cases[] = {
		{ "", -TENON_E_FORMAT, "" },
		{ "{", -TENON_E_TRUNCATED, "the text ends too early" },
		{ "[]", -TENON_E_FORMAT, "a list of weights" },
		{ "{5: 1}", -TENON_E_FORMAT, "" },
		{ "{\"records\": 5}", -TENON_E_FORMAT, "files" },
		{ "{\"records\": [5]}", -TENON_E_FORMAT, "a record" },
		{ "{\"records\": [{}]}", -TENON_E_FORMAT, "a record without name or nbytes" },
		{ "{\"records\": [{\"dataPath\": \"x\"}]}", -TENON_E_FORMAT,
		  "without name or nbytes" },
		{ "{\"records\": [{\"nbytes\": 0}]}", -TENON_E_FORMAT, "without name or nbytes" },
		{ "{\"records\": [{\"dataPath\": \"shard.bin\", \"format\": \"raw-shard\", "
		  "\"nbytes\": 136}]}",
		  -TENON_E_FORMAT, "want \"raw-shard\", a list of records" },
		{ IN_FILE("shard.bin", "zip", "136"), -TENON_E_FORMAT, "has format \"zip\"" },
		{ IN_FILE("/shard.bin", "raw-shard", "136"), -TENON_E_FORMAT, "a path below" },
		{ IN_FILE("..", "raw-shard", "136"), -TENON_E_FORMAT, "a path below" },
		{ IN_FILE("../shard.bin", "raw-shard", "136"), -TENON_E_FORMAT, "a path below" },
		{ IN_FILE("a/../shard.bin", "raw-shard", "136"), -TENON_E_FORMAT, "a path below" },
		{ IN_FILE("a\\u0000b", "raw-shard", "136"), -TENON_E_FORMAT, "" },
		{ IN_FILE("shard.bin", "raw-shard", "135"), -TENON_E_FORMAT,
		  "its list states 135" },
		{ IN_FILE("none.bin", "raw-shard", "136"), -TENON_E_IO, "none.bin: " },
		{ IN_FILE("a/b", "raw-shard", "136"), -TENON_E_IO, "a/b: " },
		{ IN_FILE("pipe", "raw-shard", "136"), -TENON_E_IO, "pipe: not a regular file" },
		{ FILE_OF("5"), -TENON_E_FORMAT, "records" },
		{ FILE_OF("[5]"), -TENON_E_FORMAT, "a record" },
		{ FILE_OF("[{\"name\": 5}]"), -TENON_E_FORMAT, "a name" },
		{ FILE_OF("[{\"format\": 5}]"), -TENON_E_FORMAT, "a format" },
		{ FILE_OF("[{\"dtype\": 5}]"), -TENON_E_FORMAT, "a dtype" },
		{ FILE_OF("[{\"nbytes\": \"5\"}]"), -TENON_E_FORMAT, "a size" },
		{ FILE_OF("[{\"nbytes\": -5}]"), -TENON_E_VALUE, "a size" },
		{ FILE_OF("[{\"byteOffset\": -5}]"), -TENON_E_VALUE, "an offset" },
		{ FILE_OF("[{\"shape\": 5}]"), -TENON_E_FORMAT, "a shape" },
		{ FILE_OF("[{\"shape\": [1, null]}]"), -TENON_E_FORMAT, "an extent" },
		{ FILE_OF("[{\"shape\": [-1]}]"), -TENON_E_VALUE, "an extent" },
		{ FILE_OF("[{\"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
			  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"
			  "}]"),
		  -TENON_E_FORMAT, "65 dimensions" },
		{ ONE("float33x", "[2]", "8", "0", ""), -TENON_E_VALUE,
		  "tensor \"w\": \"float33x\" is no dtype" },
		{ ONE("float32", "[2]", "9", "0", ""), -TENON_E_FORMAT,
		  "9 bytes are stated, dtype and shape need 8" },
		{ ONE("float32", "[2]", "8", "0", ", \"format\": \"zip\""), -TENON_E_UNSUPPORTED,
		  "format \"zip\"; known are raw and f32-to-bf16" },
		{ ONE("float32", "[2]", "8", "129", ""), -TENON_E_TRUNCATED,
		  "8 bytes at 0x81 of a file of 136" },
		{ ONE("float32", "[2]", "8", "137", ""), -TENON_E_TRUNCATED, "of a file of 136" },
		{ ONE("float32", "[4611686018427387904, 4]", "8", "0", ""), -TENON_E_OVERFLOW,
		  "tensor \"w\"" },
	};
	size_t i;
	int err;

	(void)state;
	assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err = load(cases[i].list);
		if (err != cases[i].status || !message_has(cases[i].words))
			fail_msg("case %zu, %s: %d, %s", i, cases[i].list, err,
				 tenon_error_message());
		tenon_error_clear();
		assert_int_equal(relax_weights_count(), 0);
	}
}

static void a_folder_without_a_list_is_refused(void **state)
{
	char longer[5000];

	(void)state;
	assert_int_equal(load_on(host), -TENON_E_IO);
	assert_error_has("/" LIST ": ");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	assert_int_equal(relax_weights_load(tenon_slice_of(longer), host), -TENON_E_VALUE);
	assert_error_has("the path of a folder is too long");
	assert_int_equal(mkdir(path_of(LIST), 0700), 0);
	assert_int_equal(load_on(host), -TENON_E_IO);
	assert_error_has("not a regular file");
}

static void a_list_too_long_to_read_is_refused(void **state)
{
	int fd = open(path_of(LIST), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, LIST_MOST + 1), 0);
	close(fd);
	assert_int_equal(load_on(host), -TENON_E_OVERFLOW);
	assert_error_has("67108865 bytes");
}

static void weights_for_a_device_that_nothing_drives_are_refused(void **state)
{
	(void)state;
	put(LIST, ONE("float32", "[2]", "8", "0", ""),
	    sizeof(ONE("float32", "[2]", "8", "0", "")) - 1);
	assert_int_equal(load_on((DLDevice){ (DLDeviceType)99, 0 }), NO_SUCH_DEVICE);
	assert_error_has("tensor \"w\"");
	assert_int_equal(relax_weights_count(), 0);
}

/* A request for a mapping that fails is no error: the weight is read. */
static void each_allocation_may_fail(void **state)
{
	int err = -TENON_E_NOMEM;
	long n = 0;

	(void)state;
	if (!failing_malloc_works())
		skip();
	while (err) {
		relax_weights_clear();
		put(LIST, ONE("float32", "[2]", "8", "64", ""),
		    sizeof(ONE("float32", "[2]", "8", "64", "")) - 1);
		failing_malloc_start(++n);
		err = load_on(host);
		/* what passes before the last is a mapping that was not made */
		if (failing_malloc_stop() >= n && !err) {
			assert_weight("w", three_four, 2);
			err = -TENON_E_NOMEM;
		}
		if (err)
			assert_int_equal(err, -TENON_E_NOMEM);
		tenon_error_clear();
	}
	assert_weight("w", three_four, 2);
	assert_true(n > 4);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_weight_is_read_wherever_it_begins),
		CASE(a_file_may_lie_in_a_folder_below),
		CASE(the_list_of_older_tvm_is_read_where_there_is_no_other),
		CASE(who_writes_to_a_weight_changes_no_file),
		CASE(a_list_that_is_malformed_is_refused),
		CASE(a_folder_without_a_list_is_refused),
		CASE(a_list_too_long_to_read_is_refused),
		CASE(weights_for_a_device_that_nothing_drives_are_refused),
		CASE(each_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
