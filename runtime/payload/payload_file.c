/* SPDX-License-Identifier: MIT */
/* Device programs in files: which suffixes they have. A plug-in reads them (payload_program_file.c). */
#include "runtime/core/arguments.h"
#include "runtime/payload/payload_file.h"

#include "runtime/core/describer.h"
#include "runtime/payload/payload_format.h"

struct suffix_visit {
	int (*visit)(void *context, const char *suffix);
	void *context;
};

static int each_suffix(void *context, const struct tenon_payload_format *format)
{
	const struct suffix_visit *v = context;
	const struct tenon_payload_file *file = PAYLOAD_SLOT(format, files);
	int result = 0;

	for (; file && file->suffix && !result; file++)
		result = v->visit(v->context, file->suffix);
	return result;
}

int payload_file_each_suffix(bool plugins, int (*visit)(void *context, const char *suffix),
			     void *context)
{
	struct suffix_visit v = { visit, context };

	return payload_format_each(plugins, each_suffix, &v);
}

static int is_suffix(void *context, const char *suffix)
{
	const struct tenon_slice *wanted = context;

	return tenon_slice_equal(*wanted, tenon_slice_of(suffix));
}

bool payload_file_known(struct tenon_slice suffix)
{
	return payload_file_each_suffix(true, is_suffix, &suffix);
}

PACKED_CALL(payload_file_load)
{
	return DESCRIBER(program, self, args, count, ret);
}
