/* SPDX-License-Identifier: MIT */
/* The table of packets, and those that are a few lines each. */
#include "firmware/core/mortise.h"

#include <tenon/uapi/mortise_order.h>

static enum mortise_end run_pad(struct mortise *m, const void *packet)
{
	return MORTISE_DONE;
}

static enum mortise_end run_wait(struct mortise *m, const void *packet)
{
	const struct mortise_semaphore *p = packet;
	const uint32_t *word = mortise_range(m, p->address, 4, MORTISE_READ, 4);
	enum mortise_end end = MORTISE_DONE;

	if (!word)
		return MORTISE_FAILED;
	if (p->reserved)
		return mortise_bad_field(m, offsetof(struct mortise_semaphore, reserved));
	while (end == MORTISE_DONE && (int32_t)(mortise_load(word) - p->value) < 0) {
		if (m->port->relax)
			m->port->relax(m);
		end = mortise_go_on(m);
	}
	return end;
}

static enum mortise_end run_signal(struct mortise *m, const void *packet)
{
	const struct mortise_semaphore *p = packet;
	uint32_t *word = mortise_range(m, p->address, 4, MORTISE_WRITE, 4);

	if (!word)
		return MORTISE_FAILED;
	if (p->reserved)
		return mortise_bad_field(m, offsetof(struct mortise_semaphore, reserved));
	mortise_release(word, p->value);
	return MORTISE_DONE;
}

static enum mortise_end run_timestamp(struct mortise *m, const void *packet)
{
	const struct mortise_timestamp *p = packet;
	uint64_t *to = mortise_range(m, p->address, 8, MORTISE_WRITE, 8);

	if (!to)
		return MORTISE_FAILED;
	*to = m->port->ticks(m);
	return MORTISE_DONE;
}

static enum mortise_end run_barrier(struct mortise *m, const void *packet)
{
	mortise_fence();
	m->port->fence_code();
	return MORTISE_DONE;
}

static enum mortise_end run_shutdown(struct mortise *m, const void *packet)
{
	m->at++;
	m->published = m->at;
	m->state = MORTISE_STOPPED;
	mortise_release(&m->control->completion.done, m->at);
	mortise_release(&m->control->device.state, MORTISE_STOPPED);
	mortise_notify(m);
	if (m->port->stop)
		m->port->stop(m);
	return MORTISE_ABANDONED;
}

/* words: size of the packet; 0 for any. feature: without which there is no such packet. */
static const struct opcode {
	enum mortise_end (*run)(struct mortise *m, const void *packet);
	uint8_t words;
	uint8_t feature;
	bool takes_long;
} opcodes[MORTISE_OP_COUNT] = {
	[MORTISE_OP_PAD] = { run_pad, 0, 0, false },
	[MORTISE_OP_COPY] = { mortise_run_copy, sizeof(struct mortise_copy) / 8, 0, true },
	[MORTISE_OP_FILL] = { mortise_run_fill, sizeof(struct mortise_fill) / 8, 0, true },
	[MORTISE_OP_CALL] = { mortise_run_call, 0, MORTISE_FEATURE_CALL, true },
	[MORTISE_OP_WAIT] = { run_wait, sizeof(struct mortise_semaphore) / 8, 0, true },
	[MORTISE_OP_SIGNAL] = { run_signal, sizeof(struct mortise_semaphore) / 8, 0, false },
	[MORTISE_OP_TIMESTAMP] = { run_timestamp, sizeof(struct mortise_timestamp) / 8,
				   MORTISE_FEATURE_TIMESTAMP, false },
	[MORTISE_OP_BARRIER] = { run_barrier, 1, 0, false },
	[MORTISE_OP_VECTOR] = { mortise_run_vector, sizeof(struct mortise_vector) / 8, 0, true },
	[MORTISE_OP_GEMM] = { mortise_run_gemm, sizeof(struct mortise_gemm) / 8, 0, true },
	[MORTISE_OP_SELFTEST] = { mortise_run_selftest, sizeof(struct mortise_selftest) / 8, 0,
				  true },
	[MORTISE_OP_SHUTDOWN] = { run_shutdown, 1, 0, false },
};

bool mortise_takes_long(uint32_t opcode)
{
	return opcode < MORTISE_OP_COUNT && opcodes[opcode].takes_long;
}

enum mortise_end mortise_packet(struct mortise *m, struct mortise_header header)
{
	const struct opcode *op;

	if (header.opcode >= MORTISE_OP_COUNT)
		return mortise_fault(m, MORTISE_FAULT_OPCODE, 0, header.opcode);
	op = &opcodes[header.opcode];
	if ((op->feature & m->port->features) != op->feature)
		return mortise_fault(m, MORTISE_FAULT_OPCODE, 0, header.opcode);
	if (op->words && op->words != header.words)
		return mortise_bad_field(m, offsetof(struct mortise_header, words));
	return op->run(m, m->packet);
}
