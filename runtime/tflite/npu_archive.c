/* SPDX-License-Identifier: MIT */
#include "runtime/tflite/npu_archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/string.h>

#define LOCAL_ENTRY  0x04034b50
#define END_OF_FILES 0x02014b50
#define VERSION	     20
#define HEADER_MOST  128
#define ARRAY_MAGIC  "\x93NUMPY\1\0"
#define DIMENSIONS   6

static void put_u16(struct tenon_buffer *out, size_t value)
{
	tenon_buffer_u8(out, (uint8_t)value);
	tenon_buffer_u8(out, (uint8_t)(value >> 8));
}

static uint32_t crc32_add(uint32_t crc, struct tenon_slice bytes)
{
	size_t i;
	int k;

	for (i = 0; i < bytes.size; i++) {
		crc ^= (uint8_t)bytes.data[i];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* An entry: an array of elements of @type, whose header is text as numpy writes it. */
static void put_array(struct tenon_buffer *out, const char *name, const char *type,
		      const char *shape, struct tenon_slice data)
{
	char header[HEADER_MOST + 1];
	const int used =
		snprintf(header, sizeof(header),
			 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
	const size_t size = sizeof(ARRAY_MAGIC) - 1 + 2 + HEADER_MOST + data.size;
	char start[sizeof(ARRAY_MAGIC) - 1 + 2] = ARRAY_MAGIC;
	uint32_t crc;

	memset(header + used, ' ', (size_t)(HEADER_MOST - used));
	header[HEADER_MOST - 1] = '\n';
	start[sizeof(start) - 2] = (char)HEADER_MOST;
	crc = crc32_add(UINT32_MAX, (struct tenon_slice){ start, sizeof(start) });
	crc = crc32_add(crc, (struct tenon_slice){ header, HEADER_MOST });
	crc = crc32_add(crc, data);
	tenon_buffer_u32(out, LOCAL_ENTRY);
	put_u16(out, VERSION);
	tenon_buffer_u64(out, 0); /* flags, method, time */
	tenon_buffer_u32(out, ~crc);
	tenon_buffer_u32(out, (uint32_t)size);
	tenon_buffer_u32(out, (uint32_t)size);
	put_u16(out, strlen(name));
	put_u16(out, 0);
	tenon_buffer_append(out, name, strlen(name));
	tenon_buffer_append(out, start, sizeof(start));
	tenon_buffer_append(out, header, HEADER_MOST);
	tenon_buffer_slice(out, data);
}

static void put_string(struct tenon_buffer *out, const char *name, struct tenon_slice bytes)
{
	char type[32];

	if (!bytes.size)
		bytes = (struct tenon_slice){ "", 1 };
	snprintf(type, sizeof(type), "|S%zu", bytes.size);
	put_array(out, name, type, "()", bytes);
}

static void put_number(struct tenon_buffer *out, const char *name, uint64_t value)
{
	struct tenon_buffer word = TENON_BUFFER_INIT;

	if (!tenon_buffer_u64(&word, value))
		put_array(out, name, "<i8", "()", (struct tenon_slice){ word.data, word.size });
	else
		out->status = word.status;
	tenon_buffer_fini(&word);
}

/* ---- tensors: a field of all of them is an array */

enum field { ELEMENT, REGION, OFFSET, SHAPE, FIELDS };

static void put_field(struct tenon_buffer *out, const struct npu_tensor *t, enum field field)
{
	int i;

	switch (field) {
	case ELEMENT:
		tenon_buffer_u64(out, 1);
		break;
	case REGION:
		tenon_buffer_u64(out, t->region);
		break;
	case OFFSET:
		tenon_buffer_u64(out, t->offset);
		break;
	default:
		for (i = 1; i < DIMENSIONS; i++)
			tenon_buffer_u64(out, 1);
		tenon_buffer_u64(out, t->bytes);
	}
}

static void put_tensors(struct tenon_buffer *out, const char *role, const struct npu_tensor *t,
			size_t count)
{
	static const char *const names[FIELDS] = { "elem_size", "region", "offset", "shape" };
	struct tenon_buffer data = TENON_BUFFER_INIT;
	char name[32], shape[32];
	unsigned int field;
	size_t i;

	for (field = 0; field < FIELDS; field++) {
		data.size = 0;
		for (i = 0; i < count; i++)
			put_field(&data, &t[i], (enum field)field);
		snprintf(name, sizeof(name), "%s_%s.npy", role, names[field]);
		snprintf(shape, sizeof(shape), field == SHAPE ? "(%zu, 6)" : "(%zu,)", count);
		put_array(out, name, "<i8", shape, (struct tenon_slice){ data.data, data.size });
	}
	if (data.status)
		out->status = data.status;
	tenon_buffer_fini(&data);
}

int npu_archive(const struct npu_operator *op, struct tenon_buffer *out)
{
	put_string(out, "cmd_data.npy", op->payload);
	put_string(out, "weight_data.npy", op->constants);
	put_number(out, "weight_region.npy", NPU_CONSTANTS);
	put_number(out, "scratch_region.npy", NPU_ARENA);
	put_number(out, "scratch_size.npy", op->arena);
	put_number(out, "scratch_fast_region.npy", op->fast ? NPU_FAST : 0);
	put_number(out, "scratch_fast_size.npy", op->fast);
	put_tensors(out, "input", op->tensors, op->input_count);
	put_tensors(out, "output", op->tensors + op->input_count, op->output_count);
	/* the directory begins here; it is empty, as readers of a whole archive in memory need none */
	return tenon_buffer_u32(out, END_OF_FILES);
}
