/* SPDX-License-Identifier: MIT */
/* Make import trees of modules of the kind "hip", which no build loads, for the suites that read trees. */
#ifndef TESTS_UNIT_TREE_H
#define TESTS_UNIT_TREE_H

#include "tests/unit/blob.h"

#define LEGACY TENON_GENERATION_LEGACY
#define FFI    TENON_GENERATION_FFI

/* an object that counts as the file's mapping; tests look whether it is let go */
static struct tenon_object mapping;

static inline void keep_nothing(void *self, int flags)
{
	(void)self;
	(void)flags;
}

static inline int setup(void **state)
{
	(void)state;
	tenon_object_init(&mapping, TENON_TYPE_OBJECT, keep_nothing);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	return strong_count(&mapping) != 1;
}

static inline int read_blob(enum tenon_generation generation, struct tenon_slice blob,
			    struct tenon_module **out)
{
	const struct blob_source src = {
		.file = "lib.so", .offset = 0x1000, .generation = generation, .keep = &mapping
	};

	return import_tree_read(blob, &src, NULL, out);
}

/* payloads of the kind "hip", which no build loads, with one kernel each */
static struct tenon_buffer payloads[2][4];

static const char *const kernel_names[] = { "first", "second", "third", "fourth" };

static inline int make_payloads(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		put_device(&payloads[0][i], "hsaco", kernel_names[i], "// code", false);
		put_device(&payloads[1][i], "hsaco", kernel_names[i], "// code", true);
	}
	return 0;
}

static inline int free_payloads(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 8; i++)
		tenon_buffer_fini(&payloads[i / 4][i % 4]);
	return 0;
}

static inline struct part part_of(enum tenon_generation generation, size_t i)
{
	return (struct part){ "hip", slice_of(&payloads[generation == FFI][i]) };
}

/* "_lib" and @n modules of the kind "hip" */
static inline struct tenon_buffer tree_of(enum tenon_generation generation, size_t n,
					  const uint64_t *rows, const uint64_t *children)
{
	struct part parts[5] = { { "_lib", { NULL, 0 } } };
	size_t i;

	for (i = 0; i < n; i++)
		parts[i + 1] = part_of(generation, i);
	return blob_of(generation, parts, n + 1, rows, children);
}

static const enum tenon_generation both[] = { LEGACY, FFI };

#define EACH_GENERATION(g) for (const enum tenon_generation *g = both; g < both + 2; g++)

#endif /* TESTS_UNIT_TREE_H */
