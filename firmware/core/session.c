/* SPDX-License-Identifier: MIT */
/* How sessions begin and end: the control block. */
#include "firmware/core/mortise.h"

#include <tenon/uapi/mortise_order.h>

void mortise_beat(struct mortise *m)
{
	mortise_put(&m->control->device.heartbeat, ++m->heartbeat);
}

/* Behind a write of device.done or device.state: interrupt a host that sleeps for it. */
void mortise_notify(struct mortise *m)
{
	const struct mortise_request *host = &m->control->host;
	uint32_t waiting, wanted;

	mortise_fence();
	waiting = mortise_load(&host->waiting);
	if (!waiting || waiting == m->answered || !m->port->interrupt)
		return;
	wanted = mortise_peek(&host->wanted);
	if (m->state == MORTISE_RUNNING && (int32_t)(m->published - wanted) < 0)
		return;
	m->answered = waiting;
	m->port->interrupt(m);
}

void mortise_publish(struct mortise *m)
{
	if (m->published == m->at)
		return;
	m->published = m->at;
	mortise_release(&m->control->completion.done, m->at);
	mortise_notify(m);
}

static void set_state(struct mortise *m, uint32_t state)
{
	m->state = state;
	mortise_release(&m->control->device.state, state);
	mortise_notify(m);
}

static void write_fault(struct mortise *m, uint32_t code, uint64_t address, uint32_t detail,
			uint64_t pc)
{
	struct mortise_fault *fault = &m->control->fault;

	/* a host that sees the fault also sees what was complete before it */
	mortise_publish(m);
	fault->code = code;
	fault->opcode = mortise_peek(&m->control->device.opcode);
	fault->position = m->at;
	fault->detail = detail;
	fault->address = address;
	fault->pc = pc;
	set_state(m, MORTISE_FAULTED);
}

enum mortise_end mortise_fault(struct mortise *m, uint32_t code, uint64_t address, uint32_t detail)
{
	write_fault(m, code, address, detail, 0);
	return MORTISE_FAILED;
}

enum mortise_end mortise_bad_field(struct mortise *m, size_t field)
{
	return mortise_fault(m, MORTISE_FAULT_FIELD, 0, (uint32_t)field);
}

void mortise_stop_packet(struct mortise *m, uint32_t code, uint64_t address, uint32_t detail,
			 uint64_t pc)
{
	if (m->port->arm)
		m->port->arm(m, false);
	if (code)
		write_fault(m, code, address, detail, pc);
}

/* A word of the setup, fetched once. */
static uint32_t fetch(const uint32_t *word)
{
	return *(const volatile uint32_t *)word;
}

static uint64_t fetch_long(const uint64_t *word)
{
	return *(const volatile uint64_t *)word;
}

/* Take the ring; returns enum mortise_setup_error, or 0. */
static uint32_t take_ring(struct mortise *m, const struct mortise_setup *setup, uint64_t *address)
{
	const struct mortise_port *port = m->port;
	uint32_t words = fetch(&setup->ring_words);
	uint64_t offset;

	*address = fetch_long(&setup->ring_address);
	if (words < MORTISE_RING_LEAST || words > MORTISE_RING_MOST || (words & (words - 1)))
		return MORTISE_SETUP_RING_SIZE;
	offset = *address - port->window_address;
	if (*address < port->window_address || offset % 64 || offset < MORTISE_SHARED_OFFSET ||
	    offset > port->window_size || port->window_size - offset < words * MORTISE_WORD)
		return MORTISE_SETUP_RING_PLACE;
	m->ring = (const volatile uint64_t *)(uintptr_t)*address;
	m->ring_mask = words - 1;
	m->at = fetch(&setup->ring_start);
	if (mortise_peek(&m->control->host.head) != m->at)
		return MORTISE_SETUP_RING_START;
	return 0;
}

static uint32_t take_regions(struct mortise *m, const struct mortise_setup *setup, uint64_t ring,
			     uint64_t *address)
{
	uint32_t count = fetch(&setup->region_count), i;

	if (count > MORTISE_REGION_COUNT)
		return MORTISE_SETUP_REGION_COUNT;
	for (i = 0; i < count; i++) {
		struct mortise_region *r = &m->regions[i];

		r->address = *address = fetch_long(&setup->regions[i].address);
		r->size = fetch_long(&setup->regions[i].size);
		r->access = fetch(&setup->regions[i].access);
		r->reserved = fetch(&setup->regions[i].reserved);
		if (!mortise_setup_region(m, r) ||
		    !mortise_apart(r->address, r->size, ring, (m->ring_mask + 1) * MORTISE_WORD))
			return MORTISE_SETUP_REGION;
	}
	m->region_count = count;
	return 0;
}

static uint32_t take_setup(struct mortise *m, uint64_t *address)
{
	const struct mortise_setup *setup = &m->control->setup;
	uint64_t ring;
	uint32_t error;

	*address = 0;
	if (fetch(&setup->magic) != MORTISE_MAGIC)
		return MORTISE_SETUP_MAGIC;
	if (fetch(&setup->abi) >> 16 != MORTISE_ABI_MAJOR)
		return MORTISE_SETUP_ABI;
	error = take_ring(m, setup, address);
	if (error)
		return error;
	ring = *address;
	m->watchdog_ticks = (uint64_t)fetch(&setup->watchdog_ms) * (m->port->tick_hz / 1000);
	return take_regions(m, setup, ring, address);
}

static void begin_session(struct mortise *m)
{
	uint64_t address;
	uint32_t error = take_setup(m, &address);

	if (error) {
		mortise_fault(m, MORTISE_FAULT_SETUP, address, error);
		return;
	}
	m->published = m->at;
	mortise_release(&m->control->completion.done, m->at);
	set_state(m, MORTISE_RUNNING);
}

void mortise_change_session(struct mortise *m, uint32_t session)
{
	struct mortise_status *device = &m->control->device;

	if (m->state == MORTISE_STOPPED)
		return;
	/* in front of all else: a host that sees what follows also sees that its session is over */
	mortise_put(&device->session, 0);
	m->session = session;
	m->region_count = 0;
	mortise_put(&m->control->fault.code, MORTISE_FAULT_NONE);
	mortise_put(&device->opcode, MORTISE_OP_PAD);
	if (session)
		begin_session(m);
	else
		set_state(m, MORTISE_READY);
	mortise_put(&device->position, m->at);
	mortise_release(&device->session, session);
	mortise_notify(m);
}

static void put_wide(uint64_t *to, uint64_t value)
{
	const union {
		uint64_t value;
		uint32_t words[2];
	} parts = { value };

	mortise_put((uint32_t *)to, parts.words[0]);
	mortise_put((uint32_t *)to + 1, parts.words[1]);
}

/* Each word at once: a host that reports how the session before a reboot was lost may be reading them. */
static void identify(struct mortise_identity *id, const struct mortise_port *port)
{
	mortise_put(&id->abi, MORTISE_ABI);
	mortise_put(&id->machine, port->machine);
	mortise_put(&id->address_bits, 8 * sizeof(void *));
	mortise_put(&id->features, port->features);
	mortise_put(&id->version, MORTISE_VERSION);
	mortise_put(&id->tick_hz, port->tick_hz);
	mortise_put(&id->reserved, 0);
	put_wide(&id->window_address, port->window_address);
	put_wide(&id->window_size, port->window_size);
}

void mortise_boot(struct mortise *m, const struct mortise_port *port)
{
	struct mortise_identity *id;

	m->port = port;
	m->control = (struct mortise_control *)(uintptr_t)(port->window_address +
							   MORTISE_CONTROL_OFFSET);
	/* what an older host left in memory is not a request */
	m->session = mortise_load(&m->control->host.session);
	m->region_count = 0;
	m->at = m->published = m->answered = 0;
	id = &m->control->identity;
	mortise_put(&id->magic, 0);
	mortise_release(&m->control->device.session, 0);
	mortise_put(&m->control->completion.sleeping, 0);
	/* behind the session: a host that sees 0 here sees that its session is over */
	mortise_release(&m->control->completion.done, 0);
	mortise_put(&m->control->fault.code, MORTISE_FAULT_NONE);
	identify(id, port);
	set_state(m, MORTISE_READY);
	mortise_release(&id->magic, MORTISE_MAGIC);
}
