/* SPDX-License-Identifier: MIT */
/* Large copies to the tensors of a session: they are checked by their first bytes and go where they belong. */
#include "tests/unit/suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <tenon/backend/buffer.h>
#include <time.h>
#include <unistd.h>

#include "rpc/wire/wire_codes.h"
#include "tests/remote/client.h"

/* memory of a tensor that a call was given */
static char *_Atomic given;
static _Atomic uint64_t given_offset;

static int give(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	DLTensor *t = NULL;

	(void)self;
	(void)ret;
	if (count != 1 || tenon_value_tensor(&args[0], &t))
		return -1;
	given = (char *)t->data;
	given_offset = t->byte_offset;
	return 0;
}

static int setup(void **state)
{
	int err = client_echo(state);

	return err ? err : tenon_function_register_c("test.give", give, true);
}

#define LARGE (3 << 20)

/* The session's thread writes meanwhile, so the byte is read by the kernel: ThreadSanitizer does not see a bare call. */
static void wait_for_byte(const char *at, char want)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int tries = 60000, ends[2];
	char found;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	while (tries--) {
		assert_int_equal(syscall(SYS_write, ends[1], at, 1), 1);
		assert_int_equal(read(ends[0], &found, 1), 1);
		if (found == want)
			break;
		nanosleep(&moment, NULL);
	}
	close(ends[0]);
	close(ends[1]);
	assert_true(tries >= 0);
}

static void a_large_copy_goes_to_its_tensor_as_it_comes(void **state)
{
	const uint64_t head = 4 + 8 + 8 + 4 + 4 + 8 + 8 + 8;
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_tensor t;
	struct client c;
	char *bytes = malloc(LARGE);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	for (i = 0; i < LARGE; i++)
		bytes[i] = (char)(i * 7 + i / 251 + 1);
	client_start(&c);
	t = byte_record(client_alloc(&c, LARGE + 5), LARGE + 5);
	CALL(&c, client_function(&c, "test.give"), wire_tensor_value(&t));
	assert_int_equal(c.code, PACKET_RETURN);
	t.byte_offset = 5;
	tenon_buffer_u64(&b, head + LARGE);
	tenon_buffer_u32(&b, PACKET_COPY_TO);
	wire_write_tensor(&b, &t);
	tenon_buffer_u64(&b, LARGE);
	assert_int_equal(b.size, 8 + head);
	tenon_buffer_append(&b, bytes, LARGE);
	assert_int_equal(b.status, 0);
	/* two thirds of it */
	client_send_raw(&c, b.data, 2 << 20);
	wait_for_byte(given + 5 + (1 << 20), bytes[1 << 20]);
	client_send_raw(&c, b.data + (2 << 20), b.size - (2 << 20));
	assert_true(client_receive(&c));
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, LARGE);
	assert_int_equal(c.bytes.size, LARGE);
	assert_memory_equal(c.bytes.data, bytes, LARGE);
	client_close(&c);
	tenon_buffer_fini(&b);
	free(bytes);
}

/* compiled code refuses an offset; data that is not aligned as it needs keeps one */
static void a_view_that_is_an_argument_begins_with_its_data(void **state)
{
	struct wire_tensor t;
	struct client c;
	char *whole;

	(void)state;
	client_start(&c);
	t = byte_record(client_alloc(&c, 1024), 8);
	CALL(&c, client_function(&c, "test.give"), wire_tensor_value(&t));
	whole = given;
	t.byte_offset = 128;
	CALL(&c, client_function(&c, "test.give"), wire_tensor_value(&t));
	assert_int_equal(c.code, PACKET_RETURN);
	assert_ptr_equal(given, whole + 128);
	assert_int_equal(given_offset, 0);
	t.byte_offset = 12;
	CALL(&c, client_function(&c, "test.give"), wire_tensor_value(&t));
	assert_ptr_equal(given, whole);
	assert_int_equal(given_offset, 12);
	client_close(&c);
}

static void a_large_copy_that_does_not_fit_writes_nothing(void **state)
{
	struct wire_tensor t;
	struct client c;
	char *bytes = malloc(LARGE);
	size_t i;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'x', LARGE);
	client_start(&c);
	t = byte_record(client_alloc(&c, LARGE), LARGE);
	client_copy_to(&c, &t, LARGE, bytes, LARGE);
	assert_int_equal(c.code, PACKET_RETURN);
	memset(bytes, 'y', LARGE);
	t.byte_offset = 1;
	client_copy_to(&c, &t, LARGE, bytes, LARGE);
	assert_exception(&c, "exceed");
	t.byte_offset = UINT64_MAX;
	client_copy_to(&c, &t, LARGE, bytes, LARGE);
	assert_exception(&c, "exceed");
	t.byte_offset = 0;
	/* a length that is not that of the packet */
	client_copy_to(&c, &t, LARGE - 1, bytes, LARGE);
	assert_exception(&c, "CopyToRemote");
	client_copy_to(&c, &t, LARGE + 1, bytes, LARGE);
	assert_exception(&c, "CopyToRemote");
	t.data += 64;
	client_copy_to(&c, &t, LARGE, bytes, LARGE);
	assert_exception(&c, "handle");
	t.data -= 64;
	t.device.device_type = 2;
	client_copy_to(&c, &t, LARGE, bytes, LARGE);
	assert_exception(&c, "memory of cpu");
	t.device.device_type = kDLCPU;
	client_copy_from(&c, &t, LARGE);
	for (i = 0; i < LARGE && c.bytes.data[i] == 'x'; i++)
		;
	assert_int_equal(i, LARGE);
	client_close(&c);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_copy_goes_to_its_tensor_as_it_comes),
		cmocka_unit_test(a_view_that_is_an_argument_begins_with_its_data),
		cmocka_unit_test(a_large_copy_that_does_not_fit_writes_nothing),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
