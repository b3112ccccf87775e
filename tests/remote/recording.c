/* SPDX-License-Identifier: MIT */
/* Read recorded exchanges between TVM's clients and servers. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/remote/recording.h"

const char *const recordings[] = {
	"connect",	    "call_scalars",   "call_strings", "exceptions",   "module_call",
	"returns_function", "returns_tensor", "tensor_copy",  "tensor_kinds",
};

static struct tenon_slice read_all(const char *name, const char *direction)
{
	char path[4096], *data = malloc(1 << 20);
	const char *source = getenv("TENON_SOURCE");
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/remote/data/%s.%s.bin", source ? source : ".", name,
		 direction);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_non_null(data);
	size = fread(data, 1, 1 << 20, f);
	fclose(f);
	return (struct tenon_slice){ data, size };
}

static uint64_t number_at(struct tenon_slice s, size_t at, int size)
{
	uint64_t n = 0;

	assert_true(at + (size_t)size <= s.size);
	while (size--)
		n = n << 8 | (uint8_t)s.data[at + (size_t)size];
	return n;
}

void recording_read(struct recording *r, const char *name)
{
	r->requests = read_all(name, "c2s");
	r->replies = read_all(name, "s2c");
	assert_int_equal(number_at(r->requests, 0, 4), 0xff271);
	assert_int_equal(number_at(r->replies, 0, 4), 0xff271);
	r->request_start = 8 + (size_t)number_at(r->requests, 4, 4);
	r->reply_start = 8 + (size_t)number_at(r->replies, 4, 4);
}

void recording_free(struct recording *r)
{
	free((void *)(uintptr_t)r->requests.data);
	free((void *)(uintptr_t)r->replies.data);
}

struct tenon_slice recorded_packet(struct tenon_slice all, size_t *at)
{
	struct tenon_slice packet = { 0 };

	if (*at == all.size)
		return packet;
	packet.size = (size_t)number_at(all, *at, 8);
	packet.data = all.data + *at + 8;
	assert_true(packet.size <= all.size - *at - 8);
	*at += 8 + packet.size;
	return packet;
}
