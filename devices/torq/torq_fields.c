/* SPDX-License-Identifier: MIT */
/* Payloads of Torq, read: each executable is a function, and is checked. */
#include <tenon/string.h>

#include "devices/torq/torq_check.h"
#include "devices/torq/torq_file.h"
#include "devices/torq/torq_payload.h"
#include "lib/brief_errors.h"
#include "lib/tvm_versions.h"

#define HANDLE	    TENON_DTYPE_HANDLE, 64, 1, 0
#define HANDLES_8   HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE
#define HANDLE_SIZE 4

/* the types of the arguments */
static const char handles[TORQ_ARGUMENTS * HANDLE_SIZE] = { HANDLES_8, HANDLES_8, HANDLES_8,
							    HANDLES_8, HANDLES_8, HANDLES_8,
							    HANDLES_8, HANDLES_8 };

/* The only executable of a file is called "main", whatever its compiler called it. */
static struct tenon_slice name_of(const struct torq_program *p, bool is_only)
{
	return is_only ? tenon_slice_of("main") : p->name;
}

struct addition {
	struct tenon_payload_info *info;
	bool is_only;
};

static int add_function(void *context, const struct torq_program *p)
{
	const struct addition *a = context;
	struct tenon_payload_info *info = a->info;
	struct tenon_payload_function f = { .name = name_of(p, a->is_only) };
	struct torq_extents e;
	int err = torq_check(p, &e);

	if (err)
		return err;
	f.arg_types = (struct tenon_slice){ handles, e.argument_count * HANDLE_SIZE };
	return info->collect ? tenon_payload_add_function(info, &f) : 0;
}

int torq_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	struct addition a = { .info = info };
	struct torq_file f;
	uint32_t count;
	int err;

	if (info->generation == TENON_GENERATION_LEGACY)
		return tenon_cursor_error(
			c, -TENON_E_UNSUPPORTED,
			"a payload of Torq does not say where it ends, as those in "
			"modules of TVM " TVM_BLOB_LEGACY " must");
	err = torq_file_each(c, NULL, NULL, &count);
	a.is_only = count == 1;
	err = err ? err : torq_file_each(c, add_function, &a, &count);
	torq_file_begin(c, &f);
	err = err ? err : tenon_cursor_bytes(c, tenon_cursor_left(c), &info->code);
	info->has_kernels = true;
	info->format = tenon_slice_of(f.is_archive ? "vmfb" : "torq");
	return err;
}

int torq_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	const struct tenon_cursor c =
		tenon_cursor_of(info->code.data, info->code.size, "payload", 0);
	struct tenon_value value;
	uint32_t count;
	int err = torq_file_each(&c, NULL, NULL, &count);

	value = tenon_arg_int(count);
	return err ? err : v->field(v->context, "executables", &value);
}
