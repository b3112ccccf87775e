/* SPDX-License-Identifier: MIT */
/*
 * Format of the modules of this device: the word "null", a kernel table as TVM writes it, and a
 * list with the number of a built-in function (u32) for each kernel. A file *.null is such a
 * payload.
 */
#include "devices/null/null.h"

#include <tenon/error.h>
#include <tenon/string.h>

/* Translate numbers to addresses of functions; a payload cannot contain addresses. */
static int read_functions(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	uint64_t i, count;
	uint32_t number;
	int err;

	err = tenon_cursor_count(c, sizeof(number), &count);
	for (i = 0; i < count && !err; i++) {
		err = tenon_cursor_u32(c, &number);
		if (!err && number >= null_function_count)
			err = tenon_cursor_error(c, -TENON_E_FORMAT,
						 "kernel %u is function %u; there are %zu",
						 (unsigned int)i, number, null_function_count);
		if (!err && i < info->function_count)
			err = tenon_payload_add_part(
				info, info->functions[i].name,
				(struct tenon_slice){ (const char *)&null_functions[number],
						      sizeof(null_functions[0]) },
				0);
	}
	return err;
}

/* N: the only field without a standard letter */
static int null_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	return read_functions(c, info);
}

/* Check that a file begins with the word, since other programs may use the same suffix. */
static bool null_recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, "file", 0);
	struct tenon_slice word;

	if (tenon_cursor_string(&c, &word)) {
		tenon_error_clear();
		return false;
	}
	return tenon_slice_equal(word, tenon_slice_of(file->suffix));
}

const char *const null_payload_kinds[] = { "null", NULL };

/* A format with more to check than its fields does that here, without a device. */
static int null_check(const struct tenon_payload_request *request, struct tenon_report *report)
{
	struct tenon_cursor c = request->program;
	struct tenon_slice word;
	int err;

	if (request->option_count)
		return tenon_error(-TENON_E_USAGE, "--%s: programs of null have no such option",
				   request->options[0].name);
	err = tenon_cursor_string(&c, &word);
	if (!err && !tenon_slice_equal(word, tenon_slice_of(null_payload_kinds[0])))
		err = tenon_cursor_error(&c, -TENON_E_FORMAT,
					 "a program of \"%.*s\", not of \"null\"", (int)word.size,
					 word.data);
	if (err)
		return err;
	tenon_report_line(report, "no fault: for null, %zu bytes", tenon_cursor_left(&c));
	tenon_report_number(report, "bytes", (int64_t)tenon_cursor_left(&c));
	return 0;
}

static const struct tenon_payload_file files[] = {
	{ "null", "null", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format null_payload = {
	.size = sizeof(null_payload),
	.kinds = null_payload_kinds,
	.fields = "fmN",
	.files = files,
	.field = null_field,
	.recognise = null_recognise,
	.check = null_check,
};

const struct tenon_payload_format *const null_payload_formats[] = { &null_payload, NULL };
