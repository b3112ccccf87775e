/* SPDX-License-Identifier: MIT */
/* Put payloads together by hand, and check what a format reads of them. */
#ifndef TESTS_UNIT_PAYLOAD_H
#define TESTS_UNIT_PAYLOAD_H

#include "tests/unit/blob.h"

#include <tenon/backend/buffer.h>

#include "runtime/payload/payload_format.h"
#include "runtime/payload/payload_module.h"

#define LEGACY TENON_GENERATION_LEGACY
#define FFI    TENON_GENERATION_FFI

static inline int take_any_name(void *unused, struct tenon_slice name)
{
	(void)unused;
	return memchr(name.data, 0xff, name.size) != NULL;
}

/* A payload that ends at any earlier byte is refused, with a message, or read as a shorter one. */
static inline void assert_cuts_are_refused(const struct tenon_payload_format *format,
					   enum tenon_generation g, const struct tenon_buffer *b)
{
	struct tenon_payload_info info;
	struct tenon_cursor c;
	size_t size, refused = 0;
	char *bytes;
	int result;

	for (size = 0; size < b->size; size++) {
		/* memory of just that size, so that a byte more is seen */
		bytes = malloc(size + !size);
		assert_non_null(bytes);
		memcpy(bytes, b->data, size);
		c = tenon_cursor_of(bytes, size, "payload", 0);
		info = (struct tenon_payload_info){ .generation = (uint8_t)g,
						    .extra_tags = g == FFI };
		if (payload_read(format, &c, &info)) {
			refused++;
			assert_true(*tenon_error_message());
		}
		payload_info_fini(&info);
		tenon_error_clear();
		info = (struct tenon_payload_info){ .generation = (uint8_t)g,
						    .extra_tags = g == FFI };
		payload_names(format, &c, &info, take_any_name, NULL, &result);
		tenon_error_clear();
		if (payload_measure(format, &c, g == FFI))
			assert_ptr_equal(c.at, c.start);
		tenon_error_clear();
		free(bytes);
	}
	assert_true(2 * refused >= b->size);
}

/*
 * What a payload of a kind is read as, until the next call; the legacy form is measured with bytes
 * behind it.
 */
static inline struct tenon_payload_info facts_of(const char *kind, enum tenon_generation g,
						 const struct tenon_buffer *b)
{
	static struct tenon_payload_info info;
	const struct tenon_payload_format *format = payload_format_of(tenon_slice_of(kind));
	struct tenon_cursor c = tenon_cursor_of(b->data, b->size, "payload", 0);
	struct tenon_buffer longer = TENON_BUFFER_INIT;
	int err;

	payload_info_fini(&info);
	info = (struct tenon_payload_info){ .generation = (uint8_t)g, .extra_tags = g == FFI };
	err = payload_read(format, &c, &info);
	if (err) {
		print_error("%s: %s\n", kind, tenon_error_message());
		fail();
	}
	assert_cuts_are_refused(format, g, b);
	if (g == LEGACY) {
		tenon_buffer_append(&longer, b->data, b->size);
		put_string(&longer, "_import_tree");
		c = tenon_cursor_of(longer.data, longer.size, "blob", 0);
		assert_int_equal(payload_measure(format, &c, PAYLOAD_NO_EXTRA_TAGS), 0);
		assert_int_equal(c.at - c.start, b->size);
		tenon_buffer_fini(&longer);
	}
	return info;
}

static inline void assert_functions_at(const struct tenon_payload_info *info, const char *names,
				       const char *file, int line)
{
	struct tenon_buffer found = TENON_BUFFER_INIT;
	size_t i;

	for (i = 0; i < info->function_count; i++)
		tenon_buffer_printf(&found, "%s%.*s", i ? " " : "",
				    (int)info->functions[i].name.size,
				    info->functions[i].name.data);
	tenon_buffer_printf(&found, "%s", "");
	if (strcmp(found.data, names)) {
		print_error("expected: %s\nfound:    %s\n", names, found.data);
		_fail(file, line);
	}
	tenon_buffer_fini(&found);
}

#define assert_functions(facts, names) assert_functions_at(facts, names, __FILE__, __LINE__)

static inline void assert_source(const struct tenon_payload_info *facts, const char *text)
{
	struct tenon_buffer found = TENON_BUFFER_INIT;
	int err = payload_source(facts, &found);

	assert_int_equal(err, text ? 0 : -TENON_E_UNSUPPORTED);
	if (text)
		assert_string_equal(found.data, text);
	tenon_buffer_fini(&found);
}

static const enum tenon_generation both[] = { LEGACY, FFI };

#define EACH_GENERATION(g) for (const enum tenon_generation *g = both; g < both + 2; g++)

#endif /* TESTS_UNIT_PAYLOAD_H */
