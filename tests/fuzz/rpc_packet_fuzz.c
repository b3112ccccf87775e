/* SPDX-License-Identifier: MIT */
/* The bytes are the generation of a client of TVM's RPC, and a packet that it sends. */
#include <stdlib.h>
#include <string.h>

#include "rpc/wire/packet.h"
#include "tests/fuzz/fuzz.h"

/* a value takes ten times the four bytes of its code, and a tensor 300 bytes for its 32 */
const size_t fuzz_memory_per_byte = 128;

static bool same_value(const struct wire_value *a, const struct wire_value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case WIRE_NONE:
		return true;
	case WIRE_STRING:
	case WIRE_BYTES:
		return a->as.text.size == b->as.text.size &&
		       (!a->as.text.size ||
			!memcmp(a->as.text.data, b->as.text.data, a->as.text.size));
	case WIRE_TENSOR:
		return a->as.tensor->ndim == b->as.tensor->ndim &&
		       a->as.tensor->data == b->as.tensor->data &&
		       a->as.tensor->byte_offset == b->as.tensor->byte_offset &&
		       !memcmp(a->as.tensor->shape, b->as.tensor->shape,
			       sizeof(int64_t) * (size_t)a->as.tensor->ndim);
	case WIRE_DTYPE:
		return !memcmp(&a->as.dtype, &b->as.dtype, sizeof(DLDataType));
	default:
		return a->as.handle == b->as.handle;
	}
}

/* What was decoded is encoded and decoded again. */
static void check_encoding(const struct wire_sequence *s, enum wire_generation generation)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct wire_sequence again = { 0 };
	struct tenon_cursor c;
	uint32_t i;

	wire_write_sequence(&b, generation, s->values, s->count);
	c = tenon_cursor_of(b.data, b.size, "encoded", 0);
	if (b.status || wire_read_sequence(&c, generation, &again) || tenon_cursor_left(&c) ||
	    again.count != s->count)
		abort();
	for (i = 0; i < s->count; i++)
		if (!same_value(&s->values[i], &again.values[i]))
			abort();
	wire_sequence_fini(&again);
	tenon_buffer_fini(&b);
}

/* Of a call that ends in a text, the first bytes are decoded too, as a session does with a large upload. */
static void check_head(struct tenon_slice bytes, const struct packet *whole)
{
	const struct wire_sequence *s = &whole->args;
	const struct wire_value *last = s->count ? &s->values[s->count - 1] : NULL;
	struct packet p = { 0 };
	size_t more;

	if (whole->code != PACKET_CALL || whole->generation == WIRE_UNDECIDED || !last ||
	    (last->kind != WIRE_STRING && last->kind != WIRE_BYTES) || !last->as.text.size)
		return;
	more = (last->as.text.size + 1) / 2;
	bytes.size -= more;
	if (packet_read_head(bytes, more, whole->generation, &p) || p.args.count != s->count ||
	    p.args.values[s->count - 1].as.text.size != last->as.text.size - more)
		abort();
	packet_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_slice bytes = { (const char *)data + 1, size - 1 };
	struct packet p = { 0 };
	int err;

	if (!size)
		return 0;
	err = packet_read(bytes, (enum wire_generation)(data[0] % 3), &p);
	fuzz_check(err);
	if (!err && p.generation == WIRE_UNDECIDED)
		check_encoding(&p.args, WIRE_FFI);
	else if (!err)
		check_encoding(&p.args, p.generation);
	if (!err)
		check_head(bytes, &p);
	/* and the same bytes as the beginning of a longer packet */
	if (data[0] % 3 != WIRE_UNDECIDED)
		fuzz_check(packet_read_head(bytes, 1 + data[0] / 3,
					    (enum wire_generation)(data[0] % 3), &p));
	packet_fini(&p);
	return 0;
}
