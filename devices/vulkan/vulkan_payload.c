/* SPDX-License-Identifier: MIT */
/* Format of Vulkan modules in blobs and files. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/device.h>
#include <tenon/string.h>

#include "devices/vulkan/vulkan_payload.h"

#include "devices/spirv/spirv_payload.h"
#include "lib/brief_errors.h"

/* precedes the programs in a .vulkan file; not in blobs */
#define FILE_MAGIC UINT32_C(0x02700027)

static int vulkan_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	return spirv_payload_parts(c, info);
}

static int pack_vulkan(const struct tenon_payload_file *file, struct tenon_cursor *program,
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

#define SPIRV_MAGIC 0x07230203u

/* Move past a list of elements of @size bytes. */
static int skip_list(struct tenon_cursor *c, size_t size)
{
	uint64_t count;
	int err = tenon_cursor_count(c, size, &count);

	return err ? err : tenon_cursor_skip(c, count * size);
}

/* Take the name of a kernel from a table, and move past the rest of its entry. */
static int take_kernel(struct tenon_cursor *table, struct tenon_slice *name)
{
	struct tenon_slice text;
	uint64_t tags = 0;
	int err;

	err = tenon_cursor_string(table, name);
	if (!err)
		err = tenon_cursor_string(table, &text);
	if (!err)
		err = skip_list(table, 4);
	if (!err)
		err = tenon_cursor_count(table, 8, &tags);
	for (; tags && !err; tags--)
		err = tenon_cursor_string(table, &text);
	return err ? err : skip_list(table, 4);
}

/* Append a program: flag, number of words, words. The scalars of hand-written programs are push constants. */
static void put_program(uint32_t flag, struct tenon_slice words, struct tenon_buffer *out)
{
	tenon_buffer_u32(out, flag);
	tenon_buffer_u64(out, words.size / 4);
	tenon_buffer_slice(out, words);
}

/* One file of SPIR-V has all kernels: each gets a copy. */
static int pack_spirv(struct tenon_cursor *program, struct tenon_slice table,
		      struct tenon_buffer *out)
{
	const struct tenon_slice words = { (const char *)program->at, tenon_cursor_left(program) };
	const struct tenon_cursor from = *program;
	struct tenon_cursor c = tenon_cursor_of(table.data, table.size, "table of kernels", 0);
	struct tenon_slice name;
	uint32_t magic;
	uint64_t count;
	int err;

	err = tenon_cursor_u32(program, &magic);
	if (!err && (magic != SPIRV_MAGIC || words.size % 4))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "no little-endian SPIR-V program");
	if (!err)
		err = tenon_cursor_u64(&c, &count);
	if (err)
		return err;
	tenon_buffer_string(out, tenon_slice_of("vulkan"));
	tenon_buffer_slice(out, table);
	tenon_buffer_u64(out, count);
	for (; count && !err; count--) {
		err = take_kernel(&c, &name);
		tenon_buffer_string(out, name);
		put_program(0, words, out);
	}
	return err ? err : out->status;
}

static int vulkan_pack(const struct tenon_payload_file *file, struct tenon_cursor *program,
		       struct tenon_slice table, struct tenon_buffer *out)
{
	if (tenon_slice_equal(tenon_slice_of(file->suffix), tenon_slice_of("spv")))
		return pack_spirv(program, table, out);
	return pack_vulkan(file, program, table, out);
}

/* TVM 0.24 and later write the size of each program in front of it. */
static int vulkan_form(enum tenon_generation generation, struct tenon_cursor *rest,
		       struct tenon_buffer *out)
{
	struct tenon_payload_info info = { .size = sizeof(info), .collect = true };
	const struct tenon_payload_part *p;
	int err;

	err = spirv_payload_parts(rest, &info);
	if (!err)
		err = tenon_buffer_u64(out, info.part_count);
	for (p = info.parts; !err && p < info.parts + info.part_count; p++) {
		tenon_buffer_string(out, p->name);
		if (generation == TENON_GENERATION_FFI)
			tenon_buffer_u64(out, 12 + p->code.size);
		put_program(p->flags, p->code, out);
		err = out->status;
	}
	free(info.functions);
	free(info.parts);
	return err;
}

static int vulkan_unpack(const struct tenon_payload_file *file, struct tenon_cursor *rest,
			 struct tenon_buffer *out)
{
	tenon_buffer_u32(out, FILE_MAGIC);
	return tenon_buffer_append(out, rest->at, tenon_cursor_left(rest));
}

const char *const vulkan_payload_kinds[] = { "vulkan", NULL };

static const struct tenon_payload_file files[] = {
	{ "vulkan", "vulkan", "tvm_meta.json" },
	{ "spv", "vulkan", "tvm_meta.json" },
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
	.unpack = vulkan_unpack,
	.form = vulkan_form,
};

const struct tenon_payload_format *const vulkan_payload_formats[] = { &vulkan_payload, NULL };
