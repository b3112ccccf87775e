/* SPDX-License-Identifier: MIT */
/* Bitstreams as payloads: they are listed, linked and unpacked; their loader, which they name, loads them. */
#include <stdio.h>
#include <string.h>
#include <tenon/backend/payload_format.h>
#include <tenon/string.h>

#include "driver/fpga/fpga_bitstream.h"

static int read_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	const char *start = (const char *)c->at;
	struct fpga_bitstream b;
	int err;

	err = fpga_bitstream_read(c, &b);
	if (err)
		return err;
	info->format = tenon_slice_of("bitstream");
	info->name = b.part;
	info->code = (struct tenon_slice){ start, (size_t)((const char *)c->at - start) };
	return 0;
}

/* ---- inspection */

static int show_text(const struct tenon_visitor *v, const char *name, struct tenon_slice text)
{
	struct tenon_value value = tenon_arg_none();
	int err = tenon_string_value(text, &value);

	err = err ? err : v->field(v->context, name, &value);
	tenon_value_release(&value);
	return err;
}

static int show_hash(const struct tenon_visitor *v, const uint8_t *hash)
{
	char text[2 * TENON_BITSTREAM_HASH + 1];
	size_t i;

	for (i = 0; i < TENON_BITSTREAM_HASH; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
	return show_text(v, "xxh128", tenon_slice_of(text));
}

static int visit(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	struct tenon_cursor c = tenon_cursor_of(info->code.data, info->code.size, "payload", 0);
	struct tenon_value size;
	struct fpga_bitstream b;
	int err;

	err = fpga_bitstream_read(&c, &b);
	err = err ? err : show_text(v, "loaded_by", b.loader);
	err = err ? err : show_text(v, "region", b.region);
	err = err ? err : show_text(v, "firmware", b.firmware);
	err = err ? err : show_hash(v, b.hash);
	size = tenon_arg_int((int64_t)b.bytes.size);
	return err ? err : v->field(v->context, "bitstream_bytes", &size);
}

/* ---- the format */

static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	return bytes.size >= 4 && !memcmp(bytes.data, "TBTS", 4);
}

static const char *const kinds[] = { "bitstream", NULL };

static const struct tenon_payload_file files[] = {
	{ "bitstream", "bitstream", NULL },
	{ NULL, NULL, NULL },
};

extern const struct tenon_payload_format payload_bitstream_format;

const struct tenon_payload_format payload_bitstream_format = {
	.size = sizeof(payload_bitstream_format),
	.kinds = kinds,
	.fields = "B",
	.remedy = "A bitstream is loaded before the model runs, by the loader that \"tenon "
		  "inspect\" names "
		  "(fpga_bitstream_load()), and not with the module.",
	.files = files,
	.field = read_field,
	.visit = visit,
	.recognise = recognise,
};
