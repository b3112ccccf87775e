/* SPDX-License-Identifier: MIT */
/* The bytes are the cases in a module's file, behind the size, the version and the hash, which are those of the bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/sha256.h"
#include "link/module/elf_section.h"
#include "runtime/self_test/cases_format.h"
#include "runtime/self_test/self_test.h"
#include "tests/fuzz/fixtures.h"
#include "tests/fuzz/fuzz.h"

/* a case of 48 bytes and a value of 28 take about 100; the file around the section is this large */
const size_t fuzz_memory_per_byte = 64;
const size_t fuzz_memory_at_all = 1 << 18;

static void add_value(struct tenon_buffer *b, enum cases_form form)
{
	tenon_buffer_string(b, tenon_slice_of("x"));
	tenon_buffer_u8(b, kDLFloat);
	tenon_buffer_u8(b, 32);
	tenon_buffer_append(b, "\1\0", 2);
	tenon_buffer_u32(b, form);
	tenon_buffer_u32(b, 2);
	tenon_buffer_u64(b, 2);
	tenon_buffer_u64(b, 4);
	tenon_buffer_string(b, (struct tenon_slice){ "0123456789abcdef0123456789abcdef", 32 });
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	tenon_buffer_u64(&b, 1);
	tenon_buffer_string(&b, tenon_slice_of("first"));
	tenon_buffer_append(&b, "\0\0\0\0\0\0\xe0\x3f\0\0\0\0\0\0\xe0\x3f", 16);
	tenon_buffer_u64(&b, 1);
	tenon_buffer_u64(&b, 1);
	add_value(&b, CASES_DATA);
	tenon_buffer_u64(&b, 2);
	add_value(&b, CASES_DATA);
	add_value(&b, CASES_HASH);
	visit(context, "a case", (struct tenon_slice){ b.data, b.size });
	tenon_buffer_fini(&b);
}

/* A file to put the section into. */
static struct tenon_slice host(void)
{
	static struct tenon_slice file;

	if (!file.size && file_map_open(fixture_find("tvm-0.18/host_vecadd/lib.so"), &file))
		abort();
	return file;
}

static void put_section(const uint8_t *data, size_t size, struct tenon_buffer *out)
{
	struct tenon_buffer section = TENON_BUFFER_INIT;
	uint8_t hash[SHA256_SIZE];
	struct sha256 sum;
	struct elf_file elf;

	sha256_init(&sum);
	sha256_add(&sum, data, size);
	sha256_end(&sum, hash);
	tenon_buffer_u64(&section, 4 + sizeof(hash) + size);
	tenon_buffer_u32(&section, CASES_VERSION);
	tenon_buffer_append(&section, hash, sizeof(hash));
	tenon_buffer_append(&section, data, size);
	if (elf_open(&elf, host(), "fuzz.so") ||
	    elf_put_section(&elf, CASES_SECTION, (struct tenon_slice){ section.data, section.size },
			    out)) {
		fprintf(stderr, "%s\n", tenon_error_message());
		abort();
	}
	tenon_buffer_fini(&section);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_buffer file = TENON_BUFFER_INIT;
	struct tenon_cases *cases;
	int err;

	put_section(data, size, &file);
	err = self_test_read("fuzz.so", (struct tenon_slice){ file.data, file.size }, &cases);
	fuzz_check(err);
	tenon_cases_close(cases);
	tenon_buffer_fini(&file);
	return 0;
}
