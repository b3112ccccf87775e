/* SPDX-License-Identifier: MIT */
/* The memory of a session: handles, copies, its quota, and other devices than the CPU. */
#include "tests/unit/suite.h"

#include "tests/remote/client.h"

static void handles_that_are_none_are_refused(void **state)
{
	struct wire_tensor t = byte_record(0x5561e3886080, 16);
	struct client c;
	uint64_t f, data;

	(void)state;
	client_start(&c);
	f = client_function(&c, "test.echo");
	data = client_alloc(&c, 16);
	CALL(&c, 0, wire_int(1));
	assert_exception(&c, "no handle of this session");
	CALL(&c, 0x5561e3886080, wire_int(1));
	assert_exception(&c, "no handle of this session");
	CALL(&c, data, wire_int(1));
	assert_exception(&c, "is no function");
	CALL(&c, f, wire_tensor_value(&t));
	assert_exception(&c, "no handle of this session");
	t.data = f;
	CALL(&c, f, wire_tensor_value(&t));
	assert_exception(&c, "is no tensor");
	CALL(&c, f, { WIRE_MODULE, { .handle = f } });
	assert_exception(&c, "is no module");
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(data));
	assert_exception(&c, "is no object");
	REQUEST(&c, PACKET_FREE, wire_cpu(), wire_pointer(f));
	assert_exception(&c, "is no allocation");
	/* freed once, and not used after that */
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(f));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_FREE_HANDLE, wire_pointer(f));
	assert_exception(&c, "was freed");
	CALL(&c, f, wire_int(1));
	assert_exception(&c, "was freed");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void copies_stay_within_their_memory(void **state)
{
	struct wire_tensor t, u;
	struct client c;
	uint64_t data;

	(void)state;
	client_start(&c);
	data = client_alloc(&c, 16);
	t = byte_record(data, 16);
	client_copy_to(&c, &t, 16, "0123456789abcdef", 16);
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, 16);
	assert_slice(c.bytes, "0123456789abcdef");
	/* a part of it, at an offset */
	t.byte_offset = 4;
	client_copy_to(&c, &t, 3, "XYZ", 3);
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, 12);
	assert_slice(c.bytes, "XYZ789abcdef");
	/* one byte more than there is, in each way */
	client_copy_from(&c, &t, 13);
	assert_exception(&c, "exceed");
	client_copy_to(&c, &t, 13, "0123456789abc", 13);
	assert_exception(&c, "exceed");
	t.byte_offset = UINT64_MAX;
	client_copy_from(&c, &t, 2);
	assert_exception(&c, "exceed");
	t.byte_offset = 0;
	client_copy_from(&c, &t, UINT64_MAX);
	assert_exception(&c, "exceed");
	/* a call's tensor: its shape, its type, its device */
	t.shape[0] = 17;
	CALL(&c, client_function(&c, "test.echo"), wire_tensor_value(&t));
	assert_exception(&c, "exceed");
	t.shape[0] = -1;
	CALL(&c, client_function(&c, "test.echo"), wire_tensor_value(&t));
	assert_exception(&c, "");
	t = byte_record(data, 16);
	t.dtype.bits = 0;
	CALL(&c, client_function(&c, "test.echo"), wire_tensor_value(&t));
	assert_exception(&c, "");
	t = byte_record(data, 16);
	t.device.device_type = 2;
	CALL(&c, client_function(&c, "test.echo"), wire_tensor_value(&t));
	assert_exception(&c, "memory of cpu");
	/* between two */
	t = byte_record(data, 8);
	u = byte_record(client_alloc(&c, 8), 8);
	REQUEST(&c, PACKET_COPY_AMONG, wire_tensor_value(&t), wire_tensor_value(&u),
		wire_pointer(0));
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &u, 8);
	assert_slice(c.bytes, "0123XYZ7");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void memory_has_a_quota(void **state)
{
	struct wire_tensor t = byte_record(0, 40 << 20);
	struct client c;
	uint64_t data;

	(void)state;
	client_start(&c);
	data = client_alloc(&c, 40 << 20);
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_exception(&c, "may have");
	REQUEST(&c, PACKET_FREE, wire_cpu(), wire_pointer(data));
	assert_int_equal(c.code, PACKET_RETURN);
	client_alloc(&c, 40 << 20);
	t.ndim = 3;
	t.shape[0] = t.shape[1] = t.shape[2] = INT64_C(1) << 31;
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_exception(&c, "");
	REQUEST(&c, PACKET_ALLOC, wire_cpu(), wire_int(16), wire_int(64),
		{ WIRE_DTYPE, { .dtype = { 2, 32, 1 } } });
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_ALLOC, wire_cpu(), wire_int(-16), wire_int(64),
		{ WIRE_DTYPE, { .dtype = { 2, 32, 1 } } });
	assert_exception(&c, "");
	t = byte_record(0, 16);
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_string("global.texture"));
	assert_exception(&c, "scope");
	client_close(&c);
	assert_int_equal(c.result, 0);
}

static void devices_answer_or_say_why_not(void **state)
{
	const struct wire_value odd = { WIRE_DEVICE, { .device = { 99, 0 } } };
	const struct wire_value hexagon = { WIRE_DEVICE, { .device = { 16, 0 } } };
	struct wire_tensor t = byte_record(0, 16);
	struct client c;

	(void)state;
	client_start(&c);
	REQUEST(&c, PACKET_GET_ATTRIBUTE, hexagon, wire_int(0));
	assert_int_equal(c.code, PACKET_RETURN);
	assert_int_equal(c.values.values[0].as.integer, 0);
	REQUEST(&c, PACKET_GET_ATTRIBUTE, hexagon, wire_int(5));
	assert_exception(&c, "");
	REQUEST(&c, PACKET_GET_ATTRIBUTE, odd, wire_int(0));
	assert_exception(&c, "unknown type = 99");
	t.device.device_type = 16;
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_exception(&c, "");
	REQUEST(&c, PACKET_CREATE_STREAM, wire_cpu());
	assert_int_equal(c.values.values[0].as.handle, 0);
	REQUEST(&c, PACKET_SET_STREAM, wire_cpu(), wire_pointer(0));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_SYNC, wire_cpu(), wire_pointer(64));
	assert_exception(&c, "no handle");
	REQUEST(&c, PACKET_CURRENT_STREAM, wire_cpu());
	assert_int_equal(c.values.values[0].as.handle, 0);
	client_close(&c);
	assert_int_equal(c.result, 0);
}

#ifdef CONFIG_DEVICE_NULL
static void tensors_live_on_other_devices_too(void **state)
{
	const struct wire_value device = { WIRE_DEVICE, { .device = { TENON_DL_NULL, 0 } } };
	struct wire_tensor t = byte_record(0, 16);
	struct client c;
	uint64_t stream;

	(void)state;
	client_start(&c);
	t.device.device_type = TENON_DL_NULL;
	REQUEST(&c, PACKET_SET_DEVICE, device);
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_ALLOC_TENSOR, wire_tensor_value(&t), wire_none());
	assert_int_equal(c.code, PACKET_RETURN);
	t.data = c.values.values[0].as.handle;
	client_copy_to(&c, &t, 16, "0123456789abcdef", 16);
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_CREATE_STREAM, device);
	stream = c.values.values[0].as.handle;
	assert_true(stream);
	REQUEST(&c, PACKET_SET_STREAM, device, wire_pointer(stream));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_SYNC, device, wire_pointer(stream));
	assert_int_equal(c.code, PACKET_RETURN);
	REQUEST(&c, PACKET_SET_STREAM, device, wire_pointer(0));
	REQUEST(&c, PACKET_FREE_STREAM, device, wire_pointer(stream));
	assert_int_equal(c.code, PACKET_RETURN);
	client_copy_from(&c, &t, 16);
	assert_int_equal(c.bytes.size, 16);
	client_copy_from(&c, &t, 17);
	assert_exception(&c, "exceed");
	REQUEST(&c, PACKET_SYNC, device, wire_pointer(0));
	assert_int_equal(c.code, PACKET_RETURN);
	client_close(&c);
	assert_int_equal(c.result, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handles_that_are_none_are_refused),
		cmocka_unit_test(copies_stay_within_their_memory),
		cmocka_unit_test(memory_has_a_quota),
		cmocka_unit_test(devices_answer_or_say_why_not),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(tensors_live_on_other_devices_too),
#endif
	};

	return cmocka_run_group_tests(tests, client_echo, NULL);
}
