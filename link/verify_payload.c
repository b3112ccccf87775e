/* SPDX-License-Identifier: MIT */
/* Check each payload by its format and its loader. */
#include <string.h>
#include <tenon/backend/module_kind.h>

#include "link/module/link_payload.h"
#include "link/verify.h"

static bool has_part(const struct tenon_payload_info *info, struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < info->part_count; i++)
		if (tenon_slice_equal(info->parts[i].name, name))
			return true;
	return false;
}

/* Every kernel of the table has a program, if the payload has one for each. */
static void check_parts(struct verify *v, size_t module, const struct tenon_payload_format *format,
			struct tenon_payload_info *info)
{
	int (*split)(struct tenon_payload_info *) = PAYLOAD_SLOT(format, split);
	struct tenon_slice name;
	size_t i;

	if (!info->part_count && split && split(info)) {
		verify_error(v, module);
		return;
	}
	for (i = 0; info->part_count && i < info->function_count; i++) {
		name = info->functions[i].name;
		if (!has_part(info, name))
			verify_fault(v, module,
				     "kernel \"%.*s\" is in the table of kernels, but has no "
				     "program",
				     (int)name.size, name.data);
	}
}

/* What only the format knows: the commands of a program, and that they stay in their memory. */
static void check_program(struct verify *v, size_t module,
			  const struct tenon_payload_format *format, struct tenon_slice bytes)
{
	int (*check)(const struct tenon_payload_request *, struct tenon_report *) =
		PAYLOAD_SLOT(format, check);
	struct tenon_payload_request r = { .size = sizeof(r) };
	struct tenon_report unwanted = { .size = sizeof(unwanted) };

	r.program = tenon_cursor_of(bytes.data, bytes.size, "payload", 0);
	if (check && check(&r, &unwanted))
		verify_error(v, module);
}

static void check_functions(struct verify *v, size_t module, const struct tenon_payload_info *info)
{
	const struct tenon_payload_function *f = info->functions;
	size_t i, k;

	if (info->has_kernels && !info->function_count)
		verify_note(v, module, "the table of kernels is empty");
	/* tables are short; a long one of a stranger costs no more than this */
	for (i = 0; i < info->function_count && i < 2000; i++)
		for (k = 0; k < i; k++)
			if (tenon_slice_equal(f[i].name, f[k].name))
				verify_fault(v, module, "two functions are called \"%.*s\"",
					     (int)f[i].name.size, f[i].name.data);
}

/*
 * Data that a loader of this library takes is checked by that loader: graphs, bytecode, constants.
 * It makes a module, and runs nothing.
 */
static void check_by_loader(struct verify *v, size_t module, const struct import_entry *e)
{
	struct tenon_module *m = NULL;
	char kind[64];

	if (e->kind.size >= sizeof(kind) || !tenon_module_loader_known(e->kind))
		return;
	memcpy(kind, e->kind.data, e->kind.size);
	kind[e->kind.size] = 0;
	if (tenon_module_load_bytes(kind, e->bytes, &m))
		verify_error(v, module);
	tenon_object_unref(m);
}

void verify_payload(struct verify *v, size_t module)
{
	const struct import_entry *e = &v->host.tree.entries[module];
	const struct tenon_payload_format *format = payload_format_of(e->kind);
	struct tenon_payload_info info = { 0 };

	if (!format && !tenon_module_loader_known(e->kind))
		verify_note(v, module, "this build has no loader for its kind");
	if (link_payload_check(e->kind, e->bytes, "payload", v->host.source.generation,
			       v->host.tree.dialect, &info)) {
		verify_error(v, module);
	} else if (format) {
		check_functions(v, module, &info);
		check_parts(v, module, format, &info);
		check_program(v, module, format, e->bytes);
	}
	if (!info.has_kernels)
		check_by_loader(v, module, e);
	payload_info_fini(&info);
}
