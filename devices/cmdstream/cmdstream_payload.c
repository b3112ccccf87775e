/* SPDX-License-Identifier: MIT */
/* Command streams in blobs and files, without a device. */
#include "devices/cmdstream/cmdstream_payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <tenon/array.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "devices/cmdstream/cmdstream.h"

#define HANDLE	    TENON_DTYPE_HANDLE, 64, 1, 0
#define HANDLES_8   HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE, HANDLE
#define HANDLE_SIZE 4

/* the types of the arguments of any kernel */
static const char handles[TENON_CMDSTREAM_ARGUMENTS * HANDLE_SIZE] = {
	HANDLES_8, HANDLES_8, HANDLES_8, HANDLES_8, HANDLES_8, HANDLES_8, HANDLES_8, HANDLES_8
};

static int add_kernels(const struct cmdstream *s, struct tenon_payload_info *info)
{
	struct tenon_cursor c = tenon_cursor_of(s->kernels.data, s->kernels.size, s->name, 0);
	struct cmdstream_kernel k;
	int err = 0;

	while (tenon_cursor_left(&c) && !err) {
		struct tenon_payload_function f = { .name = { NULL, 0 } };

		err = cmdstream_next_kernel(s, &c, &k);
		f.name = k.name;
		f.arg_types =
			(struct tenon_slice){ handles, (size_t)k.argument_count * HANDLE_SIZE };
		err = err ? err : tenon_payload_add_function(info, &f);
	}
	return err;
}

int cmdstream_field(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	const char *start = (const char *)c->at;
	struct cmdstream s;
	int err;

	err = cmdstream_read(c, &s);
	if (err)
		return err;
	info->has_kernels = true;
	info->format = tenon_slice_of("cmdstream");
	info->name = s.target;
	info->code = (struct tenon_slice){ start, (size_t)((const char *)c->at - start) };
	return info->collect ? add_kernels(&s, info) : 0;
}

/* ---- inspection */

static int show_number(const struct tenon_visitor *v, const char *name, uint64_t n)
{
	struct tenon_value value = tenon_arg_int((int64_t)n);

	return v->field(v->context, name, &value);
}

/* Show @count values, which are released. */
static int show_list(const struct tenon_visitor *v, const char *name, struct tenon_value *items,
		     size_t count)
{
	struct tenon_array *array = NULL;
	struct tenon_value value;
	int err = tenon_array_create(items, count, &array);
	size_t i;

	for (i = 0; i < count; i++)
		tenon_value_release(&items[i]);
	if (err)
		return err;
	value = tenon_arg_object(array);
	err = v->field(v->context, name, &value);
	tenon_object_unref(array);
	return err;
}

static int show_regions(const struct cmdstream *s, const struct tenon_visitor *v)
{
	struct tenon_value items[TENON_CMDSTREAM_REGIONS];
	char text[80];
	uint32_t i;
	int err = 0;

	for (i = 0; i < s->region_count && !err; i++) {
		const struct tenon_cmdstream_region *r = &s->regions[i];

		snprintf(text, sizeof(text), "%s, %" PRIu64 " bytes%s%s",
			 cmdstream_region_name(r->kind), r->size,
			 r->access & TENON_REGION_READ ? ", read" : "",
			 r->access & TENON_REGION_WRITE ? ", written" : "");
		items[i] = tenon_arg_none();
		err = tenon_string_value(tenon_slice_of(text), &items[i]);
	}
	if (!err)
		return show_list(v, "regions", items, s->region_count);
	while (i--)
		tenon_value_release(&items[i]);
	return err;
}

static int show_config(const struct cmdstream *s, const struct tenon_visitor *v)
{
	struct tenon_value items[TENON_CMDSTREAM_WORDS];
	uint32_t i;

	for (i = 0; i < s->config_count; i++)
		items[i] = tenon_arg_int(s->config[i]);
	return show_list(v, "config", items, s->config_count);
}

int cmdstream_visit(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	struct tenon_cursor c = tenon_cursor_of(info->code.data, info->code.size, "payload", 0);
	struct cmdstream s;
	int err;

	err = cmdstream_read(&c, &s);
	err = err ? err : show_config(&s, v);
	err = err ? err : show_regions(&s, v);
	err = err ? err : show_number(v, "code_bytes", s.code.size);
	err = err ? err : show_number(v, "constant_bytes", s.constants.size);
	return err ? err : show_number(v, "relocations", s.relocation_count);
}
