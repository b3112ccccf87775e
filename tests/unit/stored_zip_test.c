/* SPDX-License-Identifier: MIT */
/* Archives whose entries are stored as they are: their headers, and what is cut off or of another kind. */
#include "suite.h"

#include <stdio.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>

#include "lib/stored_zip.h"

/* an entry of an archive; @extra is @extra_size bytes behind its name */
struct entry {
	uint32_t signature;
	uint16_t flags;
	uint16_t method;
	uint32_t stored;
	uint32_t size;
	const char *name;
	const char *extra;
	uint16_t extra_size;
	const char *contents;
};

#define LOCAL 0x04034b50U

static void put(struct tenon_buffer *b, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++, number >>= 8) {
		const uint8_t byte = (uint8_t)number;

		assert_int_equal(tenon_buffer_append(b, &byte, 1), 0);
	}
}

static void put_entry(struct tenon_buffer *b, const struct entry *e)
{
	put(b, e->signature, 4);
	put(b, 20, 2);
	put(b, e->flags, 2);
	put(b, e->method, 2);
	put(b, 0, 4);
	put(b, 0x12345678, 4);
	put(b, e->stored, 4);
	put(b, e->size, 4);
	put(b, strlen(e->name), 2);
	put(b, e->extra_size, 2);
	tenon_buffer_append(b, e->name, strlen(e->name));
	tenon_buffer_append(b, e->extra, e->extra_size);
	assert_int_equal(tenon_buffer_append(b, e->contents, strlen(e->contents)), 0);
}

static int next(const struct tenon_buffer *b, size_t size, struct stored_entry *out)
{
	struct tenon_cursor c = tenon_cursor_of(b->data, size, "a.npz", 0);

	return stored_entry_next(&c, "numpy.savez", out);
}

/* a field that is skipped, then sizes of 64 bits: 5 bytes each */
#define LONG_SIZES                                                                                 \
	"\x34\x12\x02\x00zz"                                                                       \
	"\x01\x00\x10\x00\x05\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0"

static const struct entry plain = { LOCAL, 0, 0, 5, 5, "a.npy", "", 0, "bytes" };
static const struct entry large = { LOCAL,	0,	 0,	     UINT32_MAX,
				    UINT32_MAX, "a.npy", LONG_SIZES, sizeof(LONG_SIZES) - 1,
				    "bytes" };

static void assert_is(const struct entry *e)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct stored_entry found;
	struct tenon_slice name, bytes;

	put_entry(&b, e);
	assert_int_equal(next(&b, b.size, &found), 1);
	name = found.name;
	assert_slice(name, "a.npy");
	assert_int_equal(tenon_cursor_bytes(&found.contents, 5, &bytes), 0);
	assert_slice(bytes, "bytes");
	assert_int_equal(found.crc, 0x12345678);
	/* cut anywhere */
	for (size_t size = 0; size < b.size; size++) {
		assert_int_equal(next(&b, size, &found), -TENON_E_TRUNCATED);
		assert_error_has("a.npz");
	}
	tenon_buffer_fini(&b);
}

static void entries_have_sizes_of_32_or_64_bits(void **state)
{
	(void)state;
	assert_is(&plain);
	assert_is(&large);
}

static void what_is_not_stored_as_it_is_is_refused(void **state)
{
	struct entry others[] = { plain, plain, plain, plain, large, large };

	(void)state;
	others[0].flags = 1;
	others[1].flags = 8;
	others[2].method = 8;
	others[3].size = 6;
	/* where one size has 32 bits the other has them, too */
	others[4].stored = 5;
	others[5].size = 5;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct stored_entry found;

		put_entry(&b, &others[i]);
		assert_int_equal(next(&b, b.size, &found), -TENON_E_UNSUPPORTED);
		assert_error_has("numpy.savez stores entries as they are");
		tenon_buffer_fini(&b);
	}
}

static void sizes_of_64_bits_have_a_field(void **state)
{
	static const struct {
		const char *extra;
		uint16_t size;
		int status;
	} fields[] = {
		{ "", 0, -TENON_E_TRUNCATED },
		{ "\x01\x00", 2, -TENON_E_TRUNCATED },
		{ "\x34\x12\x02\x00", 4, -TENON_E_TRUNCATED },
		{ "\x01\x00\x08\x00\x05\0\0\0\0\0\0\0", 12, -TENON_E_FORMAT },
		{ "\x01\x00\x10\x00\x05\0\0\0", 8, -TENON_E_TRUNCATED },
		{ "\x01\x00\x10\x00\x05\0\0\0\0\0\0\0", 12, -TENON_E_TRUNCATED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct tenon_buffer b = TENON_BUFFER_INIT;
		struct entry e = large;
		struct stored_entry found;

		e.extra = fields[i].extra;
		e.extra_size = fields[i].size;
		put_entry(&b, &e);
		assert_int_equal(next(&b, b.size, &found), fields[i].status);
		assert_error_has("a.npz");
		tenon_buffer_fini(&b);
	}
}

static void the_directory_is_the_end(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct stored_entry found;

	(void)state;
	put(&b, 0x02014b50, 4);
	put(&b, 0, 40);
	assert_int_equal(next(&b, b.size, &found), 0);
	b.size = 0;
	put(&b, 0x1234, 4);
	assert_int_equal(next(&b, b.size, &found), -TENON_E_FORMAT);
	assert_error_has("0x00001234 where an entry of the archive begins");
	tenon_buffer_fini(&b);
}

static void a_checksum_is_that_of_zip(void **state)
{
	(void)state;
	assert_int_equal(stored_crc(tenon_slice_of("123456789")), 0xcbf43926);
	assert_int_equal(stored_crc(tenon_slice_of("")), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_have_sizes_of_32_or_64_bits),
		cmocka_unit_test(what_is_not_stored_as_it_is_is_refused),
		cmocka_unit_test(sizes_of_64_bits_have_a_field),
		cmocka_unit_test(the_directory_is_the_end),
		cmocka_unit_test(a_checksum_is_that_of_zip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
