/* SPDX-License-Identifier: MIT */
/* Read the target and command stream of the containers COP1 and COP2. */
#include "devices/ethosu/ethosu_payload.h"

#include <inttypes.h>
#include <string.h>

#include "lib/brief_errors.h"

#define MAGIC_SIZE 4
/* commands are fetched in units of 16 bytes */
#define STREAM_ALIGN 16

/* what a word of COP1 begins with */
enum { CONFIG = 1, STREAM = 2, READ_REGISTERS = 3, DUMP = 4, NOP = 5 };

static int read_target(struct tenon_cursor *c, struct ethosu_payload *out)
{
	int err;

	out->target_at = tenon_cursor_place(c);
	err = tenon_cursor_u32(c, &out->target.config);
	if (!err)
		err = tenon_cursor_u32(c, &out->target.id);
	if (err)
		return err;
	err = ethosu_target_check(&out->target);
	if (err)
		err = tenon_error_in(err, "%s at 0x%" PRIx64, c->name ? c->name : "payload",
				     out->target_at);
	return err;
}

/* Take the command stream; the cursor is at its first byte. */
static int read_stream(struct tenon_cursor *c, uint64_t size, struct ethosu_payload *out)
{
	if (out->stream.data)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a second command stream; a payload has one");
	if (!size || size % 4)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a command stream of %" PRIu64
					  " bytes; it is made of words of "
					  "4 bytes, and ends with OP_STOP",
					  size);
	if ((c->at - c->start) % STREAM_ALIGN)
		return tenon_cursor_error(
			c, -TENON_E_FORMAT,
			"the command stream begins %zu bytes into the payload, which "
			"is no multiple of %d",
			(size_t)(c->at - c->start), STREAM_ALIGN);
	out->stream_at = tenon_cursor_place(c);
	return tenon_cursor_bytes(c, size, &out->stream);
}

/* ---- COP1: words with a tag in the low byte */

static int bad_word(const struct tenon_cursor *at, uint32_t word)
{
	return tenon_cursor_error(
		at, -TENON_E_UNSUPPORTED,
		"0x%08x: not a configuration (tag 1), command stream (2) or NOP (5)%s", word,
		(word & 0xff) == READ_REGISTERS || (word & 0xff) == DUMP
			? "; tags 3 and 4 belong to old drivers"
			: "");
}

static int read_action(struct tenon_cursor *c, struct ethosu_payload *out, bool *configured)
{
	const struct tenon_cursor at = *c;
	uint32_t word;
	int err;

	err = tenon_cursor_u32(c, &word);
	if (err)
		return err;
	if (word == NOP)
		return 0;
	if ((word & 0xffff) == CONFIG) {
		if (*configured)
			return tenon_cursor_error(&at, -TENON_E_FORMAT,
						  "a second configuration; a payload has one");
		*configured = true;
		return read_target(c, out);
	}
	if ((word & 0xff) != STREAM)
		return bad_word(&at, word);
	if (!*configured)
		return tenon_cursor_error(&at, -TENON_E_FORMAT,
					  "the command stream comes before the configuration");
	return read_stream(c, 4 * (uint64_t)((word & 0xff00) << 8 | word >> 16), out);
}

static int read_cop1(struct tenon_cursor *c, struct ethosu_payload *out)
{
	bool configured = false;
	int err = 0;

	if (tenon_cursor_left(c) % 4)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "%zu bytes; a COP1 payload is made of words of 4 bytes",
					  tenon_cursor_left(c) + MAGIC_SIZE);
	while (!err && tenon_cursor_left(c))
		err = read_action(c, out, &configured);
	if (!err && !out->stream.data)
		err = tenon_cursor_error(c, -TENON_E_TRUNCATED,
					 "the payload ends without a command stream");
	return err;
}

/* ---- COP2: entries with metadata */

/* size of the metadata's fields, and of those behind its length field */
#define METADATA_SIZE 32
#define METADATA_REST 20

static int expect(struct tenon_cursor *c, uint32_t want, const char *what)
{
	const struct tenon_cursor at = *c;
	uint32_t word;
	int err;

	err = tenon_cursor_u32(c, &word);
	if (!err && word != want)
		err = tenon_cursor_error(&at, -TENON_E_UNSUPPORTED, "%s is 0x%x, 0x%x is known",
					 what, word, want);
	return err;
}

static int read_addressing(struct tenon_cursor *c, struct ethosu_payload *out)
{
	const struct tenon_cursor at = *c;
	uint32_t word;
	int err;

	err = tenon_cursor_u32(c, &word);
	if (!err && word != 1 && word != 2)
		err = tenon_cursor_error(
			&at, -TENON_E_UNSUPPORTED,
			"addressing is %u; 1 (all of the network) and 2 (inputs and "
			"outputs in regions of their own) are known",
			word);
	out->local = word == 2;
	return err ? err : tenon_cursor_u64(c, &out->fast_scratch);
}

static int read_metadata(struct tenon_cursor *c, struct ethosu_payload *out)
{
	const struct tenon_cursor at = *c;
	struct tenon_slice magic;
	int err;

	err = tenon_cursor_bytes(c, 4, &magic);
	if (!err && memcmp(magic.data, "VEUM", 4))
		err = tenon_cursor_error(&at, -TENON_E_FORMAT,
					 "the metadata does not begin with VEUM");
	if (!err)
		err = expect(c, 1, "the version of the metadata");
	if (!err)
		err = expect(c, METADATA_REST, "the size of the metadata");
	if (!err)
		err = read_target(c, out);
	return err ? err : read_addressing(c, out);
}

/* Read the entry of a command stream: metadata with padding, and the stream. */
static int read_entry(struct tenon_cursor *c, uint32_t size, struct ethosu_payload *out)
{
	const struct tenon_cursor at = *c;
	struct tenon_cursor metadata;
	struct tenon_slice bytes;
	uint32_t length;
	int err;

	err = tenon_cursor_u32(c, &length);
	if (err)
		return err;
	if (length < METADATA_SIZE || size < 4 || length > size - 4)
		return tenon_cursor_error(
			&at, -TENON_E_FORMAT,
			"metadata of %u bytes in an entry of %u; %d are the least", length, size,
			METADATA_SIZE);
	err = tenon_cursor_bytes(c, length, &bytes);
	if (err)
		return err;
	metadata = tenon_cursor_of(bytes.data, bytes.size, c->name, tenon_cursor_place(c) - length);
	err = read_metadata(&metadata, out);
	return err ? err : read_stream(c, size - 4 - length, out);
}

static int read_cop2(struct tenon_cursor *c, struct ethosu_payload *out)
{
	struct tenon_cursor at;
	uint32_t size;
	uint64_t rest;
	int err;

	err = expect(c, 1, "the version of COP2");
	at = *c;
	if (!err)
		err = tenon_cursor_u64(c, &rest);
	if (!err && rest != tenon_cursor_left(c))
		err = tenon_cursor_error(&at, -TENON_E_TRUNCATED,
					 "%" PRIu64
					 " bytes follow by the header, and %zu in the file",
					 rest, tenon_cursor_left(c));
	if (!err)
		err = expect(c, 1, "the type of the entry");
	at = *c;
	if (!err)
		err = tenon_cursor_u32(c, &size);
	if (!err && size != tenon_cursor_left(c))
		err = tenon_cursor_error(
			&at, -TENON_E_FORMAT,
			"an entry of %u bytes, %zu are left; one entry is known, which "
			"fills the payload",
			size, tenon_cursor_left(c));
	return err ? err : read_entry(c, size, out);
}

int ethosu_payload_read(struct tenon_cursor *c, struct ethosu_payload *out)
{
	struct tenon_slice magic;
	int err;

	memset(out, 0, sizeof(*out));
	if (!ethosu_payload_is((struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) }))
		return tenon_cursor_error(
			c, -TENON_E_FORMAT,
			"not a driver payload of Ethos-U, which begins with COP1 or "
			"COP2");
	err = tenon_cursor_bytes(c, MAGIC_SIZE, &magic);
	if (err)
		return err;
	out->version = (uint8_t)(magic.data[3] - '0');
	return out->version == 1 ? read_cop1(c, out) : read_cop2(c, out);
}
