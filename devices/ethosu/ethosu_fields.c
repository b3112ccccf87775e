/* SPDX-License-Identifier: MIT */
/*
 * Payloads of modules for Ethos-U, read: the bytes of a file as the compiler wrote it. The one function is called "main"; it
 * takes the inputs and outputs of the network, or where the file does not know these, the regions that the stream touches.
 */
#include <inttypes.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_arguments.h"
#include "devices/ethosu/ethosu_device.h"
#include "lib/brief_errors.h"
#include "lib/tvm_versions.h"

#define HANDLE	    TENON_DTYPE_HANDLE, 64, 1, 0
#define HANDLES_8   HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE
#define HANDLE_SIZE 4

/* the types of the arguments */
static const char handles[ETHOSU_ARGUMENTS * HANDLE_SIZE] = { HANDLES_8, HANDLES_8, HANDLES_8,
							      HANDLES_8, HANDLES_8, HANDLES_8,
							      HANDLES_8, HANDLES_8 };

int ethosu_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct tenon_payload_function f = { .name = tenon_slice_of("main") };
	struct ethosu_container contents;
	struct ethosu_arguments arguments;
	int err;

	if (info->generation == TENON_GENERATION_LEGACY)
		return tenon_cursor_error(
			c, -TENON_E_UNSUPPORTED,
			"a payload of Ethos-U does not say where it ends, as those in "
			"modules of TVM " TVM_BLOB_LEGACY " must");
	err = ethosu_container_read(c, &contents);
	if (!err)
		err = ethosu_arguments_of(&contents, c->name, &arguments);
	if (!err)
		err = tenon_cursor_bytes(c, tenon_cursor_left(c), &info->code);
	if (err)
		return err;
	info->has_kernels = true;
	info->format = tenon_slice_of(contents.format);
	f.arg_types = (struct tenon_slice){ handles, arguments.count * HANDLE_SIZE };
	return info->collect ? tenon_payload_add_function(info, &f) : 0;
}

/* ---- inspection */

static int show_text(const struct tenon_visitor *v, const char *name, const char *text)
{
	struct tenon_value value = tenon_arg_none();
	int err = tenon_string_value(tenon_slice_of(text), &value);

	err = err ? err : v->field(v->context, name, &value);
	tenon_value_release(&value);
	return err;
}

static int show_number(const struct tenon_visitor *v, const char *name, uint64_t n)
{
	struct tenon_value value = tenon_arg_int((int64_t)n);

	return v->field(v->context, name, &value);
}

int ethosu_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	struct tenon_cursor c = tenon_cursor_of(info->code.data, info->code.size, "payload", 0);
	struct ethosu_container contents;
	char target[ETHOSU_TARGET_NAME];
	int err;

	err = ethosu_container_read(&c, &contents);
	if (err)
		return err;
	ethosu_target_name(&contents.payload.target, target);
	err = show_text(v, "target", target);
	err = err ? err : show_number(v, "stream_bytes", contents.payload.stream.size);
	return err ? err : show_number(v, "constant_bytes", contents.constants.size);
}
