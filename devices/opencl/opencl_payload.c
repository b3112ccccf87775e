/* SPDX-License-Identifier: MIT */
/* Format of OpenCL modules in blobs and files. */
#include "devices/opencl/opencl_payload.h"

#include <string.h>

#include <tenon/device.h>
#include <tenon/string.h>
#include <tenon/value.h>

#include "devices/spirv/spirv_payload.h"

#define MARKER "// Function: "

static int opencl_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	info->format = tenon_slice_of("spirv");
	return spirv_payload_parts(c, info);
}

/* Find the next marker at the beginning of a line, from @at; NULL if there is none. */
static const char *next_marker(struct tenon_slice code, const char *at)
{
	const char *end = code.data + code.size;

	while (at < end) {
		at = memmem(at, (size_t)(end - at), MARKER, strlen(MARKER));
		if (!at || at == code.data || at[-1] == '\n')
			return at;
		at++;
	}
	return NULL;
}

/* Split the source into a part for each kernel; a line with the kernel's name precedes each. */
static int split_source(struct tenon_payload_info *info)
{
	const char *end = info->code.data + info->code.size, *at, *line, *next;
	struct tenon_slice name, piece;
	int err = 0;

	for (at = next_marker(info->code, info->code.data); at && !err; at = next) {
		next = next_marker(info->code, at + 1);
		name.data = at + strlen(MARKER);
		line = memchr(name.data, '\n', (size_t)(end - name.data));
		if (!line)
			break;
		name.size = (size_t)(line - name.data);
		if (name.size && name.data[name.size - 1] == '\r')
			name.size--;
		piece.data = line + 1;
		piece.size = (size_t)((next ? next : end) - piece.data);
		err = tenon_payload_add_part(info, name, piece, 0);
	}
	return err;
}

static int opencl_split(struct tenon_payload_info *info)
{
	return tenon_slice_equal(info->format, tenon_slice_of("cl")) ? split_source(info) : 0;
}

const char *const opencl_payload_kinds[] = { "opencl", "aocl", "sdaccel", NULL };

static const struct tenon_payload_file files[] = {
	{ "cl", "opencl", "tvm_meta.json" },
	{ "xclbin", "sdaccel", "tvm_meta.json" },
	{ "awsxclbin", "sdaccel", "tvm_meta.json" },
	{ "aocx", "aocl", "tvm_meta.json" },
	{ NULL, NULL, NULL },
};

/* P: named SPIR-V programs, in place of a format and a program */
static const struct tenon_payload_format opencl_payload = {
	.size = sizeof(opencl_payload),
	.kinds = opencl_payload_kinds,
	.fields = "fmd|mP",
	.remedy = "Enable CONFIG_DEVICE_OPENCL or install its plug-in.",
	.files = files,
	.field = opencl_field,
	.split = opencl_split,
};

const struct tenon_payload_format *const opencl_payload_formats[] = { &opencl_payload, NULL };
