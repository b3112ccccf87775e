/* SPDX-License-Identifier: MIT */
/* List the functions of Relax executables without reading their code. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "runtime/payload/payload_format.h"

#define MACHINE_MAGIC	 UINT64_C(0xd225de2f4214151d)
#define MACHINE_MAGIC_V2 UINT64_C(0xd225de2f4214151e)

/* size of the smallest function */
#define FUNCTION_LEAST 52

/* Read an entry of the function table: its kind and its name. */
static int take_entry(struct tenon_cursor *c, uint32_t *kind, struct tenon_slice *name)
{
	struct tenon_slice parameter;
	uint64_t i, count;
	int err;

	err = tenon_cursor_u32(c, kind);
	if (!err)
		err = take_string(c, name);
	/* indices of the first and last instruction, numbers of arguments and registers */
	if (!err)
		err = tenon_cursor_skip(c, 32);
	if (!err)
		err = take_count(c, 8, &count);
	if (err)
		return err;
	for (i = 0; i < count && !err; i++)
		err = take_string(c, &parameter);
	return err;
}

static int take_function(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_payload_function f = { .name = { NULL, 0 } };
	uint32_t kind;
	int err = take_entry(c, &kind, &f.name);

	/* Kind 0 is a function that the executable calls but does not define. */
	return err || !kind ? err : tenon_payload_add_function(info, &f);
}

/* Read up to the function table. @version: empty for one that is not read further; @count: functions. */
static int take_header(struct tenon_cursor *c, struct tenon_slice *version, uint64_t *count)
{
	const struct tenon_cursor from = *c;
	uint64_t magic;
	int err;

	*count = 0;
	*version = (struct tenon_slice){ NULL, 0 };
	err = take_u64(c, &magic);
	if (err)
		return err;
	if (magic != MACHINE_MAGIC && magic != MACHINE_MAGIC_V2)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "0x%" PRIx64 " is not the magic number of an executable",
					  magic);
	err = take_string(c, version);
	/* Files of the Relay virtual machine start alike, with another version. */
	if (!err && tenon_slice_equal(*version, tenon_slice_of("0.14")))
		return take_count(c, FUNCTION_LEAST, count);
	*version = (struct tenon_slice){ NULL, 0 };
	return err;
}

static int take_functions(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	uint64_t i, count;
	int err = take_header(c, &info->format, &count);

	for (i = 0; i < count && !err; i++)
		err = take_function(c, info);
	return err;
}

int payload_relax_each_called(struct tenon_slice payload,
			      int (*visit)(void *context, struct tenon_slice name), void *context)
{
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, "executable", 0);
	struct tenon_slice version, code, name;
	uint64_t i, count;
	uint32_t kind;
	int err;

	/* a payload is an executable, or in older files a string that contains one */
	if (take_header(&c, &version, &count)) {
		tenon_error_clear();
		c = tenon_cursor_of(payload.data, payload.size, "executable", 0);
		err = take_string(&c, &code);
		if (err)
			return err;
		c = tenon_cursor_of(code.data, code.size, "executable", 8);
		err = take_header(&c, &version, &count);
		if (err)
			return err;
	}
	for (i = 0, err = 0; i < count && !err; i++) {
		err = take_entry(&c, &kind, &name);
		if (!err && !kind)
			err = visit(context, name);
	}
	return err;
}

/* S: a string that contains an executable. R: an executable up to the end of the payload. */
static int relax_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_cursor code;
	int err;

	err = letter == 'S' ? take_string(c, &info->code)
			    : tenon_cursor_bytes(c, tenon_cursor_left(c), &info->code);
	if (err)
		return err;
	code = *c;
	code.at = (const uint8_t *)info->code.data;
	code.end = code.at + info->code.size;
	return take_functions(&code, info);
}

static const char *const relax_kinds[] = { "relax.Executable", "relax.VMExecutable", NULL };
static const char *const relay_kinds[] = { "VMExecutable", NULL };

const struct tenon_payload_format payload_relax_format = {
	.size = sizeof(payload_relax_format),
	.kinds = relax_kinds,
	.fields = "R|S",
	.legacy = "S",
	.remedy = "Enable CONFIG_RELAX_VM.",
	.field = relax_field,
};

const struct tenon_payload_format payload_relay_format = {
	.size = sizeof(payload_relay_format),
	.kinds = relay_kinds,
	.fields = "S",
	.remedy =
		"There is no Relay virtual machine here: build the model for the graph executor or "
		"the Relax machine.",
	.field = relax_field,
};
