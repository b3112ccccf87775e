/* SPDX-License-Identifier: MIT */
/* Large files and copies go through a session in parts. */
#include "tests/remote/server_process.h"

#include <stdio.h>
#include <stdlib.h>

/* the most memory that the only session has used so far, in KiB */
static long session_peak(void)
{
	char path[64], line[200];
	pid_t session = 0;
	long peak = 0;
	FILE *f;

	process_list(find_child, &session);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)session);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &peak) == 1)
			break;
	fclose(f);
	assert_true(peak > 0);
	return peak;
}

#define HUGE_SIZE ((int64_t)64 << 20)

static void large_files_go_through_a_session_in_parts(void **state)
{
	char *bytes = malloc(HUGE_SIZE);
	struct tenon_slice text;
	struct client c;
	long before;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'f', HUGE_SIZE);
	bytes[HUGE_SIZE - 1] = 'l';
	wait_for(count_children, 0, "processes");
	open_client(&c, "client:fixture");
	before = session_peak();
	CALL(&c, client_function(&c, "tvm.rpc.server.upload"), wire_string("huge"),
	     wire_bytes(bytes, HUGE_SIZE));
	assert_int_equal(c.code, PACKET_RETURN);
	CALL(&c, client_function(&c, "tvm.rpc.server.download"), wire_string("huge"));
	text = client_text(&c);
	assert_int_equal(text.size, HUGE_SIZE);
	assert_memory_equal(text.data, bytes, HUGE_SIZE);
	print_message("# a file of 64 MiB there and back takes %ld KiB\n", session_peak() - before);
	assert_true(session_peak() - before < 16 << 10);
	/* the connection is in order behind it */
	CALL(&c, client_function(&c, "tvm.rpc.server.download"), wire_string("none"));
	assert_exception(&c, "cannot find file none");
	server_client_close(&c);
	free(bytes);
	nothing_is_left();
}

#ifdef CONFIG_DEVICE_NULL
static void large_copies_from_a_device_go_through_a_session_in_parts(void **state)
{
	struct wire_tensor t = byte_record(0, HUGE_SIZE);
	char *bytes = malloc(HUGE_SIZE);
	struct client c;
	long before;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'd', HUGE_SIZE);
	wait_for(count_children, 0, "processes");
	open_client(&c, "client:fixture");
	t.device.device_type = TENON_DL_NULL;
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_int_equal(c.code, PACKET_RETURN);
	t.data = c.values.values[0].as.handle;
	client_copy_to(&c, &t, HUGE_SIZE, bytes, HUGE_SIZE);
	assert_int_equal(c.code, PACKET_RETURN);
	before = session_peak();
	client_copy_from(&c, &t, HUGE_SIZE);
	assert_int_equal(c.bytes.size, HUGE_SIZE);
	print_message("# a copy of 64 MiB from a device takes %ld KiB\n", session_peak() - before);
	assert_true(session_peak() - before < 16 << 10);
	client_copy_from(&c, &t, 5);
	assert_int_equal(c.bytes.size, 5);
	server_client_close(&c);
	free(bytes);
	nothing_is_left();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_files_go_through_a_session_in_parts),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(large_copies_from_a_device_go_through_a_session_in_parts),
#endif
	};

	return run_with_server(tests);
}
