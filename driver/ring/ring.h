/* SPDX-License-Identifier: MIT */
/* The host's side of mortise's ring: sessions, packets, waits and losses. */
#ifndef DRIVER_RING_H
#define DRIVER_RING_H

/*
 * Sessions, packets and waits as <tenon/uapi/mortise.h> describes them, over memory that the caller mapped
 * (driver/shm) and a board that can be woken and reset (struct ring_port). Sequence numbers here have 64
 * bits: a position of the ring, extended.
 *
 * Everything that the device writes is fetched once and checked; a device can make calls here fail, and
 * nothing else. Failures are sorted:
 *
 * ==================  ==================================================================================
 * -TENON_E_TIMEOUT    the deadline of a wait passed; the device may still complete the work
 * -TENON_E_DEVICE     the device stopped with a fault record (enum ring_loss RING_FAULTED)
 * -TENON_E_LOST       the session is over: the device restarted, stands still, or wrote nonsense
 * -TENON_E_UNSUPPORTED  another ABI, or a feature that the device does not have
 * ==================  ==================================================================================
 *
 * After the last three the ring accepts nothing but ring_restart() and ring_close(). Messages say what the
 * device last did: sequence, opcode, address, age of the heartbeat, version of the firmware.
 *
 * Threads: ring_reserve(), ring_publish(), ring_emit() by one thread at a time. ring_completed(), ring_wait(),
 * ring_report() by any at any time. ring_restart() and ring_close() while no other call is on its way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/uapi/mortise.h>

/* a deadline (absolute nanoseconds of CLOCK_MONOTONIC, lib/clock.h) that never passes, one that has */
#define RING_FOREVER UINT64_MAX
#define RING_NOW     0

/**
 * struct ring_port - what a board does for its ring
 * @context: handed to each function
 * @doorbell: wake the device from its sleep. Must not block. NULL: the device needs none to wake
 * @sleep: wait until the device interrupts, or @deadline passes; may come back early. One thread at a time.
 *	NULL: the device cannot interrupt, and waits poll with growing pauses
 */
struct ring_port {
	void *context;
	void (*doorbell)(void *context);
	void (*sleep)(void *context, uint64_t deadline);
};

/**
 * struct ring_setup - how a session is to be
 * @name: of the device, for messages ("mortise://rv64"); must outlive the ring
 * @window: the shared memory, mapped; struct mortise_control lies at MORTISE_CONTROL_OFFSET
 * @window_size: bytes of it
 * @window_address: the device's address of it
 * @ring_offset: of the ring in the window, a multiple of 64, not below MORTISE_SHARED_OFFSET
 * @ring_words: size of the ring: a power of two, MORTISE_RING_LEAST to MORTISE_RING_MOST
 * @ring_start: first position; for tests of wrapping
 * @watchdog_ms: a packet that runs longer faults the device; 0 for no limit
 * @silence_ms: the device counts as lost after its heartbeat stood still for so long while there is work;
 *	0 for 2000, or 20000 on a device without a timer, whose heartbeat stands still while a function runs
 * @spin_ns: how long waits poll before they sleep; 0 for 20000
 * @regions: @region_count of them, that packets may name
 */
struct ring_setup {
	const char *name;
	uint8_t *window;
	uint64_t window_size;
	uint64_t window_address;
	uint64_t ring_offset;
	uint32_t ring_words;
	uint32_t ring_start;
	uint32_t watchdog_ms;
	uint32_t silence_ms;
	uint32_t spin_ns;
	uint32_t region_count;
	struct mortise_region regions[MORTISE_REGION_COUNT];
};

/* enum ring_loss - what became of the session */
enum ring_loss {
	RING_ALIVE = 0,
	RING_FAULTED, /* a fault record: struct ring_report.fault (job fault, context lost) */
	RING_RESTARTED, /* the firmware began anew, or another host took the device (remote crashed) */
	RING_SILENT,	/* no heartbeat (device lost) */
	RING_GARBAGE, /* the device wrote an invalid value (device lost) */
	RING_STOPPED, /* after MORTISE_OP_SHUTDOWN */
};

/**
 * struct ring_report - what the device says of itself, fetched once
 * @identity: firmware, machine and features of the device
 * @loss: what became of the session
 * @state: enum mortise_state
 * @opcode: of the packet that it runs or ran last
 * @running: sequence of that packet's begin
 * @address: that the packet names first; 0 for none, and when it is complete
 * @submitted: sequence of the last published packet
 * @completed: sequence of the last complete one
 * @heartbeat_age: nanoseconds since a wait or ring_completed() last saw the heartbeat change
 * @asleep: the device waits for its doorbell; its heartbeat stands still then
 * @fault: the record; code MORTISE_FAULT_NONE without one
 */
struct ring_report {
	struct mortise_identity identity;
	enum ring_loss loss;
	uint32_t state;
	uint32_t opcode;
	uint64_t running;
	uint64_t address;
	uint64_t submitted;
	uint64_t completed;
	uint64_t heartbeat_age;
	bool asleep;
	struct mortise_fault fault;
};

struct ring;

/**
 * ring_open - begin a session with the firmware
 * @port: the board; copied
 * @setup: how the session is to be; copied
 * @deadline: until when the device has to answer; a board that boots needs its time
 * @out: the ring; NULL on failure
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_VALUE for a setup out of range; -TENON_E_TIMEOUT when the device does not
 *	answer; -TENON_E_UNSUPPORTED for another ABI; -TENON_E_DEVICE when it refuses the setup.
 */
int ring_open(const struct ring_port *port, const struct ring_setup *setup, uint64_t deadline,
	      struct ring **out);

/**
 * ring_restart - begin a new session, after a loss or to drop what is queued
 * @ring: the ring; no other thread may use it meanwhile
 * @deadline: until when the device has to answer
 *
 * The regions stay. Sequence numbers go on: what was queued counts as never completed, so waits for
 * sequences of the old session fail with -TENON_E_LOST.
 *
 * Return: as ring_open(). On -TENON_E_TIMEOUT reset the board and call it again.
 */
int ring_restart(struct ring *ring, uint64_t deadline);

/**
 * ring_end - end the session, without waiting for the device; any thread
 * @ring: the ring
 *
 * A device with a timer then gives up the packet that it runs. A session of another host, which took the device over, is
 * left alone.
 */
void ring_end(struct ring *ring);

/**
 * ring_close - end the session, without waiting for the device, and free the ring
 * @ring: the ring, or NULL
 */
void ring_close(struct ring *ring);

/**
 * ring_reserve - room for one packet
 * @ring: the ring
 * @opcode: enum mortise_opcode
 * @size: bytes of the packet with its header: rounded up to words, at most MORTISE_PACKET_MOST of them
 * @deadline: until when to wait for room; RING_NOW not to wait
 * @packet: the packet, in the ring's memory: write only. Its header is filled in
 *
 * The device does not see the packet before ring_publish(). Each further ring_reserve() closes the one before.
 *
 * Return: 0; -TENON_E_VALUE; -TENON_E_TIMEOUT when there is no room; -TENON_E_DEVICE, -TENON_E_LOST.
 */
int ring_reserve(struct ring *ring, uint8_t opcode, size_t size, uint64_t deadline, void **packet);

/**
 * ring_publish - show the device all packets that were reserved, and wake it if it sleeps
 * @ring: the ring
 *
 * The last packet gets MORTISE_NOTIFY. Never waits.
 *
 * Return: the sequence number behind the last packet: what ring_wait() takes.
 */
uint64_t ring_publish(struct ring *ring);

/**
 * ring_emit - copy a packet to the ring, and publish it
 * @ring: the ring
 * @packet: the packet; its header needs an opcode only
 * @size: bytes
 * @deadline: until when to wait for room
 * @sequence: what ring_wait() takes; may be NULL
 *
 * Return: as ring_reserve().
 */
int ring_emit(struct ring *ring, const void *packet, size_t size, uint64_t deadline,
	      uint64_t *sequence);

/**
 * ring_completed - the sequence number behind the last packet that is complete
 * @ring: the ring
 * @sequence: receives it; the last that is known also on failure
 *
 * Looks once, does not wait, and reads two cache lines of the device at most.
 *
 * Return: 0; -TENON_E_DEVICE, -TENON_E_LOST when the session is over.
 */
int ring_completed(struct ring *ring, uint64_t *sequence);

/**
 * ring_wait - wait until a packet is complete
 * @ring: the ring
 * @sequence: as ring_publish() gave it
 * @deadline: when to give up
 *
 * Polls for struct ring_setup.spin_ns, then sleeps in the port. A packet that completed before the device was
 * lost is complete.
 *
 * Return: 0; -TENON_E_USAGE when it was never published; -TENON_E_TIMEOUT; -TENON_E_DEVICE, -TENON_E_LOST.
 */
int ring_wait(struct ring *ring, uint64_t sequence, uint64_t deadline);

/**
 * ring_explain - add what the device last did to the thread's error
 * @ring: the ring
 * @status: of the error, returned
 */
int ring_explain(struct ring *ring, int status);

/** ring_report - fetch what is known of the device; never waits or fails */
void ring_report(struct ring *ring, struct ring_report *report);

#endif /* DRIVER_RING_H */
