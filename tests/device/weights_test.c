/* SPDX-License-Identifier: MIT */
/* Weights of language models that are loaded to a device, on the fake. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/relax/relax_builtin.h"
#include "tests/device/fake_device.h"

static char folder[256];

static void put(const char *name, const char *bytes)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_true(fputs(bytes, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int load(void)
{
	const struct tenon_value args[] = { tenon_arg_string(folder), tenon_arg_int(FAKE_TYPE),
					    tenon_arg_int(0) };
	struct tenon_value ret;

	return relax_builtin_tensor_cache_load(NULL, args, 3, &ret);
}

static void a_weight_that_cannot_be_copied_is_freed(void **state)
{
	struct tenon_device *d = fake_open("fake:0", NULL);

	(void)state;
	put("shard.bin", "12345678");
	put("tensor-cache.json",
	    "{\"records\": [{\"dataPath\": \"shard.bin\", \"format\": \"raw-shard\", \"nbytes\": "
	    "8, "
	    "\"records\": [{\"name\": \"w\", \"format\": \"raw\", \"dtype\": \"float32\", "
	    "\"shape\": [2], \"nbytes\": 8, \"byteOffset\": 0}]}]}");
	fake.submits_left = 0;
	assert_int_equal(load(), -TENON_E_VALUE);
	assert_error_has("tensor \"w\"");
	assert_int_equal(fake.allocations, 1);
	assert_int_equal(fake.frees, 1);
	tenon_error_clear();
	tenon_object_unref(d);
}

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "%s/weights-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	return mkdtemp(folder) ? fake_setup(state) : -1;
}

static int teardown(void **state)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/shard.bin", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/tensor-cache.json", folder);
	unlink(path);
	rmdir(folder);
	return fake_reset(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_weight_that_cannot_be_copied_is_freed, fake_reset),
	};

	return cmocka_run_group_tests_name("weights", tests, setup, teardown);
}
