/* SPDX-License-Identifier: MIT */
/* Put blobs and payloads together by hand, and take those of real files, for the suites that read them. */
#ifndef TESTS_UNIT_BLOB_H
#define TESTS_UNIT_BLOB_H

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/elf.h"
#include "lib/file_map.h"
#include "runtime/library/import_tree.h"
#include "runtime/library/library_symbols.h"

static inline void put_string(struct tenon_buffer *b, const char *s)
{
	tenon_buffer_string(b, tenon_slice_of(s));
}

static inline struct tenon_slice slice_of(const struct tenon_buffer *b)
{
	return (struct tenon_slice){ b->data, b->size };
}

/* a table of @count kernels: each takes two handles and an int32, and has two axes */
static inline void put_kernels(struct tenon_buffer *b, const char *const *names, size_t count,
			       bool extra)
{
	size_t i;

	tenon_buffer_u64(b, count);
	for (i = 0; i < count; i++) {
		put_string(b, names[i]);
		put_string(b, "");
		tenon_buffer_u64(b, 3);
		tenon_buffer_u32(b, 0x00014003);
		tenon_buffer_u32(b, 0x00014003);
		tenon_buffer_u32(b, 0x00012000);
		tenon_buffer_u64(b, 2);
		put_string(b, "blockIdx.x");
		put_string(b, "threadIdx.x");
		if (extra)
			tenon_buffer_u64(b, 0);
	}
}

/* a payload of the three fields that most device kinds have */
static inline void put_device(struct tenon_buffer *b, const char *format, const char *kernel,
			      const char *code, bool extra)
{
	put_string(b, format);
	put_kernels(b, &kernel, 1, extra);
	put_string(b, code);
}

/* a one-dimensional saved tensor of float32 */
static inline void put_tensor(struct tenon_buffer *b, const float *values, uint64_t count)
{
	tenon_buffer_u64(b, UINT64_C(0xdd5e40f096b4a13f));
	tenon_buffer_u64(b, 0);
	tenon_buffer_u32(b, 1);
	tenon_buffer_u32(b, 0);
	tenon_buffer_u32(b, 1);
	tenon_buffer_u32(b, 0x00012002);
	tenon_buffer_u64(b, count);
	tenon_buffer_u64(b, count * sizeof(float));
	tenon_buffer_append(b, values, count * sizeof(float));
}

/* numbers that end with UINT64_MAX, as a u64 count and elements */
static inline void put_numbers(struct tenon_buffer *b, const uint64_t *numbers)
{
	size_t i, count = 0;

	while (numbers[count] != UINT64_MAX)
		count++;
	tenon_buffer_u64(b, count);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(b, numbers[i]);
}

#define ROWS(...)                                                                                  \
	(const uint64_t[])                                                                         \
	{                                                                                          \
		__VA_ARGS__, UINT64_MAX                                                            \
	}
#define NO_ROWS ((const uint64_t[]){ UINT64_MAX })

/* an entry of a blob being put together: kind "_lib" has no payload */
struct part {
	const char *kind;
	struct tenon_slice payload;
};

/* a whole blob: @count parts, and who imports whom; NULL @rows: no tree */
static inline struct tenon_buffer blob_of(enum tenon_generation generation,
					  const struct part *parts, size_t count,
					  const uint64_t *rows, const uint64_t *children)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint64_t size;
	size_t i;

	tenon_buffer_u64(&b, 0);
	if (generation == TENON_GENERATION_FFI) {
		put_numbers(&b, rows);
		put_numbers(&b, children);
	} else {
		tenon_buffer_u64(&b, count + (rows ? 1 : 0));
	}
	for (i = 0; i < count; i++) {
		put_string(&b, parts[i].kind);
		if (!strcmp(parts[i].kind, "_lib"))
			continue;
		if (generation == TENON_GENERATION_FFI)
			tenon_buffer_string(&b, parts[i].payload);
		else
			tenon_buffer_slice(&b, parts[i].payload);
	}
	if (generation == TENON_GENERATION_LEGACY && rows) {
		put_string(&b, "_import_tree");
		put_numbers(&b, rows);
		put_numbers(&b, children);
	}
	size = b.size - 8;
	memcpy(b.data, &size, sizeof(size));
	return b;
}

/* a path for a file that a test makes */
static inline const char *scratch_file(const char *name)
{
	static char path[1024];
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/tenon-%ld-%s", folder ? folder : "/tmp", (long)getpid(),
		 name);
	return path;
}

static inline void write_scratch(const char *path, struct tenon_slice bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	assert_int_equal(fclose(file), 0);
}

/* path of a file below tests/interop/data */
static inline const char *data_file(const char *name)
{
	static char path[1024];
	const char *source = getenv("TENON_SOURCE");

	snprintf(path, sizeof(path), "%s/tests/interop/data/%s", source ? source : ".", name);
	return path;
}

/* a mapped file, and the import tree in it */
struct real_blob {
	struct tenon_slice file;
	struct tenon_slice bytes;
	enum tenon_generation generation;
	uint64_t offset;
};

static inline struct real_blob real_blob_open(const char *name)
{
	const char *path = data_file(name);
	struct library_symbols symbols;
	struct real_blob r = { 0 };
	struct elf_file elf;

	assert_int_equal(file_map_open(path, &r.file), 0);
	assert_int_equal(elf_open(&elf, r.file, path), 0);
	assert_int_equal(library_symbols_read(&elf, &symbols), 0);
	assert_true(symbols.has_blob);
	assert_int_equal(elf_symbol_bytes(&elf, &symbols.blob, &r.bytes), 0);
	r.generation = symbols.blob_generation;
	r.offset = (uint64_t)(r.bytes.data - r.file.data);
	return r;
}

/* the text of a field of an object, or of "count" of its items; NULL when there is no such field */
struct field_search {
	const char *name;
	struct tenon_value found;
};

static inline int field_is(void *context, const char *name, const struct tenon_value *value)
{
	struct field_search *s = context;

	if (name && !strcmp(name, s->name)) {
		tenon_value_release(&s->found);
		assert_int_equal(tenon_value_own(value, &s->found), 0);
	}
	return 0;
}

/* an owned value; None when there is no such field */
static inline struct tenon_value field_of(void *object, const char *name)
{
	struct field_search s = { .name = name };
	const struct tenon_visitor v = { .size = sizeof(v), .field = field_is, .context = &s };

	assert_int_equal(tenon_object_visit(object, &v), 0);
	return s.found;
}

static inline void assert_text_field_at(void *object, const char *name, const char *text,
					const char *file, int line)
{
	struct tenon_value value = field_of(object, name);
	struct tenon_slice s = { "", 0 };

	if (tenon_value_text(&value, &s) || !tenon_slice_equal(s, tenon_slice_of(text))) {
		print_error("field %s\nexpected: %s\nfound:    %.*s\n", name, text, (int)s.size,
			    s.data ? s.data : "");
		_fail(file, line);
	}
	tenon_value_release(&value);
}

static inline int64_t number_field(void *object, const char *name)
{
	struct tenon_value value = field_of(object, name);
	int64_t n = -1;

	assert_int_equal(tenon_value_int(&value, &n), 0);
	return n;
}

/* the items of a list of strings, with blanks between */
static inline void assert_list_field_at(void *object, const char *name, const char *text,
					const char *file, int line)
{
	struct tenon_value value = field_of(object, name);
	struct tenon_array *array = NULL;
	char found[4096] = "";
	size_t at = 0;
	int64_t i;

	assert_int_equal(tenon_value_object(&value, TENON_TYPE_ARRAY, &array), 0);
	for (i = 0; i < array->size; i++) {
		struct tenon_slice s;

		assert_int_equal(tenon_value_text(&array->data[i], &s), 0);
		at += (size_t)snprintf(found + at, sizeof(found) - at, "%s%.*s", i ? " " : "",
				       (int)s.size, s.data);
	}
	if (strcmp(found, text)) {
		print_error("field %s\nexpected: %s\nfound:    %s\n", name, text, found);
		_fail(file, line);
	}
	tenon_value_release(&value);
}

#define assert_text_field(object, name, text)                                                      \
	assert_text_field_at(object, name, text, __FILE__, __LINE__)
#define assert_list_field(object, name, text)                                                      \
	assert_list_field_at(object, name, text, __FILE__, __LINE__)

#endif /* TESTS_UNIT_BLOB_H */
