/* SPDX-License-Identifier: MIT */
/* The portable core of mortise, as ports to boards and its own files see it. */
#ifndef FIRMWARE_CORE_MORTISE_H
#define FIRMWARE_CORE_MORTISE_H

/*
 * A port fills in struct mortise_port, calls mortise_boot() once and then mortise_loop(), which returns only when the
 * port says so. The core allocates nothing, calls no library, and keeps its state in struct mortise, so that a
 * process can run several. What the host writes is copied before it is checked.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/uapi/mortise.h>

/* 0.1.0, for struct mortise_identity */
#define MORTISE_VERSION (0 << 16 | 1 << 8 | 0)

struct mortise;

/**
 * struct mortise_port - what a board does for the core
 * @machine: enum mortise_machine
 * @features: mask of enum mortise_feature
 * @tick_hz: of @ticks
 * @idle_polls: how often to look for work before sleeping
 * @window_address: address of the window
 * @window_size: bytes of it
 * @ticks: the clock; NULL where there is none
 * @sleep: sleep until the doorbell rings, unless mortise_has_work() says no with interrupts held back; NULL: poll
 * @interrupt: interrupt the host; NULL: it polls
 * @arm: a packet that may take long begins (true) or has ended: while it runs, call mortise_tick() now and
 *	then from a timer, and end the packet by mortise_stop_packet() when that says so. NULL: the core looks at @ticks
 *	where it can
 * @fence_code: what was written to memory before is what is executed behind it
 * @relax: be kind to the other threads of a core that polls; may be NULL
 * @ended: the loop shall return; NULL: never
 * @stop: MORTISE_OP_SHUTDOWN: end the board; may return
 */
struct mortise_port {
	uint32_t machine;
	uint32_t features;
	uint32_t tick_hz;
	uint32_t idle_polls;
	uint64_t window_address;
	uint64_t window_size;
	uint64_t (*ticks)(struct mortise *m);
	void (*sleep)(struct mortise *m);
	void (*interrupt)(struct mortise *m);
	void (*arm)(struct mortise *m, bool on);
	void (*fence_code)(void);
	void (*relax)(struct mortise *m);
	bool (*ended)(struct mortise *m);
	void (*stop)(struct mortise *m);
};

/* what became of a packet */
enum mortise_end {
	MORTISE_DONE,
	MORTISE_FAILED,	   /* mortise_fault() was called */
	MORTISE_ABANDONED, /* the host wants another session, or the port wants to end */
};

/**
 * struct mortise - the state of the firmware
 * @port: the board
 * @control: the control block
 * @ring: the session's ring
 * @ring_mask: its words, less 1
 * @at: position of the next packet
 * @published: what device.done holds
 * @session: the host's number; 0 without a session
 * @state: enum mortise_state
 * @heartbeat: what device.heartbeat holds
 * @answered: the host.waiting that was interrupted last
 * @watchdog_ticks: ticks that a packet may take; 0 for any number
 * @began: ticks when the packet began
 * @region_count: of @regions
 * @packet: the packet that runs: what was checked is what is used
 * @values: the arguments of a call
 */
struct mortise {
	const struct mortise_port *port;
	struct mortise_control *control;
	const volatile uint64_t *ring;
	uint32_t ring_mask;
	uint32_t at;
	uint32_t published;
	uint32_t session;
	uint32_t state;
	uint32_t heartbeat;
	uint32_t answered;
	uint64_t watchdog_ticks;
	uint64_t began;
	uint32_t region_count;
	struct mortise_region regions[MORTISE_REGION_COUNT];
	uint64_t packet[MORTISE_PACKET_MOST];
	uint64_t values[MORTISE_ARGUMENT_COUNT];
};

/* ---- for ports */

/* write who the device is, and wait for a session */
void mortise_boot(struct mortise *m, const struct mortise_port *port);

/* run until the port wants to end; also called again after mortise_stop_packet() */
void mortise_loop(struct mortise *m);

/* is there something to do, so that sleeping would be wrong */
bool mortise_has_work(struct mortise *m);

/*
 * A timer of the port, while a packet runs. MORTISE_DONE: let it run; MORTISE_FAILED: it runs too long;
 * MORTISE_ABANDONED: the session is over.
 */
enum mortise_end mortise_tick(struct mortise *m);

/*
 * From a trap or a timer: the packet that runs is over. @code 0 when only the session is; else the fault. The port
 * then drops the stack and calls mortise_loop().
 */
void mortise_stop_packet(struct mortise *m, uint32_t code, uint64_t address, uint32_t detail,
			 uint64_t pc);

/* ---- inside */

/* session.c */
void mortise_change_session(struct mortise *m, uint32_t session);
enum mortise_end mortise_fault(struct mortise *m, uint32_t code, uint64_t address, uint32_t detail);
enum mortise_end mortise_bad_field(struct mortise *m, size_t field);
void mortise_beat(struct mortise *m);
void mortise_notify(struct mortise *m);
void mortise_publish(struct mortise *m);

/* loop.c: something that takes long looks here now and then: MORTISE_DONE to go on */
enum mortise_end mortise_go_on(struct mortise *m);

/* packet.c */
enum mortise_end mortise_packet(struct mortise *m, struct mortise_header header);
bool mortise_takes_long(uint32_t opcode);

/*
 * range.c: @size bytes at @address, in one region with @access, @align-ed. NULL after a fault. The second is for
 * rows of @width bytes, @stride apart.
 */
void *mortise_range(struct mortise *m, uint64_t address, uint64_t size, uint32_t access,
		    uint32_t align);
void *mortise_rows(struct mortise *m, uint64_t address, uint32_t rows, uint32_t stride,
		   uint64_t width, uint32_t access, uint32_t align);
bool mortise_setup_region(struct mortise *m, const struct mortise_region *region);
bool mortise_apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size);

/* built-in operations, on memory that was checked */
void mortise_move(uint8_t *to, const uint8_t *from, size_t size);
void mortise_repeat(uint8_t *to, size_t size, uint64_t pattern, uint32_t width);
void mortise_elements(const struct mortise_vector *p, void *to, const void *a, const void *b);
void mortise_gemm_row(const struct mortise_gemm *p, void *to, const int8_t *a, const int8_t *b,
		      const int32_t *bias);

/* packets of a file of their own */
enum mortise_end mortise_run_copy(struct mortise *m, const void *packet);
enum mortise_end mortise_run_fill(struct mortise *m, const void *packet);
enum mortise_end mortise_run_call(struct mortise *m, const void *packet);
enum mortise_end mortise_run_vector(struct mortise *m, const void *packet);
enum mortise_end mortise_run_gemm(struct mortise *m, const void *packet);
enum mortise_end mortise_run_selftest(struct mortise *m, const void *packet);

#endif /* FIRMWARE_CORE_MORTISE_H */
