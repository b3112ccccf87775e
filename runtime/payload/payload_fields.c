/* SPDX-License-Identifier: MIT */
/* Read the fields that few formats have: tensors, parameters, versions. */
#include "runtime/payload/payload_fields.h"

#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "runtime/core/saved_tensor.h"

static int take_version(struct tenon_cursor *c)
{
	const struct tenon_cursor from = *c;
	struct tenon_slice version;
	int err;

	err = payload_take_word(c, &version, "version");
	if (!err && (version.data[0] < '0' || version.data[0] > '9'))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "no version number");
	return err;
}

static int take_tensors(struct tenon_cursor *c, uint64_t count, struct tenon_payload_info *info)
{
	struct saved_tensor t;
	uint64_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		err = saved_tensor_read(c, &t);
		if (!err)
			info->tensor_bytes += t.data.size;
	}
	info->tensor_count += count;
	return err;
}

static int take_parameters(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	const struct tenon_cursor from = *c;
	uint64_t count, names;
	int err;

	err = tenon_cursor_count(c, 8 + SAVED_TENSOR_LEAST, &count);
	if (!err)
		err = payload_take_strings(c, &names);
	if (err)
		return err;
	if (names != count)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "%" PRIu64 " names for %" PRIu64 " parameters", names,
					  count);
	return take_tensors(c, count, info);
}

static int take_names(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_payload_function f = { .name = { NULL, 0 } };
	uint64_t i, count;
	int err;

	err = take_count(c, 8, &count);
	for (i = 0; i < count && !err; i++) {
		err = take_string(c, &f.name);
		if (!err)
			err = tenon_payload_add_function(info, &f);
	}
	return err;
}

int payload_take_rare(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_slice ignored;
	uint64_t number;
	uint32_t word;
	int err;

	switch (letter) {
	case 'x':
		return take_version(c);
	case 'y':
		return take_string(c, &ignored);
	case 'k':
		return take_names(c, info);
	case 'a':
		err = take_count(c, SAVED_TENSOR_LEAST, &number);
		return err ? err : take_tensors(c, number, info);
	case 'p':
		return take_parameters(c, info);
	case 'q':
		return take_u64(c, &number);
	case 'i':
		return tenon_cursor_u32(c, &word);
	default:
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED, "field %c", letter);
	}
}
