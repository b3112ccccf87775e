/* SPDX-License-Identifier: MIT */
/* Packets: room for them, their headers, and showing them to the device. */
#include <string.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_order.h>

#include "driver/ring/ring_private.h"
#include "lib/brief_errors.h"

/* words of the ring that hold packets which the device may still read */
static uint64_t in_flight(const struct ring *ring)
{
	return ring->reserved - ring->room_from;
}

static bool has_room(const struct ring *ring, uint32_t words)
{
	return in_flight(ring) + words <= (uint64_t)ring->mask + 1;
}

/* Let the device finish packets until there is room. */
static int wait_for_room(struct ring *ring, uint32_t words, uint64_t deadline)
{
	uint64_t need;
	int err;

	err = ring_completed(ring, &ring->room_from);
	if (err || has_room(ring, words))
		return err;
	if (deadline == RING_NOW)
		return tenon_error(-TENON_E_TIMEOUT, "%s: no room for a packet of %u words",
				   ring->setup.name, words);
	ring_publish(ring);
	need = ring->reserved + words - (ring->mask + 1);
	/* wait for half of the ring rather than for a packet at a time */
	if (in_flight(ring) > ring->mask / 2 && need < ring->reserved - ring->mask / 2)
		need = ring->reserved - ring->mask / 2;
	err = ring_wait(ring, need, deadline);
	if (!err)
		err = ring_completed(ring, &ring->room_from);
	return err;
}

/* Begin a packet of that many words, for which there is room and which does not wrap. */
static struct mortise_header *begin(struct ring *ring, uint8_t opcode, uint32_t words)
{
	uint64_t *at = &ring->words[(uint32_t)ring->reserved & ring->mask];
	struct mortise_header header = { opcode, 0, (uint16_t)words, (uint32_t)ring->reserved };

	memcpy(at, &header, sizeof(header));
	ring->reserved += words;
	ring->last = (struct mortise_header *)at;
	return ring->last;
}

/* Fill the words up to the end of the ring, so that a packet begins at its first. */
static void pad(struct ring *ring, uint32_t words)
{
	while (words) {
		uint32_t part = words < UINT16_MAX ? words : UINT16_MAX;

		begin(ring, MORTISE_OP_PAD, part);
		words -= part;
	}
}

int ring_reserve(struct ring *ring, uint8_t opcode, size_t size, uint64_t deadline, void **packet)
{
	uint32_t words = (uint32_t)((size + MORTISE_WORD - 1) / MORTISE_WORD), gap = 0, left;
	int err;

	*packet = NULL;
	if (size < sizeof(struct mortise_header) || size > MORTISE_PACKET_MOST * MORTISE_WORD)
		return tenon_error(-TENON_E_VALUE, "%s: a packet has 8 to %u bytes, not %zu",
				   ring->setup.name, MORTISE_PACKET_MOST * MORTISE_WORD, size);
	if (ring_is_lost(ring))
		return ring_lost(ring);
	left = ring->mask + 1 - ((uint32_t)ring->reserved & ring->mask);
	if (words > left)
		gap = left;
	if (!has_room(ring, words + gap)) {
		err = wait_for_room(ring, words + gap, deadline);
		if (err)
			return err;
	}
	pad(ring, gap);
	*packet = begin(ring, opcode, words);
	return 0;
}

uint64_t ring_publish(struct ring *ring)
{
	if (!ring->last)
		return ring->submitted;
	ring->last->flags |= MORTISE_NOTIFY;
	ring->last = NULL;
	__atomic_store_n(&ring->submitted, ring->reserved, __ATOMIC_RELEASE);
	mortise_release(&ring->control->host.head, (uint32_t)ring->reserved);
	ring_wake(ring);
	return ring->reserved;
}

int ring_emit(struct ring *ring, const void *packet, size_t size, uint64_t deadline,
	      uint64_t *sequence)
{
	const struct mortise_header *header = packet;
	uint64_t published;
	void *to;
	int err;

	err = ring_reserve(ring, header->opcode, size, deadline, &to);
	if (err)
		return err;
	memcpy((uint8_t *)to + sizeof(*header), (const uint8_t *)packet + sizeof(*header),
	       size - sizeof(*header));
	published = ring_publish(ring);
	if (sequence)
		*sequence = published;
	return 0;
}
