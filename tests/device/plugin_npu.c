/* SPDX-License-Identifier: MIT */
/*
 * A plug-in for a processor that takes command streams: a payload kind of its own with a table of
 * regions, files that hold such payloads, and a module kind for its firmware. It sees no device.
 */
#include <stdlib.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/backend/backend.h>
#include <tenon/backend/module_kind.h>
#include <tenon/backend/payload_format.h>
#include <tenon/string.h>

#define MAGIC UINT32_C(0x3155504e) /* "NPU1" */

static int count(uint32_t *out)
{
	*out = 0;
	return 0;
}

static int describe(uint32_t index, struct tenon_device_properties *properties)
{
	(void)index;
	(void)properties;
	return -TENON_E_DEVICE;
}

static int open_device(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	(void)choice;
	*out = NULL;
	return -TENON_E_DEVICE;
}

/*
 * magic; a list of functions, each a name, a stream (string), and a list of regions: u32 what, u32 unused,
 * u64 size. A region is an argument.
 */
static int take_function(struct tenon_cursor *c, struct tenon_payload_info *info)
{
	static const char handles[8][4] = { { 3, 64, 1, 0 }, { 3, 64, 1, 0 }, { 3, 64, 1, 0 },
					    { 3, 64, 1, 0 }, { 3, 64, 1, 0 }, { 3, 64, 1, 0 },
					    { 3, 64, 1, 0 }, { 3, 64, 1, 0 } };
	struct tenon_payload_function f = { .name = { NULL, 0 } };
	struct tenon_slice stream;
	uint64_t regions;
	int err;

	err = tenon_cursor_string(c, &f.name);
	if (!err)
		err = tenon_cursor_string(c, &stream);
	if (!err)
		err = tenon_cursor_count(c, 16, &regions);
	if (!err && regions > 8)
		err = tenon_cursor_error(c, -TENON_E_UNSUPPORTED, "more than 8 regions");
	if (!err)
		err = tenon_cursor_skip(c, 16 * regions);
	if (err)
		return err;
	f.arg_types.data = handles[0];
	f.arg_types.size = 4 * (size_t)regions;
	err = tenon_payload_add_function(info, &f);
	return err ? err : tenon_payload_add_part(info, f.name, stream, (uint32_t)regions);
}

static int npu_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	const struct tenon_cursor from = *c;
	uint64_t i, functions;
	uint32_t magic;
	int err;

	(void)letter;
	err = tenon_cursor_u32(c, &magic);
	if (!err && magic != MAGIC)
		err = tenon_cursor_error(&from, -TENON_E_FORMAT, "no command streams");
	if (!err)
		err = tenon_cursor_count(c, 24, &functions);
	info->has_kernels = true;
	info->format = tenon_slice_of("npu");
	for (i = 0; !err && i < functions; i++)
		err = take_function(c, info);
	return err;
}

static int npu_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	struct tenon_value regions = tenon_arg_int(0);
	size_t i;

	for (i = 0; i < info->part_count; i++)
		regions.as.integer += info->parts[i].flags;
	return v->field(v->context, "regions", &regions);
}

static bool npu_recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	(void)file;
	return bytes.size >= 4 && !memcmp(bytes.data, "NPU1", 4);
}

static const char *const kinds[] = { "acme_npu", NULL };

static const struct tenon_payload_file files[] = {
	{ "npu", "acme_npu", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format npu_format = {
	.size = sizeof(npu_format),
	.kinds = kinds,
	.fields = "S",
	.remedy = "Ask Acme.",
	.files = files,
	.field = npu_field,
	.visit = npu_visit,
	.recognise = npu_recognise,
};

static const struct tenon_payload_format *const formats[] = { &npu_format, NULL };

/* firmware: a module that can be told from others and nothing more */
static int firmware_load(struct tenon_cursor *c, const struct tenon_payload *payload,
			 struct tenon_module **out)
{
	static const struct tenon_module_ops ops = { .get_function = NULL };
	int err;

	*out = NULL;
	err = tenon_cursor_skip(c, 4);
	if (err)
		return err;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "no memory for firmware");
	(void)payload;
	tenon_module_init(*out, &ops, tenon_slice_of("acme_firmware"), 0);
	return 0;
}

static const struct tenon_module_loader firmware_loader = { "acme_firmware", firmware_load };
static const struct tenon_module_loader *const loaders[] = { &firmware_loader, NULL };

static const struct tenon_backend backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(backend),
	.name = "acme",
	.device_type = 91,
	.kinds = kinds,
	.count = count,
	.describe = describe,
	.open = open_device,
	.formats = formats,
	.loaders = loaders,
};

const struct tenon_backend *tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	return abi == TENON_PLUGIN_ABI ? &backend : NULL;
}
