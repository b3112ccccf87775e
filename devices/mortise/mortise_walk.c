/* SPDX-License-Identifier: MIT */
/*
 * Command streams for mortise: packets as in the ring, without positions. Each rule that the firmware checks is checked
 * here too, so that a stream which passes cannot fault the device.
 */
#include "devices/mortise/mortise_walk.h"

#include <string.h>
#include <tenon/uapi/mortise.h>

/* behind the bits of the regions: a signal to region n */
#define SIGNALLED(region) CMDSTREAM_SETTER(region)

union packet {
	struct mortise_header header;
	struct mortise_copy copy;
	struct mortise_fill fill;
	struct mortise_semaphore semaphore;
	struct mortise_timestamp timestamp;
	struct mortise_vector vector;
	struct mortise_gemm gemm;
};

/* a packet and where it begins in the kernel's code */
struct step {
	struct cmdstream_walk *walk;
	uint64_t at;
	union packet packet;
};

static int bad_field(const struct step *s, size_t field, const char *what)
{
	return cmdstream_error(s->walk, s->at + field, -TENON_E_FORMAT, "%s", what);
}

/* An access of @size bytes at the address in a field. */
static int access_at(const struct step *s, size_t field, uint64_t size, uint32_t access,
		     uint32_t align, const char *what)
{
	struct cmdstream_place place;
	int err = cmdstream_address(s->walk, s->at + field, 8, what, &place);

	return err ? err : cmdstream_access(s->walk, &place, size, access, align, what);
}

/* As access_at(), for an operand that is absent when the field is 0. */
static int access_optional(const struct step *s, size_t field, uint64_t value, uint64_t size,
			   uint32_t align, const char *what)
{
	if (cmdstream_is_relocated(s->walk, s->at + field) || value)
		return access_at(s, field, size, TENON_REGION_READ, align, what);
	return 0;
}

#define READ(type, field, size, align, what)                                                       \
	access_at(s, offsetof(struct type, field), size, TENON_REGION_READ, align, what)
#define WRITE(type, field, size, align, what)                                                      \
	access_at(s, offsetof(struct type, field), size, TENON_REGION_WRITE, align, what)

static int walk_copy(const struct step *s)
{
	const struct mortise_copy *p = &s->packet.copy;
	int err = READ(mortise_copy, from, p->size, 1, "from of copy");

	return err ? err : WRITE(mortise_copy, to, p->size, 1, "to of copy");
}

static int walk_fill(const struct step *s)
{
	const struct mortise_fill *p = &s->packet.fill;

	if (!p->width || p->width > 8 || p->width & (p->width - 1))
		return bad_field(s, offsetof(struct mortise_fill, width),
				 "width of fill is not 1, 2, 4 or 8");
	if (p->size & (p->width - 1))
		return bad_field(s, offsetof(struct mortise_fill, size),
				 "size of fill is no multiple of its width");
	if (p->reserved)
		return bad_field(s, offsetof(struct mortise_fill, reserved),
				 "reserved of fill is not 0");
	return WRITE(mortise_fill, to, p->size, p->width, "to of fill");
}

/* Only the host or an earlier packet ends a wait. */
static int walk_wait(const struct step *s)
{
	const size_t field = offsetof(struct mortise_semaphore, address);
	struct cmdstream_place place;
	int err;

	if (s->packet.semaphore.reserved)
		return bad_field(s, offsetof(struct mortise_semaphore, reserved),
				 "reserved of wait is not 0");
	err = cmdstream_address(s->walk, s->at + field, 8, "address of wait", &place);
	if (!err && s->walk->stream->regions[place.region].kind != TENON_REGION_INPUT)
		err = cmdstream_need(s->walk, SIGNALLED(place.region), s->at, "wait");
	return err ? err
		   : cmdstream_access(s->walk, &place, 4, TENON_REGION_READ, 4, "address of wait");
}

static int walk_signal(const struct step *s)
{
	const size_t field = offsetof(struct mortise_semaphore, address);
	struct cmdstream_place place;
	int err;

	if (s->packet.semaphore.reserved)
		return bad_field(s, offsetof(struct mortise_semaphore, reserved),
				 "reserved of signal is not 0");
	err = cmdstream_address(s->walk, s->at + field, 8, "address of signal", &place);
	if (!err)
		err = cmdstream_access(s->walk, &place, 4, TENON_REGION_WRITE, 4,
				       "address of signal");
	if (!err)
		cmdstream_set(s->walk, SIGNALLED(place.region));
	return err;
}

static int walk_timestamp(const struct step *s)
{
	return WRITE(mortise_timestamp, address, 8, 8, "address of timestamp");
}

static int walk_nothing(const struct step *s)
{
	return 0;
}

static int check_vector(const struct step *s)
{
	const struct mortise_vector *p = &s->packet.vector;

	if (p->operation >= MORTISE_VECTOR_COUNT)
		return bad_field(s, offsetof(struct mortise_vector, operation),
				 "operation of vector is not known");
	if (p->type >= MORTISE_TYPE_COUNT)
		return bad_field(s, offsetof(struct mortise_vector, type),
				 "type of vector is not known");
	if (p->reserved || p->reserved2)
		return bad_field(s, offsetof(struct mortise_vector, reserved),
				 "reserved of vector is not 0");
	if (p->type == MORTISE_INT8 && (p->scalar < -128 || p->scalar > 127))
		return bad_field(s, offsetof(struct mortise_vector, scalar),
				 "scalar of vector is no int8");
	return 0;
}

static int walk_vector(const struct step *s)
{
	const struct mortise_vector *p = &s->packet.vector;
	uint32_t size = p->type == MORTISE_INT8 ? 1 : 4;
	uint64_t bytes = (uint64_t)p->count * size;
	int err = check_vector(s);

	err = err ? err : READ(mortise_vector, a, bytes, size, "a of vector");
	err = err ? err
		  : access_optional(s, offsetof(struct mortise_vector, b), p->b, bytes, size,
				    "b of vector");
	return err ? err : WRITE(mortise_vector, to, bytes, size, "to of vector");
}

static bool is_int8(int32_t value)
{
	return value >= -128 && value <= 127;
}

#define GEMM_FIELD(field, what) bad_field(s, offsetof(struct mortise_gemm, field), what)

static int check_gemm(const struct step *s, uint32_t size)
{
	const struct mortise_gemm *p = &s->packet.gemm;

	if (!p->m || !p->n || !p->k)
		return GEMM_FIELD(m, "m, n or k of gemm is 0");
	if (p->a_stride < p->k)
		return GEMM_FIELD(a_stride, "a_stride of gemm is below k");
	if (p->b_stride < p->k)
		return GEMM_FIELD(b_stride, "b_stride of gemm is below k");
	if (p->to_stride / size < p->n || p->to_stride % size)
		return GEMM_FIELD(to_stride, "to_stride of gemm does not hold n elements");
	if (!is_int8(p->a_zero) || !is_int8(p->b_zero))
		return GEMM_FIELD(a_zero, "a_zero or b_zero of gemm is no int8");
	if (p->reserved)
		return GEMM_FIELD(reserved, "reserved of gemm is not 0");
	if (!p->multiplier)
		return 0;
	if (p->shift < 1 || p->shift > 62)
		return GEMM_FIELD(shift, "shift of gemm is not 1 to 62");
	if (!is_int8(p->to_zero))
		return GEMM_FIELD(to_zero, "to_zero of gemm is no int8");
	if (!is_int8(p->least) || !is_int8(p->most) || p->most < p->least)
		return GEMM_FIELD(least, "least and most of gemm are no range of int8");
	return 0;
}

static int walk_gemm(const struct step *s)
{
	const struct mortise_gemm *p = &s->packet.gemm;
	uint32_t size = p->multiplier ? 1 : 4;
	int err = check_gemm(s, size);

	err = err ? err
		  : READ(mortise_gemm, a, cmdstream_rows(p->m, p->a_stride, p->k), 1, "a of gemm");
	err = err ? err
		  : READ(mortise_gemm, b, cmdstream_rows(p->n, p->b_stride, p->k), 1, "b of gemm");
	err = err ? err
		  : access_optional(s, offsetof(struct mortise_gemm, bias), p->bias,
				    (uint64_t)p->n * 4, 4, "bias of gemm");
	return err ? err
		   : WRITE(mortise_gemm, to,
			   cmdstream_rows(p->m, p->to_stride, (uint64_t)p->n * size), size,
			   "to of gemm");
}

/* words: size of the packet; 0 for any. feature: without which there is no such packet. */
static const struct opcode {
	const char *name;
	int (*walk)(const struct step *s);
	uint8_t words;
	uint8_t feature;
} opcodes[MORTISE_OP_COUNT] = {
	[MORTISE_OP_PAD] = { "pad", walk_nothing, 0, 0 },
	[MORTISE_OP_COPY] = { "copy", walk_copy, sizeof(struct mortise_copy) / 8, 0 },
	[MORTISE_OP_FILL] = { "fill", walk_fill, sizeof(struct mortise_fill) / 8, 0 },
	/* device code has a kind of module of its own, "mortise" */
	[MORTISE_OP_CALL] = { "call", NULL, 0, 0 },
	[MORTISE_OP_WAIT] = { "wait", walk_wait, sizeof(struct mortise_semaphore) / 8, 0 },
	[MORTISE_OP_SIGNAL] = { "signal", walk_signal, sizeof(struct mortise_semaphore) / 8, 0 },
	[MORTISE_OP_TIMESTAMP] = { "timestamp", walk_timestamp,
				   sizeof(struct mortise_timestamp) / 8,
				   MORTISE_FEATURE_TIMESTAMP },
	[MORTISE_OP_BARRIER] = { "barrier", walk_nothing, 1, 0 },
	[MORTISE_OP_VECTOR] = { "vector", walk_vector, sizeof(struct mortise_vector) / 8, 0 },
	[MORTISE_OP_GEMM] = { "gemm", walk_gemm, sizeof(struct mortise_gemm) / 8, 0 },
	/* these are for the host that owns the device */
	[MORTISE_OP_SELFTEST] = { "selftest", NULL, 0, 0 },
	[MORTISE_OP_SHUTDOWN] = { "shutdown", NULL, 0, 0 },
};

/* Fields are little-endian, as are all machines that build this backend's device side. */
static int take_header(struct step *s, struct tenon_slice *bytes)
{
	struct mortise_header *h = &s->packet.header;
	struct tenon_cursor c = s->walk->code;
	uint64_t left = tenon_cursor_left(&c);
	int err;

	err = tenon_cursor_u8(&c, &h->opcode);
	err = err ? err : tenon_cursor_u8(&c, &h->flags);
	err = err ? err : tenon_cursor_u16(&c, &h->words);
	err = err ? err : tenon_cursor_u32(&c, &h->position);
	if (err)
		return err;
	if (!h->words || h->words > MORTISE_PACKET_MOST || h->words > left / MORTISE_WORD)
		return cmdstream_error(
			s->walk, s->at, -TENON_E_FORMAT,
			"a packet of %u words; 1 to %u are possible, and %u are left", h->words,
			MORTISE_PACKET_MOST, (unsigned int)(left / MORTISE_WORD));
	if (h->flags || h->position)
		return cmdstream_error(
			s->walk, s->at, -TENON_E_FORMAT,
			"a packet with flags 0x%x and position %u; the host sets both, "
			"want 0",
			h->flags, h->position);
	return tenon_cursor_bytes(&s->walk->code, (uint64_t)h->words * MORTISE_WORD, bytes);
}

static int walk_packet(struct step *s)
{
	const struct opcode *op;
	struct tenon_slice bytes;
	uint32_t features;
	int err = take_header(s, &bytes);

	if (err)
		return err;
	op = s->packet.header.opcode < MORTISE_OP_COUNT ? &opcodes[s->packet.header.opcode] : NULL;
	if (!op || !op->walk)
		return cmdstream_error(s->walk, s->at, -TENON_E_FORMAT,
				       "opcode %u (%s) is not allowed in a command stream",
				       s->packet.header.opcode, op ? op->name : "not known");
	if (op->words && op->words != s->packet.header.words)
		return cmdstream_error(s->walk, s->at, -TENON_E_FORMAT, "%s has %u words, want %u",
				       op->name, s->packet.header.words, op->words);
	features = s->walk->stream->config_count > MORTISE_CONFIG_FEATURES
			   ? s->walk->stream->config[MORTISE_CONFIG_FEATURES]
			   : 0;
	if ((op->feature & features) != op->feature)
		return cmdstream_error(s->walk, s->at, -TENON_E_FORMAT,
				       "%s needs feature 0x%x, which the stream's configuration "
				       "(0x%x) does not ask for",
				       op->name, op->feature, features);
	if (op->words)
		memcpy(&s->packet, bytes.data, bytes.size);
	return op->walk(s);
}

int mortise_walk(struct cmdstream_walk *walk)
{
	struct step s = { .walk = walk };
	int err = 0;

	while (tenon_cursor_left(&walk->code) && !err) {
		memset(&s.packet, 0, sizeof(s.packet));
		s.at = (uint64_t)(walk->code.at - walk->code.start);
		err = walk_packet(&s);
	}
	return err;
}

const char *mortise_setter(uint32_t n)
{
	return "a signal to the same region";
}
