/* SPDX-License-Identifier: MIT */
/* Compute, write and compare the hashes of payloads. */
#include "link/module/payload_hashes.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "link/module/link_record.h"

#define VERSION 1

/* bytes in front of the hashes: size, version, count */
#define HEADER 20

int payload_hashes_begin(size_t count, struct tenon_buffer *out)
{
	static const uint8_t none[SHA256_SIZE];
	size_t i;

	tenon_buffer_u64(out, HEADER - 8 + (uint64_t)count * SHA256_SIZE);
	tenon_buffer_u32(out, VERSION);
	tenon_buffer_u64(out, count);
	for (i = 0; i < count; i++)
		tenon_buffer_append(out, none, sizeof(none));
	return out->status;
}

void payload_hashes_set(struct tenon_buffer *hashes, size_t module, struct tenon_slice payload)
{
	if (!hashes->status)
		sha256_bytes(payload.data, payload.size,
			     (uint8_t *)hashes->data + HEADER + module * SHA256_SIZE);
}

int payload_hashes_read(struct tenon_slice bytes, const char *file, struct payload_hashes *out)
{
	struct tenon_cursor c;
	uint64_t count = 0;
	int err;

	err = link_record_open(bytes, "hashes of payloads", VERSION, &c);
	if (!err)
		err = tenon_cursor_count(&c, SHA256_SIZE, &count);
	if (!err && tenon_cursor_left(&c) != count * SHA256_SIZE)
		err = tenon_cursor_error(&c, -TENON_E_FORMAT,
					 "%zu bytes for %" PRIu64 " hashes of %d",
					 tenon_cursor_left(&c), count, SHA256_SIZE);
	if (err)
		return tenon_error_in(err, "%s", file);
	out->at = c.at;
	out->count = count;
	return 0;
}

bool payload_hashes_match(const struct payload_hashes *h, size_t module, struct tenon_slice payload,
			  char found[SHA256_TEXT], char wanted[SHA256_TEXT])
{
	const uint8_t *want = h->at + module * SHA256_SIZE;
	uint8_t bytes[SHA256_SIZE];

	sha256_bytes(payload.data, payload.size, bytes);
	sha256_digits(bytes, found);
	sha256_digits(want, wanted);
	return !memcmp(bytes, want, sizeof(bytes));
}
