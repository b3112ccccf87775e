/* SPDX-License-Identifier: MIT */
/* The device's side of the ring: take packets, run them, say what is complete, sleep. */
#include "firmware/core/mortise.h"

#include <tenon/uapi/mortise_order.h>

/* complete packets that device.done may lag behind */
#define BATCH_WORDS 128U

static bool wants_to_end(struct mortise *m)
{
	return m->port->ended && m->port->ended(m);
}

static bool is_overdue(struct mortise *m)
{
	return m->watchdog_ticks && m->port->ticks &&
	       m->port->ticks(m) - m->began > m->watchdog_ticks;
}

enum mortise_end mortise_tick(struct mortise *m)
{
	mortise_beat(m);
	if (mortise_peek(&m->control->host.session) != m->session)
		return MORTISE_ABANDONED;
	return is_overdue(m) ? MORTISE_FAILED : MORTISE_DONE;
}

enum mortise_end mortise_go_on(struct mortise *m)
{
	mortise_beat(m);
	if (wants_to_end(m) || mortise_peek(&m->control->host.session) != m->session)
		return MORTISE_ABANDONED;
	/* with a timer it is the timer that ends packets */
	if (!m->port->arm && is_overdue(m))
		return mortise_fault(m, MORTISE_FAULT_WATCHDOG, 0, 0);
	return MORTISE_DONE;
}

static enum mortise_end run_long(struct mortise *m, struct mortise_header header)
{
	enum mortise_end end;

	/* the host shall not wait for what lies in front of a packet that takes long */
	mortise_publish(m);
	if (m->watchdog_ticks && m->port->ticks)
		m->began = m->port->ticks(m);
	if (m->port->arm)
		m->port->arm(m, true);
	end = mortise_packet(m, header);
	if (m->port->arm)
		m->port->arm(m, false);
	return end;
}

/* Copy the packet at m->at, so that the host cannot change it any more, and check its header. */
static bool take_packet(struct mortise *m, uint32_t head, struct mortise_header *header)
{
	union {
		uint64_t word;
		struct mortise_header header;
	} first;
	uint32_t room = m->ring_mask + 1 - (m->at & m->ring_mask);
	const volatile uint64_t *from = &m->ring[m->at & m->ring_mask];
	uint32_t i;

	first.word = *from;
	*header = first.header;
	mortise_put(&m->control->device.position, m->at);
	mortise_put(&m->control->device.opcode, header->opcode);
	if (header->position != m->at || !header->words || header->words > room ||
	    header->words > head - m->at) {
		mortise_fault(m, MORTISE_FAULT_HEADER, 0, (uint32_t)first.word);
		return false;
	}
	if (header->opcode == MORTISE_OP_PAD)
		return true;
	if (header->words > MORTISE_PACKET_MOST || (header->flags & ~MORTISE_NOTIFY)) {
		mortise_fault(m, MORTISE_FAULT_HEADER, 0, (uint32_t)first.word);
		return false;
	}
	m->packet[0] = first.word;
	for (i = 1; i < header->words; i++)
		m->packet[i] = from[i];
	return true;
}

/* Run one packet; false when the loop has to look at more than the ring. */
static bool run_one(struct mortise *m, uint32_t head)
{
	struct mortise_header header;
	enum mortise_end end;

	if (!take_packet(m, head, &header))
		return false;
	mortise_beat(m);
	end = mortise_takes_long(header.opcode) ? run_long(m, header) : mortise_packet(m, header);
	if (end != MORTISE_DONE)
		return false;
	m->at += header.words;
	if (m->at == head || (header.flags & MORTISE_NOTIFY) || m->at - m->published >= BATCH_WORDS)
		mortise_publish(m);
	return m->state == MORTISE_RUNNING;
}

/* Run what is in the ring; false when there was nothing. */
static bool run_ring(struct mortise *m)
{
	const uint32_t *word = &m->control->host.head;
	uint32_t head;

	/* polling needs no order; what is behind a new head does */
	if (m->state != MORTISE_RUNNING || mortise_peek(word) == m->at)
		return false;
	head = mortise_load(word);
	if (head == m->at)
		return false;
	if (head - m->at > m->ring_mask + 1) {
		mortise_fault(m, MORTISE_FAULT_HEAD, 0, head);
		return true;
	}
	while (m->at != head && run_one(m, head))
		;
	return true;
}

bool mortise_has_work(struct mortise *m)
{
	const struct mortise_request *host = &m->control->host;

	return mortise_load(&host->session) != m->session || wants_to_end(m) ||
	       (m->state == MORTISE_RUNNING && mortise_load(&host->head) != m->at);
}

static void sleep(struct mortise *m)
{
	uint32_t *sleeping = &m->control->completion.sleeping;

	mortise_put(sleeping, 1);
	mortise_fence();
	if (!mortise_has_work(m))
		m->port->sleep(m);
	mortise_put(sleeping, 0);
}

/* Take up another session where the host wants one. */
static bool follow_session(struct mortise *m)
{
	const uint32_t *word = &m->control->host.session;
	uint32_t session;

	/* polling needs no order; the setup behind a new number does */
	if (mortise_peek(word) == m->session)
		return false;
	session = mortise_load(word);
	if (session != m->session)
		mortise_change_session(m, session);
	return true;
}

void mortise_loop(struct mortise *m)
{
	uint32_t idle = 0;

	while (!wants_to_end(m)) {
		if (follow_session(m))
			idle = 0;
		if (run_ring(m)) {
			idle = 0;
			continue;
		}
		mortise_beat(m);
		if (m->port->relax)
			m->port->relax(m);
		if (++idle < m->port->idle_polls || !m->port->sleep)
			continue;
		sleep(m);
		idle = 0;
	}
}
