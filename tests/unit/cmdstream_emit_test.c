/* SPDX-License-Identifier: MIT */
/* Command streams as they are recorded: without memory at each request, and by callers that do not keep to what they reserved. */
#include "suite.h"

#include <stdlib.h>
#include <tenon/buffer.h>

#include "devices/cmdstream/cmdstream_emit.h"

/* the request that fails, by the linker's --wrap (Kbuild) */
static int fails_at, requests;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return ++requests == fails_at ? NULL : __real_realloc(old, size);
}

static const struct tenon_cmdstream_region region = { .size = 4, .alignment = 8 };
static const uint32_t none[1];

static int record(struct tenon_buffer *out)
{
	struct cmdstream_emitter e;
	uint32_t constant;

	cmdstream_emitter_init(&e);
	constant = cmdstream_region(&e, &region, "four");
	if (!cmdstream_reserve(&e, 1000)) {
		for (int i = 0; i < 123; i++)
			cmdstream_emit(&e, "eight by", 8);
		cmdstream_reloc(&e, constant, 0, 16);
		cmdstream_emit(&e, "8 bytes", 8);
	}
	/* the zeros behind the name need memory of their own */
	cmdstream_end_kernel(&e, "a_kernel_with_a_name_of_35_letters_", none, 1);
	return cmdstream_flush(&e, "target", none, 1, out);
}

static void a_stream_without_memory_is_an_error(void **state)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	int all;

	(void)state;
	fails_at = requests = 0;
	if (record(&out))
		fail_msg("%s", tenon_error_message());
	all = requests;
	assert_true(out.size > 1000 && all > 5);
	tenon_buffer_fini(&out);
	for (fails_at = 1; fails_at <= all; fails_at++) {
		requests = 0;
		assert_int_equal(record(&out), -TENON_E_NOMEM);
		tenon_buffer_fini(&out);
		tenon_error_clear();
	}
	fails_at = 0;
}

static void what_was_not_reserved_is_refused(void **state)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct cmdstream_emitter e;

	(void)state;
	cmdstream_emitter_init(&e);
	assert_int_equal(cmdstream_reserve(&e, 8), 0);
	cmdstream_emit(&e, "nine byte", 9);
	assert_error_has("emits 9 bytes");
	/* the first error stays */
	cmdstream_emit(&e, "8 bytes", 8);
	assert_int_equal(cmdstream_reserve(&e, 8), -TENON_E_VALUE);
	assert_int_equal(cmdstream_flush(&e, "target", none, 1, &out), -TENON_E_VALUE);
	tenon_error_clear();
	assert_int_equal(cmdstream_reserve(&e, 8), 0);
	assert_int_equal(cmdstream_reserve(&e, 8), -TENON_E_VALUE);
	assert_error_has("8 bytes less than it reserved");
	assert_int_equal(cmdstream_flush(&e, "target", none, 1, &out), -TENON_E_VALUE);
	tenon_error_clear();
	assert_int_equal(cmdstream_reserve(&e, 8), 0);
	assert_int_equal(cmdstream_flush(&e, "target", none, 1, &out), -TENON_E_VALUE);
	assert_error_has("belongs to no kernel");
	assert_int_equal(cmdstream_reserve(&e, 8), 0);
	cmdstream_emit(&e, "8 bytes", 8);
	assert_int_equal(cmdstream_flush(&e, "target", none, 1, &out), -TENON_E_VALUE);
	assert_error_has("belongs to no kernel");
	cmdstream_emitter_fini(&e);
	assert_int_equal(out.size, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_without_memory_is_an_error),
		cmocka_unit_test(what_was_not_reserved_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
