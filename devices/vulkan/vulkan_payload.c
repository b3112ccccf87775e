/* SPDX-License-Identifier: MIT */
/* Format of Vulkan modules in blobs and files. */
#include <tenon/device.h>
#include <tenon/string.h>

#include "devices/vulkan/vulkan_payload.h"

#include "devices/spirv/spirv_payload.h"
#include "lib/brief_errors.h"

/* precedes the programs in a .vulkan file; not in blobs */
#define FILE_MAGIC UINT32_C(0x02700027)

static int vulkan_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	(void)letter;
	return spirv_payload_parts(c, info);
}

static int vulkan_pack(const struct tenon_payload_file *file, struct tenon_cursor *program,
		       struct tenon_slice table, struct tenon_buffer *out)
{
	uint32_t magic;
	int err;

	err = tenon_cursor_u32(program, &magic);
	if (err)
		return err;
	if (magic != FILE_MAGIC)
		return tenon_cursor_error(program, -TENON_E_FORMAT,
					  "0x%x is not the magic number of Vulkan programs, 0x%x",
					  magic, FILE_MAGIC);
	tenon_buffer_string(out, tenon_slice_of(file->suffix));
	tenon_buffer_slice(out, table);
	return tenon_buffer_append(out, program->at, tenon_cursor_left(program));
}

const char *const vulkan_payload_kinds[] = { "vulkan", NULL };

static const struct tenon_payload_file files[] = {
	{ "vulkan", "vulkan", "tvm_meta.json" },
	{ NULL, NULL, NULL },
};

/* P: named SPIR-V programs */
static const struct tenon_payload_format vulkan_payload = {
	.size = sizeof(vulkan_payload),
	.kinds = vulkan_payload_kinds,
	.fields = "fmP",
	.remedy = "Enable CONFIG_DEVICE_VULKAN or install its plug-in.",
	.files = files,
	.field = vulkan_field,
	.pack = vulkan_pack,
};

const struct tenon_payload_format *const vulkan_payload_formats[] = { &vulkan_payload, NULL };
