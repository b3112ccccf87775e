/* SPDX-License-Identifier: MIT */
/* A network as its parts, one after the other (tenon/uapi/ethosu_parts.h): what executors hand over. */
#include <tenon/string.h>
#include <tenon/uapi/ethosu_parts.h>

#include "devices/ethosu/ethosu_container.h"
#include "lib/brief_errors.h"

/* no network has as many tensors */
#define TENSORS_MOST 4096

static int read_numbers(struct tenon_cursor *c, uint64_t count, struct tenon_slice *out)
{
	return tenon_cursor_bytes(c, (size_t)count * 8, out);
}

static int read_tensors(struct tenon_cursor *c, struct ethosu_container *out, unsigned int role)
{
	struct tenon_slice *f = out->fields[role];
	uint64_t count;
	int err;

	err = tenon_cursor_u64(c, &count);
	if (!err && count > TENSORS_MOST)
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "more than %d tensors", TENSORS_MOST);
	if (err)
		return err;
	out->counts[role] = count;
	err = read_numbers(c, count * ETHOSU_DIMENSIONS, &f[ETHOSU_TENSOR_SHAPE]);
	err = err ? err : read_numbers(c, count, &f[ETHOSU_TENSOR_ELEMENT]);
	err = err ? err : read_numbers(c, count, &f[ETHOSU_TENSOR_REGION]);
	return err ? err : read_numbers(c, count, &f[ETHOSU_TENSOR_OFFSET]);
}

static int read_part(struct tenon_cursor *c, struct tenon_slice *out)
{
	uint64_t size;
	int err = tenon_cursor_u64(c, &size);

	if (!err && size > tenon_cursor_left(c))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "a part goes beyond the end");
	return err ? err : tenon_cursor_bytes(c, (size_t)size, out);
}

int ethosu_parts_read(const struct tenon_cursor *c, struct ethosu_container *out)
{
	struct tenon_cursor at = *c;
	struct ethosu_regions r;
	struct tenon_slice commands, magic;
	uint64_t commands_at, size = 0;
	int err;

	out->format = "parts";
	out->complete = true;
	err = tenon_cursor_bytes(&at, sizeof(TENON_ETHOSU_PARTS) - 1, &magic);
	err = err ? err : tenon_cursor_u64(&at, &r.constants);
	err = err ? err : tenon_cursor_u64(&at, &r.scratch);
	err = err ? err : tenon_cursor_u64(&at, &r.scratch_size);
	err = err ? err : tenon_cursor_u64(&at, &r.fast);
	err = err ? err : tenon_cursor_u64(&at, &r.fast_size);
	err = err ? err : read_tensors(&at, out, ETHOSU_INPUT);
	err = err ? err : read_tensors(&at, out, ETHOSU_OUTPUT);
	err = err ? err : read_part(&at, &commands);
	commands_at = tenon_cursor_place(&at);
	err = err ? err : tenon_cursor_u64(&at, &size);
	if (!err && (size_t)size != size)
		err = tenon_cursor_error(&at, -TENON_E_OVERFLOW, "constants of 2^64 bytes");
	out->constants.size = (size_t)size;
	if (!err && tenon_cursor_left(&at))
		err = tenon_cursor_error(&at, -TENON_E_FORMAT, "bytes behind the last part");
	if (!err)
		err = ethosu_regions_check(out, c->name ? c->name : "parts", &r);
	if (err)
		return err;
	if (tenon_slice_equal(magic, tenon_slice_of(TENON_ETHOSU_PARTS_GIVEN)))
		out->given_region = (uint32_t)r.scratch;
	at = tenon_cursor_of(commands.data, commands.size, c->name, commands_at - commands.size);
	return ethosu_payload_read(&at, &out->payload);
}
