/* SPDX-License-Identifier: MIT */
/* Check all kernels of a payload, and edit words of their streams. */
#include "tests/mortise/stream_check.h"

#include <stdlib.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/mortise/mortise_walk.h"
#include "tests/mortise/stream.h"
#include "tests/unit/suite.h"

const struct cmdstream_target stream_target = {
	.name = "mortise",
	.unit = MORTISE_WORD,
	.setter = mortise_setter,
	.walk = mortise_walk,
};

/* Read a payload, and check all its kernels. */
static int check(const void *data, size_t size)
{
	struct tenon_cursor c = tenon_cursor_of(data, size, "payload", 0);
	struct cmdstream_kernel k;
	struct cmdstream s;
	size_t i;
	int err = cmdstream_read(&c, &s);

	for (i = 0; !err && i < s.kernel_count; i++) {
		err = cmdstream_kernel(&s, i, &k);
		err = err ? err : cmdstream_check(&s, &stream_target, &k, NULL);
	}
	return err;
}

int stream_check(const struct tenon_buffer *b)
{
	void *copy = malloc(b->size ? b->size : 1);
	int err;

	memcpy(copy, b->data, b->size);
	err = check(copy, b->size);
	free(copy);
	return err;
}

void stream_is_refused(const struct tenon_buffer *b, int status, const char *why)
{
	int err = stream_check(b);

	if (err != status || !message_has(why))
		print_error("wanted %d: %s\nfound %d: %s\n", status, why, err,
			    err ? tenon_error_message() : "accepted");
	assert_int_equal(err, status);
	assert_error_has(why);
	tenon_error_clear();
}

static uint64_t word_at(const struct tenon_buffer *b, size_t at, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)(uint8_t)b->data[at + i] << 8 * i;
	return value;
}

void stream_set_word(struct tenon_buffer *b, size_t at, uint64_t value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		b->data[at + i] = (char)(value >> 8 * i);
}

struct stream_section stream_find(const struct tenon_buffer *b, uint32_t tag)
{
	size_t at = sizeof(struct tenon_cmdstream_header);
	struct stream_section s = { 0, 0 };

	while (at < b->size) {
		s.at = at + sizeof(struct tenon_cmdstream_section);
		s.size = (size_t)word_at(b, at + 8, 8);
		if (word_at(b, at, 4) == tag)
			return s;
		at = s.at + (s.size + 7) / 8 * 8;
	}
	fail_msg("no section %u", tag);
	return s;
}
