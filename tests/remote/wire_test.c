/* SPDX-License-Identifier: MIT */
/* Sequences and packets: what is decoded, and what is refused. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <tenon/backend/buffer.h>

#include "rpc/server/handle_table.h"
#include "rpc/wire/handshake.h"
#include "rpc/wire/packet.h"
#include "rpc/wire/utf8.h"
#include "rpc/wire/wire_codes.h"
#include "tests/remote/client.h"

static const enum wire_generation generations[] = { WIRE_LEGACY, WIRE_FFI };

static struct wire_tensor matrix = {
	.data = 64,
	.device = { 2, 1 },
	.dtype = { 2, 32, 1 },
	.ndim = 2,
	.shape = { 3, 4 },
	.byte_offset = 8,
};

/* one value of each kind */
static const struct wire_value all_kinds[] = {
	{ WIRE_NONE, { 0 } },
	{ WIRE_INT, { .integer = INT64_MIN } },
	{ WIRE_BOOL, { .integer = 1 } },
	{ WIRE_FLOAT, { .real = -0.5 } },
	{ WIRE_POINTER, { .handle = UINT64_MAX } },
	{ WIRE_DTYPE, { .dtype = { 1, 8, 300 } } },
	{ WIRE_DEVICE, { .device = { 7, 3 } } },
	{ WIRE_TENSOR, { .tensor = &matrix } },
	{ WIRE_STRING, { .text = { "text", 4 } } },
	{ WIRE_BYTES, { .text = { "\0\1\2", 3 } } },
	{ WIRE_FUNCTION, { .handle = 128 } },
	{ WIRE_MODULE, { .handle = 192 } },
	{ WIRE_OBJECT, { .handle = 256 } },
};

#define KINDS (sizeof(all_kinds) / sizeof(all_kinds[0]))

static void assert_all_kinds(const struct wire_sequence *s)
{
	assert_int_equal(s->count, KINDS);
	for (size_t i = 0; i < KINDS; i++)
		assert_int_equal(s->values[i].kind, all_kinds[i].kind);
	assert_int_equal(s->values[1].as.integer, INT64_MIN);
	assert_true(s->values[3].as.real == -0.5);
	assert_true(s->values[4].as.handle == UINT64_MAX);
	assert_int_equal(s->values[5].as.dtype.lanes, 300);
	assert_int_equal(s->values[6].as.device.device_id, 3);
	assert_memory_equal(s->values[7].as.tensor->shape, matrix.shape, 16);
	assert_int_equal(s->values[7].as.tensor->byte_offset, 8);
	assert_slice(s->values[8].as.text, "text");
	assert_slice(s->values[9].as.text, "\0\1\2");
	assert_int_equal(s->values[10].as.handle, 128);
	assert_int_equal(s->values[12].as.handle, 256);
}

static void every_kind_of_value_survives_both_encodings(void **state)
{
	struct wire_sequence s = { 0 };

	(void)state;
	for (size_t g = 0; g < 2; g++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct tenon_cursor c;

		wire_write_sequence(&b, generations[g], all_kinds, KINDS);
		assert_int_equal(b.status, 0);
		c = tenon_cursor_of(b.data, b.size, "test", 0);
		assert_int_equal(wire_read_sequence(&c, generations[g], &s), 0);
		assert_int_equal(tenon_cursor_left(&c), 0);
		assert_all_kinds(&s);
		tenon_buffer_fini(&b);
	}
	wire_sequence_fini(&s);
}

static void a_sequence_cut_at_any_byte_is_refused(void **state)
{
	struct wire_sequence s = { 0 };

	(void)state;
	for (size_t g = 0; g < 2; g++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;

		wire_write_sequence(&b, generations[g], all_kinds, KINDS);
		for (size_t size = 0; size < b.size; size++) {
			struct tenon_cursor c = tenon_cursor_of(b.data, size, "test", 0);

			assert_true(wire_read_sequence(&c, generations[g], &s) < 0);
			tenon_error_clear();
		}
		tenon_buffer_fini(&b);
	}
	wire_sequence_fini(&s);
}

static void refuse(enum wire_generation generation, const void *bytes, size_t size)
{
	struct tenon_cursor c = tenon_cursor_of(bytes, size, "test", 0);
	struct wire_sequence s = { 0 };

	assert_true(wire_read_sequence(&c, generation, &s) < 0);
	assert_true(*tenon_error_message());
	tenon_error_clear();
	wire_sequence_fini(&s);
}

#define REFUSE(generation, ...)                                                                    \
	refuse(generation, (const uint32_t[]){ __VA_ARGS__ },                                      \
	       sizeof((const uint32_t[]){ __VA_ARGS__ }))

static void counts_lengths_and_codes_out_of_range_are_refused(void **state)
{
	(void)state;
	for (size_t g = 0; g < 2; g++) {
		REFUSE(generations[g], 0x7fffffff, 0);
		REFUSE(generations[g], 0x80000000, 0);
		REFUSE(generations[g], WIRE_ARGUMENTS_MOST + 1, 0);
		REFUSE(generations[g], 1, 50, 0, 0);
		/* a string of 2^60 bytes; a tensor of 33 dimensions */
		REFUSE(generations[g], 1, generations[g] == WIRE_FFI ? 8 : 11, 0, 0x10000000, 0);
		REFUSE(generations[g], 1, 7, 64, 0, 1, 0, 33, 0, 0, 0, 0, 0);
	}
	/* an object of an unknown type */
	REFUSE(WIRE_FFI, 1, 71, 71, 64, 0);
	REFUSE(WIRE_LEGACY, 1, 8, 10, 64, 0);
}

/* ---- packets */

static enum wire_generation generation_of(enum wire_generation sender, uint32_t code,
					  const struct wire_value *values, uint32_t count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct packet p = { 0 };
	enum wire_generation found;

	tenon_buffer_u32(&b, code);
	wire_write_sequence(&b, sender, values, count);
	assert_int_equal(packet_read((struct tenon_slice){ b.data, b.size }, WIRE_UNDECIDED, &p),
			 0);
	assert_int_equal(p.args.count, count);
	found = p.generation;
	packet_fini(&p);
	tenon_buffer_fini(&b);
	return found;
}

static void the_first_packet_that_differs_tells_the_generation(void **state)
{
	struct wire_tensor t = byte_record(0, 16);
	const struct wire_value name[] = { wire_string("f") };
	const struct wire_value alloc[] = { wire_tensor_value(&t), wire_none() };
	const struct wire_value sync[] = { wire_cpu(), wire_pointer(0) };
	const struct wire_value attribute[] = { wire_cpu(), wire_int(0) };
	const struct wire_value device[] = { wire_cpu() };

	(void)state;
	for (size_t g = 0; g < 2; g++) {
		enum wire_generation sender = generations[g];

		assert_int_equal(generation_of(sender, PACKET_GET_FUNCTION, name, 1), sender);
		assert_int_equal(generation_of(sender, PACKET_ALLOC_TENSOR, alloc, 2), sender);
		assert_int_equal(generation_of(sender, PACKET_SYNC, sync, 2), sender);
		assert_int_equal(generation_of(sender, PACKET_GET_ATTRIBUTE, attribute, 2), sender);
		/* the same bytes in both */
		assert_int_equal(generation_of(sender, PACKET_SET_DEVICE, device, 1),
				 WIRE_UNDECIDED);
	}
}

static void text_is_taken_in_every_form(void **state)
{
	static const uint32_t outer[] = { 8, 9, 11, 12, 65, 66, 100 };
	struct packet p = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(outer) / sizeof(outer[0]); i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;

		tenon_buffer_u32(&b, PACKET_GET_FUNCTION);
		tenon_buffer_u32(&b, 1);
		tenon_buffer_u32(&b, outer[i]);
		if (outer[i] > 9)
			tenon_buffer_u32(&b, i % 2 ? TENON_TYPE_BYTES : TENON_TYPE_STRING);
		tenon_buffer_string(&b, (struct tenon_slice){ "name", 4 });
		assert_int_equal(packet_read((struct tenon_slice){ b.data, b.size }, WIRE_FFI, &p),
				 0);
		assert_slice(p.args.values[0].as.text, "name");
		tenon_buffer_fini(&b);
	}
	packet_fini(&p);
}

static void packets_of_the_wrong_form_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} packets[] = {
		{ "", 0 },
		{ "\x09\0\0", 3 },   /* shorter than a code */
		{ "\x63\0\0\0", 4 }, /* unknown codes */
		{ "\xff\xff\xff\xff", 4 },
		{ "\0\0\0\0", 4 },
		{ "\x04\0\0\0\0\0\0\0", 8 },			      /* a reply */
		{ "\x09\0\0\0\0\0\0\0", 8 },			      /* no arguments */
		{ "\x09\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 20 }, /* an integer */
		{ "\x03\0\0\0\1\1\1\1\1\1\1\1\0\0\0\0\0", 17 },	      /* a byte behind the end */
	};
	struct packet p = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		struct tenon_slice bytes = { packets[i].bytes, packets[i].size };

		assert_true(packet_read(bytes, WIRE_FFI, &p) < 0);
		assert_true(packet_read(bytes, WIRE_LEGACY, &p) < 0);
		assert_true(packet_read(bytes, WIRE_UNDECIDED, &p) < 0);
		assert_true(*tenon_error_message());
		tenon_error_clear();
	}
	packet_fini(&p);
}

static void a_copy_cut_at_any_byte_is_refused(void **state)
{
	static const uint32_t codes[] = { PACKET_COPY_FROM, PACKET_COPY_TO };
	struct packet p = { 0 };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i, n;

	(void)state;
	for (i = 0; i < 2; i++) {
		tenon_buffer_u32(&b, codes[i]);
		tenon_buffer_u64(&b, 0x1000); /* the data's handle */
		tenon_buffer_u32(&b, kDLCPU);
		tenon_buffer_u32(&b, 0);
		tenon_buffer_u32(&b, 1); /* a dimension */
		tenon_buffer_u32(&b, 0x00010800 | kDLUInt);
		tenon_buffer_u64(&b, 4);
		tenon_buffer_u64(&b, 0); /* the offset */
		tenon_buffer_u64(&b, 4);
		if (codes[i] == PACKET_COPY_TO)
			tenon_buffer_append(&b, "data", 4);
		assert_int_equal(packet_read((struct tenon_slice){ b.data, b.size }, WIRE_FFI, &p),
				 0);
		assert_int_equal(p.tensor.shape[0], 4);
		assert_int_equal(p.size, 4);
		for (n = 4; n < b.size; n++)
			assert_true(packet_read((struct tenon_slice){ b.data, n }, WIRE_FFI, &p) <
				    0);
		tenon_buffer_u8(&b, 0);
		assert_true(packet_read((struct tenon_slice){ b.data, b.size }, WIRE_FFI, &p) < 0);
		assert_error_has("after the end");
		tenon_buffer_fini(&b);
	}
	packet_fini(&p);
}

/* ---- handles, the handshake, messages */

static void a_handle_is_found_until_it_is_freed(void **state)
{
	struct handle_table t = { 0 };
	struct handle entry = { .kind = HANDLE_POINTER }, *found;
	uint64_t numbers[3000];
	size_t i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		assert_int_equal(handle_add(&t, &entry, &numbers[i]), 0);
		assert_int_equal(numbers[i] % 64, 0);
		/* every third is freed, in an order that moves entries */
		if (i >= 30 && i % 3 == 0)
			assert_int_equal(handle_free(&t, numbers[i - 30], HANDLE_POINTER), 0);
	}
	for (i = 0; i < 3000; i++) {
		bool freed = i % 3 == 0 && i + 30 < 3000;

		assert_int_equal(handle_find(&t, numbers[i], HANDLE_POINTER, &found),
				 freed ? -TENON_E_VALUE : 0);
		assert_true(freed || found->number == numbers[i]);
	}
	assert_int_equal(handle_find(&t, numbers[1] + 1, HANDLE_POINTER, &found), -TENON_E_VALUE);
	assert_int_equal(handle_find(&t, 0, HANDLE_POINTER, &found), -TENON_E_VALUE);
	assert_int_equal(handle_find(&t, numbers[1], HANDLE_FUNCTION, &found), -TENON_E_VALUE);
	tenon_error_clear();
	handle_table_fini(&t);
}

static bool accepted(const char *text, const char *key, uint64_t *timeout_ms)
{
	static struct handshake h;
	struct handshake_client client;
	size_t size = strlen(text);

	memset(&h, 0, sizeof(h));
	memcpy(h.bytes, (uint8_t[]){ 0x71, 0xf2, 0x0f, 0, (uint8_t)size, 0, 0, 0 }, 8);
	h.size = 8;
	assert_int_equal(handshake_missing(&h), size);
	memcpy(h.bytes + 8, text, size);
	h.size += size;
	assert_int_equal(handshake_missing(&h), 0);
	if (!handshake_parse(&h, &client))
		return false;
	*timeout_ms = client.timeout_ms;
	return !strcmp(client.key, key);
}

static void a_key_must_be_the_servers_and_may_have_a_timeout(void **state)
{
	uint64_t ms;

	(void)state;
	assert_true(accepted("client:board", "board", &ms));
	assert_int_equal(ms, 0);
	assert_true(accepted("client:board -timeout=1.5 -other", "board", &ms));
	assert_int_equal(ms, 1500);
	assert_true(accepted("client: -timeout=abc", "", &ms));
	assert_int_equal(ms, 0);
	assert_true(accepted("client:b -timeout=-1", "b", &ms));
	assert_int_equal(ms, 0);
	assert_false(accepted("client:other", "board", &ms));
	assert_false(accepted("client:board2", "board", &ms));
	assert_false(accepted("server:board", "board", &ms));
	assert_false(accepted("   ", "board", &ms));
}

static void a_handshake_of_the_wrong_form_is_refused(void **state)
{
	static const uint8_t forms[][8] = {
		{ 0x72, 0xf2, 0x0f, 0, 4, 0, 0, 0 },
		{ 0x71, 0xf2, 0x0f, 0, 0, 0, 0, 0 },
		{ 0x71, 0xf2, 0x0f, 0, 1, 0x10, 0, 0 },
		{ 0x71, 0xf2, 0x0f, 0, 0xff, 0xff, 0xff, 0xff },
	};
	static struct handshake h;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		memcpy(h.bytes, forms[i], 8);
		h.size = 8;
		assert_int_equal(handshake_missing(&h), -1);
	}
}

static void text_that_is_not_utf8_is_repaired(void **state)
{
	char text[] = "gr\xc3\xbc\xc3\x9f \xff\xc3(\0\xed\xa0\x80 \xf0\x9f\x98\x80 \xc0\xaf\xe2";

	(void)state;
	utf8_repair(text, sizeof(text) - 1);
	assert_string_equal(text, "gr\xc3\xbc\xc3\x9f ?\x3f(?\x3f?? \xf0\x9f\x98\x80 ???");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_survives_both_encodings),
		cmocka_unit_test(a_sequence_cut_at_any_byte_is_refused),
		cmocka_unit_test(counts_lengths_and_codes_out_of_range_are_refused),
		cmocka_unit_test(the_first_packet_that_differs_tells_the_generation),
		cmocka_unit_test(text_is_taken_in_every_form),
		cmocka_unit_test(packets_of_the_wrong_form_are_refused),
		cmocka_unit_test(a_copy_cut_at_any_byte_is_refused),
		cmocka_unit_test(a_handle_is_found_until_it_is_freed),
		cmocka_unit_test(a_key_must_be_the_servers_and_may_have_a_timeout),
		cmocka_unit_test(a_handshake_of_the_wrong_form_is_refused),
		cmocka_unit_test(text_that_is_not_utf8_is_repaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
