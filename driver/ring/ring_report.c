/* SPDX-License-Identifier: MIT */
/* What the device last did: for the messages of failures, and for callers that ask. */
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/uapi/mortise_order.h>

#include "driver/ring/ring_private.h"
#include "lib/brief_errors.h"
#include "lib/clock.h"

/* Fetch each word of a struct that the device writes once. */
static void fetch_words(void *to, const void *from, size_t size)
{
	const uint32_t *word = from;
	size_t i;

	for (i = 0; i < size / sizeof(*word); i++) {
		uint32_t value = mortise_load(&word[i]);

		memcpy((uint8_t *)to + i * sizeof(value), &value, sizeof(value));
	}
}

/*
 * Make a 64-bit sequence of the 32 bits that the device reports: the one that is nearest to @completed, the last that was
 * seen complete. The device may report any number, so the result may not be near the truth.
 */
static uint64_t extend(uint64_t completed, uint32_t position)
{
	int32_t distance = (int32_t)(position - (uint32_t)completed);

	return distance < 0 && completed < (uint64_t) - (int64_t)distance
		       ? position
		       : completed + (uint64_t)(int64_t)distance;
}

/*
 * The word behind a packet's header, which is an address in all packets that have one. The ring's bytes are the host's,
 * but the device may name any place of it. The producer does not touch packets that are published and not complete.
 */
static uint64_t address_of(const struct ring *ring, const struct ring_report *r)
{
	const uint64_t *at = &ring->words[(uint32_t)r->running & ring->mask];
	struct mortise_header header;
	uint64_t address;

	if (r->running < r->completed || r->running >= r->submitted ||
	    r->submitted - r->running > ring->mask || at == ring->words + ring->mask)
		return 0;
	memcpy(&header, at, sizeof(header));
	if (header.position != (uint32_t)r->running || header.opcode == MORTISE_OP_PAD ||
	    header.words < 2)
		return 0;
	memcpy(&address, at + 1, sizeof(address));
	return address;
}

void ring_report(struct ring *ring, struct ring_report *report)
{
	const struct mortise_control *control = ring->control;

	memset(report, 0, sizeof(*report));
	fetch_words(&report->identity, &control->identity, sizeof(report->identity));
	report->loss = __atomic_load_n(&ring->loss, __ATOMIC_RELAXED);
	report->state = mortise_load(&control->device.state);
	report->opcode = mortise_peek(&control->device.opcode);
	report->completed = __atomic_load_n(&ring->completed, __ATOMIC_ACQUIRE);
	report->submitted = __atomic_load_n(&ring->submitted, __ATOMIC_ACQUIRE);
	report->running = extend(report->completed, mortise_peek(&control->device.position));
	report->address = address_of(ring, report);
	report->asleep = mortise_peek(&control->completion.sleeping);
	report->heartbeat_age =
		clock_now() - __atomic_load_n(&ring->heartbeat_at, __ATOMIC_RELAXED);
	if (report->state == MORTISE_FAULTED)
		fetch_words(&report->fault, &control->fault, sizeof(report->fault));
}

static const char *name_of(const char *const *names, uint32_t count, uint32_t i)
{
	return i < count && names[i] ? names[i] : "unknown";
}

#define NAME_OF(names, i) name_of(names, sizeof(names) / sizeof(names[0]), i)

static const char *opcode_name(uint32_t opcode)
{
	static const char *const names[] = {
		[MORTISE_OP_PAD] = "pad",
		[MORTISE_OP_COPY] = "copy",
		[MORTISE_OP_FILL] = "fill",
		[MORTISE_OP_CALL] = "call",
		[MORTISE_OP_WAIT] = "wait",
		[MORTISE_OP_SIGNAL] = "signal",
		[MORTISE_OP_TIMESTAMP] = "timestamp",
		[MORTISE_OP_BARRIER] = "barrier",
		[MORTISE_OP_VECTOR] = "vector",
		[MORTISE_OP_GEMM] = "gemm",
		[MORTISE_OP_SELFTEST] = "selftest",
		[MORTISE_OP_SHUTDOWN] = "shutdown",
	};

	return NAME_OF(names, opcode);
}

static const char *fault_name(uint32_t code)
{
	static const char *const names[] = {
		[MORTISE_FAULT_NONE] = "no fault recorded",
		[MORTISE_FAULT_SETUP] = "the session's setup is wrong",
		[MORTISE_FAULT_HEAD] = "the ring's head is further ahead than the ring is long",
		[MORTISE_FAULT_HEADER] = "the packet's header is wrong",
		[MORTISE_FAULT_OPCODE] = "the device has no such packet",
		[MORTISE_FAULT_FIELD] = "a field of the packet is out of range",
		[MORTISE_FAULT_ADDRESS] = "the address is in no region that allows the access",
		[MORTISE_FAULT_KERNEL] = "the called function failed",
		[MORTISE_FAULT_WATCHDOG] = "the packet ran longer than the watchdog allows",
		[MORTISE_FAULT_TRAP] = "the core trapped",
		[MORTISE_FAULT_SELFTEST] = "the self test failed",
	};

	return NAME_OF(names, code);
}

/* "sequence 40 of 48 complete, last packet copy at 40, address 0x…, heartbeat seen 3 ms ago, firmware 0.1.0" */
static void describe_progress(const struct ring_report *r, char *text, size_t size)
{
	uint32_t version = r->identity.version;

	snprintf(text, size,
		 "sequence %llu of %llu complete, last packet %s at %llu, address 0x%llx, "
		 "heartbeat seen %llu ms ago%s, "
		 "firmware %u.%u.%u",
		 (unsigned long long)r->completed, (unsigned long long)r->submitted,
		 opcode_name(r->opcode), (unsigned long long)r->running,
		 (unsigned long long)r->address, (unsigned long long)(r->heartbeat_age / 1000000),
		 r->asleep ? " (asleep)" : "", version >> 16 & 0xff, version >> 8 & 0xff,
		 version & 0xff);
}

static int faulted(struct ring *ring, const struct ring_report *r, const char *device)
{
	const struct mortise_fault *f = &r->fault;

	return tenon_error(-TENON_E_DEVICE,
			   "%s: %s at sequence %llu: %s (fault %u, detail 0x%x, address 0x%llx, pc "
			   "0x%llx); %s; "
			   "begin a new session",
			   ring->setup.name, opcode_name(f->opcode),
			   (unsigned long long)extend(r->completed, f->position),
			   fault_name(f->code), f->code, f->detail, (unsigned long long)f->address,
			   (unsigned long long)f->pc, device);
}

int ring_lost(struct ring *ring)
{
	static const char *const losses[] = {
		[RING_ALIVE] = "the session is alive",
		[RING_RESTARTED] = "the firmware restarted, or another host took the device",
		[RING_SILENT] = "the firmware stands still",
		[RING_GARBAGE] = "the device wrote what no firmware writes",
		[RING_STOPPED] = "the firmware was shut down",
	};
	struct ring_report r;
	char device[256];

	ring_report(ring, &r);
	describe_progress(&r, device, sizeof(device));
	if (r.loss == RING_FAULTED)
		return faulted(ring, &r, device);
	return tenon_error(-TENON_E_LOST, "%s: %s; %s; reset the device", ring->setup.name,
			   NAME_OF(losses, r.loss), device);
}

int ring_explain(struct ring *ring, int status)
{
	char what[256], device[256];
	struct ring_report r;

	ring_report(ring, &r);
	describe_progress(&r, device, sizeof(device));
	snprintf(what, sizeof(what), "%s", tenon_error_message());
	return tenon_error(status, "%s; %s", what, device);
}

int ring_timed_out(struct ring *ring, const char *what, uint64_t sequence)
{
	struct ring_report r;
	char device[256];

	ring_report(ring, &r);
	describe_progress(&r, device, sizeof(device));
	return tenon_error(-TENON_E_TIMEOUT, "%s: %s of sequence %llu in time; %s",
			   ring->setup.name, what, (unsigned long long)sequence, device);
}
