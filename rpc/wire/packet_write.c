/* SPDX-License-Identifier: MIT */
/* Begin a packet, and write its length when it is complete. */
#include "rpc/wire/packet.h"

#include <tenon/backend/buffer.h>

size_t packet_begin(struct tenon_buffer *b, enum packet_code code)
{
	size_t start = b->size;

	tenon_buffer_u64(b, 0);
	tenon_buffer_u32(b, code);
	return start;
}

void packet_end(struct tenon_buffer *b, size_t start, uint64_t more)
{
	uint64_t size;
	int i;

	if (b->status)
		return;
	size = b->size - start - 8 + more;
	for (i = 0; i < 8; i++)
		b->data[start + (size_t)i] = (char)(size >> 8 * i);
}
