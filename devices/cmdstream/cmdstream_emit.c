/* SPDX-License-Identifier: MIT */
/* Lay the sections of a recorded command stream out and write them. */
#include "devices/cmdstream/cmdstream_emit.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

static void fail(struct cmdstream_emitter *e, int status)
{
	if (!e->status)
		e->status = status;
}

void cmdstream_emitter_init(struct cmdstream_emitter *e)
{
	*e = (struct cmdstream_emitter){ .code = TENON_BUFFER_INIT,
					 .regions = TENON_BUFFER_INIT,
					 .constants = TENON_BUFFER_INIT,
					 .relocations = TENON_BUFFER_INIT,
					 .kernels = TENON_BUFFER_INIT };
}

void cmdstream_emitter_fini(struct cmdstream_emitter *e)
{
	tenon_buffer_fini(&e->code);
	tenon_buffer_fini(&e->regions);
	tenon_buffer_fini(&e->constants);
	tenon_buffer_fini(&e->relocations);
	tenon_buffer_fini(&e->kernels);
}

static void put_zeros(struct tenon_buffer *b)
{
	while (b->size % 8 && !b->status)
		tenon_buffer_u8(b, 0);
}

uint32_t cmdstream_region(struct cmdstream_emitter *e, const struct tenon_cmdstream_region *r,
			  const void *bytes)
{
	tenon_buffer_u32(&e->regions, r->kind);
	tenon_buffer_u32(&e->regions, r->access);
	tenon_buffer_u64(&e->regions, r->size);
	tenon_buffer_u64(&e->regions, bytes ? e->constants.size : 0);
	tenon_buffer_u32(&e->regions, r->alignment);
	tenon_buffer_u32(&e->regions, 0);
	if (bytes)
		tenon_buffer_append(&e->constants, bytes, (size_t)r->size);
	if (e->regions.status || e->constants.status)
		fail(e, -TENON_E_NOMEM);
	return e->region_count++;
}

int cmdstream_reserve(struct cmdstream_emitter *e, size_t size)
{
	static const uint8_t zeros[256];
	size_t used = e->code.size, left, part;

	if (e->reserved)
		fail(e, tenon_error(-TENON_E_VALUE,
				    "an operation of a command stream with %zu bytes less than it "
				    "reserved",
				    e->reserved));
	if (e->status)
		return e->status;
	/* grow here, so that emitting does not fail in the middle of an operation */
	for (left = size; left; left -= part) {
		part = left < sizeof(zeros) ? left : sizeof(zeros);
		if (tenon_buffer_append(&e->code, zeros, part)) {
			fail(e, -TENON_E_NOMEM);
			break;
		}
	}
	e->code.size = used;
	e->reserved = size;
	return e->status;
}

void cmdstream_emit(struct cmdstream_emitter *e, const void *bytes, size_t size)
{
	if (e->status)
		return;
	if (size > e->reserved) {
		fail(e,
		     tenon_error(-TENON_E_VALUE,
				 "an operation of a command stream emits %zu bytes; %zu of what it "
				 "reserved are left",
				 size, e->reserved));
		return;
	}
	e->reserved -= size;
	tenon_buffer_append(&e->code, bytes, size);
}

void cmdstream_reloc(struct cmdstream_emitter *e, uint32_t region, uint64_t offset, uint32_t width)
{
	static const uint8_t zeros[8];
	struct tenon_buffer *b = &e->relocations;

	if (width > sizeof(zeros))
		width = sizeof(zeros);
	tenon_buffer_u64(b, e->code.size);
	tenon_buffer_u64(b, offset);
	tenon_buffer_u32(b, region);
	tenon_buffer_u32(b, width);
	if (b->status)
		fail(e, -TENON_E_NOMEM);
	cmdstream_emit(e, zeros, width);
}

void cmdstream_end_kernel(struct cmdstream_emitter *e, const char *name, const uint32_t *arguments,
			  uint32_t count)
{
	struct tenon_buffer *b = &e->kernels;
	uint32_t i;

	tenon_buffer_u64(b, e->begin);
	tenon_buffer_u64(b, e->code.size - e->begin);
	tenon_buffer_u32(b, count);
	tenon_buffer_u32(b, (uint32_t)strlen(name));
	for (i = 0; i < count; i++)
		tenon_buffer_u32(b, arguments[i]);
	tenon_buffer_append(b, name, strlen(name));
	put_zeros(b);
	if (b->status)
		fail(e, -TENON_E_NOMEM);
	e->begin = e->code.size;
}

/* ---- the payload */

static void put_section(struct tenon_buffer *out, uint32_t tag, const struct tenon_buffer *body)
{
	tenon_buffer_u32(out, tag);
	tenon_buffer_u32(out, 0);
	tenon_buffer_u64(out, body->size);
	tenon_buffer_append(out, body->data, body->size);
	put_zeros(out);
}

static void put_target(struct tenon_buffer *out, const char *target, const uint32_t *config,
		       uint32_t count)
{
	char name[TENON_CMDSTREAM_NAME] = "";
	uint32_t i;

	memcpy(name, target, strnlen(target, sizeof(name)));
	tenon_buffer_u32(out, TENON_CMDSTREAM_TARGET);
	tenon_buffer_u32(out, 0);
	tenon_buffer_u64(out, sizeof(name) + count * sizeof(*config));
	tenon_buffer_append(out, name, sizeof(name));
	for (i = 0; i < count; i++)
		tenon_buffer_u32(out, config[i]);
	put_zeros(out);
}

static void put_header(struct tenon_buffer *out, size_t size)
{
	tenon_buffer_u32(out, TENON_CMDSTREAM_MAGIC);
	tenon_buffer_u8(out, TENON_CMDSTREAM_MAJOR);
	tenon_buffer_u8(out, 0);
	tenon_buffer_u8(out, TENON_CMDSTREAM_MINOR);
	tenon_buffer_u8(out, 0);
	tenon_buffer_u64(out, size);
}

int cmdstream_flush(struct cmdstream_emitter *e, const char *target, const uint32_t *config,
		    uint32_t config_count, struct tenon_buffer *out)
{
	struct tenon_buffer body = TENON_BUFFER_INIT;
	int err;

	if (!e->status && (e->reserved || e->begin != e->code.size))
		fail(e, tenon_error(-TENON_E_VALUE,
				    "a command stream ends with code that belongs to no kernel"));
	put_target(&body, target, config, config_count);
	put_section(&body, TENON_CMDSTREAM_CODE, &e->code);
	put_section(&body, TENON_CMDSTREAM_REGION_TABLE, &e->regions);
	put_section(&body, TENON_CMDSTREAM_CONSTANTS, &e->constants);
	put_section(&body, TENON_CMDSTREAM_RELOCATIONS, &e->relocations);
	put_section(&body, TENON_CMDSTREAM_KERNEL_TABLE, &e->kernels);
	err = e->status ? e->status : body.status;
	if (!err) {
		put_header(out, sizeof(struct tenon_cmdstream_header) + body.size);
		err = tenon_buffer_append(out, body.data, body.size);
	}
	tenon_buffer_fini(&body);
	cmdstream_emitter_fini(e);
	cmdstream_emitter_init(e);
	return err;
}
