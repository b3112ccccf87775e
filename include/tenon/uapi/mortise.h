/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_MORTISE_H
#define TENON_UAPI_MORTISE_H

/**
 * DOC: mortise, the contract between a host and the firmware of a small core
 *
 * Host and device share one *window* of memory. The first MORTISE_CONTROL_OFFSET bytes belong to the
 * firmware (a board may run its image there). Then comes struct mortise_control, at a fixed place, so that a
 * host needs no description to find it. All else (the ring, tensors, code) is laid out by the host. Addresses
 * in packets are addresses of the device: the device's address of the window plus an offset in it. Integers
 * are little-endian; fields lie at their natural alignment and have the same offsets on 32 and 64-bit cores.
 *
 * A word that one side writes and the other reads is 32 bits wide, which every core loads and stores at
 * once; <tenon/uapi/mortise_order.h> has the loads, stores and fences. A reader fetches such a word once,
 * into memory of its own, and checks that copy.
 *
 * Session: the host writes 0 to host.session and waits until device.session is 0. It fills in host.setup
 * and sets host.head to setup.ring_start, then writes a fresh number, not 0, to host.session. The device
 * copies the setup, checks it, and answers with the same number in device.session; device.state then is
 * MORTISE_RUNNING or MORTISE_FAULTED. The host takes a number that a stale file cannot hold: a random one.
 * A device that takes up another session writes 0 to device.session first, in front of all else that changes with it.
 * A device that restarts begins with device.session 0, so the host sees that its session has ended; a number that it
 * finds in host.session then is of an older host, and it waits for another. A change of
 * host.session ends the session at any time, also while a packet runs where the device has a timer.
 *
 * Ring: a single-producer queue of packets, each a multiple of 8 bytes and aligned to 8. A *position* counts
 * 8-byte words since the ring began, modulo 2^32; the packet at position p lies at word p mod
 * setup.ring_words. A packet never wraps: MORTISE_OP_PAD fills the end. The host writes packets, then
 * releases host.head. The device runs packets one after the other and releases device.done: the position
 * behind the last packet that is complete, with all that it wrote. So device.done is the completion word, the
 * free space of the ring, and the sequence number in one; hosts extend it to 64 bits.
 * The device need not write it for each packet, but writes it before it idles, before a packet that may
 * take long, and behind a packet with MORTISE_NOTIFY.
 *
 * Doorbell: a device polls host.head. Before it sleeps it writes 1 to device.sleeping, then a full fence, then
 * looks at host.head and host.session again. A host that has written either does a full fence, then looks at
 * device.sleeping, and if it is set rings the board's doorbell (an interrupt or a write to a register).
 * The way back is the same: a host that wants to sleep until position p writes p to host.wanted, then a fresh
 * number, not 0, to host.waiting, then a full fence, and looks again. A device that has written device.done or
 * device.state does a full fence, looks at host.waiting, and interrupts the host once for each number: when
 * device.done reaches host.wanted, or when it stops.
 *
 * Faults: a packet that breaks a rule is not run. The device writes device.fault, then MORTISE_FAULTED to
 * device.state, and runs nothing until the next session. device.done stays at the packet that failed.
 */

#include <stdint.h>

/* DLPack's device type of a device behind this contract, on the host */
#define TENON_DL_MORTISE 110

#define MORTISE_MAGIC	       0x5453524dU /* "MRST" */
#define MORTISE_ABI_MAJOR      1	   /* changes when either side must not talk to the other */
#define MORTISE_ABI_MINOR      0	   /* grows with packets and features */
#define MORTISE_ABI	       (MORTISE_ABI_MAJOR << 16 | MORTISE_ABI_MINOR)
#define MORTISE_CONTROL_OFFSET 0x10000U /* of struct mortise_control in the window */
#define MORTISE_SHARED_OFFSET  0x12000U /* of what the host lays out as it likes */
#define MORTISE_REGION_COUNT   16
#define MORTISE_WORD	       8U    /* bytes that positions count */
#define MORTISE_RING_LEAST     2048U /* words; ring sizes are powers of two */
#define MORTISE_RING_MOST      0x100000U
#define MORTISE_PACKET_MOST    528U /* words of a packet, but for a pad */
#define MORTISE_ARGUMENT_COUNT 256U /* arguments of a call */

/* struct mortise_identity.features: what this firmware and board can do */
enum mortise_feature {
	MORTISE_FEATURE_CALL = 1 << 0,	    /* runs functions of loaded code */
	MORTISE_FEATURE_DOORBELL = 1 << 1,  /* may sleep until the doorbell rings */
	MORTISE_FEATURE_INTERRUPT = 1 << 2, /* interrupts a host that waits */
	MORTISE_FEATURE_WATCHDOG = 1 << 3,  /* ends a packet that runs too long */
	MORTISE_FEATURE_TIMESTAMP = 1 << 4, /* has a clock */
};

/* struct mortise_identity.machine: numbers of ELF (e_machine), and the class of the core */
enum mortise_machine {
	MORTISE_MACHINE_ARM = 40, /* armv7-m, 32 bits */
	MORTISE_MACHINE_X86_64 = 62,
	MORTISE_MACHINE_HEXAGON = 164,
	MORTISE_MACHINE_AARCH64 = 183,
	MORTISE_MACHINE_RISCV = 243,
};

/* struct mortise_status.state */
enum mortise_state {
	MORTISE_RESET = 0,   /* the firmware is not there yet */
	MORTISE_READY = 1,   /* waits for a session */
	MORTISE_RUNNING = 2, /* runs packets */
	MORTISE_FAULTED = 3, /* stopped; struct mortise_fault says why */
	MORTISE_STOPPED = 4, /* MORTISE_OP_SHUTDOWN ran; only a reset of the board helps */
};

/* struct mortise_fault.code */
enum mortise_fault_code {
	MORTISE_FAULT_NONE = 0,
	MORTISE_FAULT_SETUP = 1, /* the setup of the session; detail: enum mortise_setup_error */
	MORTISE_FAULT_HEAD = 2, /* host.head is further ahead than the ring is long; detail: head */
	MORTISE_FAULT_HEADER =
		3, /* size or position in a header; detail: the header's first word */
	MORTISE_FAULT_OPCODE = 4, /* no such opcode, or one this board does not have */
	MORTISE_FAULT_FIELD = 5, /* a field out of range; detail: byte of the field in the packet */
	MORTISE_FAULT_ADDRESS = 6,  /* address: not inside one declared region with that access */
	MORTISE_FAULT_KERNEL = 7,   /* a called function failed; detail: what it returned */
	MORTISE_FAULT_WATCHDOG = 8, /* a packet ran too long; address: where it was, if known */
	MORTISE_FAULT_TRAP = 9, /* the core trapped; address: what it accessed, detail: the cause */
	MORTISE_FAULT_SELFTEST = 10, /* detail: the number of the test that failed */
};

/* struct mortise_fault.detail of MORTISE_FAULT_SETUP: what of the setup was refused */
enum mortise_setup_error {
	MORTISE_SETUP_MAGIC = 1,
	MORTISE_SETUP_ABI = 2,
	MORTISE_SETUP_RING_SIZE = 3,
	MORTISE_SETUP_RING_PLACE = 4,
	MORTISE_SETUP_RING_START = 5,
	MORTISE_SETUP_REGION_COUNT = 6,
	MORTISE_SETUP_REGION = 7, /* address: of the region */
};

/* struct mortise_region.access, struct mortise_argument.access */
enum mortise_access {
	MORTISE_READ = 1,
	MORTISE_WRITE = 2,
	MORTISE_EXECUTE = 4,
};

/**
 * struct mortise_region - memory that packets of a session may name
 * @address: of the device
 * @size: bytes, more than 0
 * @access: mask of enum mortise_access
 *
 * A range of a packet lies inside one region. The device refuses regions that overlap its own memory, the
 * control block or the ring, or that leave the memory which the board has.
 */
struct mortise_region {
	uint64_t address;
	uint64_t size;
	uint32_t access;
	uint32_t reserved; /* 0 */
};

/**
 * struct mortise_identity - what the device is; written before the first session
 * @magic: MORTISE_MAGIC, written last
 * @abi: MORTISE_ABI
 * @machine: enum mortise_machine
 * @address_bits: 32 or 64
 * @features: mask of enum mortise_feature
 * @version: of the firmware: major << 16 | minor << 8 | patch
 * @tick_hz: ticks of the clock a second; 0 without one
 * @window_address: the device's address of the window
 * @window_size: bytes of it that the device knows of
 */
struct mortise_identity {
	uint32_t magic;
	uint32_t abi;
	uint32_t machine;
	uint32_t address_bits;
	uint32_t features;
	uint32_t version;
	uint32_t tick_hz;
	uint32_t reserved;
	uint64_t window_address;
	uint64_t window_size;
	uint32_t unused[4];
};

#define MORTISE_IMAGE_WORD "mortise image\n"

/**
 * struct mortise_image - what a firmware image says of itself, without being run
 * @word: MORTISE_IMAGE_WORD; in the file at an offset that is a multiple of 8
 * @abi: as in struct mortise_identity
 * @machine: likewise
 * @address_bits: likewise
 * @version: likewise
 */
struct mortise_image {
	char word[16];
	uint32_t abi;
	uint32_t machine;
	uint32_t address_bits;
	uint32_t version;
};

/**
 * struct mortise_status - what the device is doing
 * @state: enum mortise_state
 * @session: the host's number, once the device has taken the setup; 0 without a session
 * @heartbeat: changes while the device runs or polls; not while it sleeps
 * @position: of the packet that it runs, or ran last
 * @opcode: of that packet
 */
struct mortise_status {
	uint32_t state;
	uint32_t session;
	uint32_t heartbeat;
	uint32_t position;
	uint32_t opcode;
	uint32_t unused[11];
};

/**
 * struct mortise_completion - the words that a host polls
 * @done: position behind the last complete packet
 * @sleeping: 1 while only the doorbell wakes the device
 */
struct mortise_completion {
	uint32_t done;
	uint32_t sleeping;
	uint32_t unused[14];
};

/**
 * struct mortise_fault - why the device stopped; whole once device.state is MORTISE_FAULTED
 * @code: enum mortise_fault_code
 * @opcode: of the packet, or what stood in its place
 * @position: of the packet
 * @detail: see enum mortise_fault_code
 * @address: the address that was refused or accessed; 0 without one
 * @pc: where the core was, of traps and watchdogs; 0 if unknown
 */
struct mortise_fault {
	uint32_t code;
	uint32_t opcode;
	uint32_t position;
	uint32_t detail;
	uint64_t address;
	uint64_t pc;
	uint32_t unused[8];
};

/**
 * struct mortise_request - the words that a device polls
 * @head: position behind the last packet that is published
 * @session: number of the session that the host wants; 0 for none
 * @waiting: changes when the host goes to sleep and wants to be interrupted; 0 while it does not
 * @wanted: position that it sleeps for
 */
struct mortise_request {
	uint32_t head;
	uint32_t session;
	uint32_t waiting;
	uint32_t wanted;
	uint32_t unused[12];
};

/**
 * struct mortise_setup - what holds for a session; read once, when it begins
 * @magic: MORTISE_MAGIC
 * @abi: MORTISE_ABI of the host; the major number has to be the device's
 * @ring_address: of the device, a multiple of 64
 * @ring_words: size of the ring, a power of two
 * @ring_start: the first position: any number
 * @watchdog_ms: a packet that runs longer faults; 0 for no limit
 * @region_count: entries of @regions
 */
struct mortise_setup {
	uint32_t magic;
	uint32_t abi;
	uint64_t ring_address;
	uint32_t ring_words;
	uint32_t ring_start;
	uint32_t watchdog_ms;
	uint32_t region_count;
	uint32_t unused[8];
	struct mortise_region regions[MORTISE_REGION_COUNT];
};

/** struct mortise_control - the control block, at MORTISE_CONTROL_OFFSET; a writer for each cache line */
struct mortise_control {
	/* the device writes */
	struct mortise_identity identity;
	struct mortise_status device;
	struct mortise_completion completion;
	struct mortise_fault fault;
	/* the host writes */
	struct mortise_request host;
	struct mortise_setup setup;
};

/* ---- packets */

/* enum mortise_opcode - which struct follows the header is said at each */
enum mortise_opcode {
	MORTISE_OP_PAD = 0,    /* nothing; the rest of the packet is not looked at */
	MORTISE_OP_COPY = 1,   /* struct mortise_copy */
	MORTISE_OP_FILL = 2,   /* struct mortise_fill */
	MORTISE_OP_CALL = 3,   /* struct mortise_call */
	MORTISE_OP_WAIT = 4,   /* struct mortise_semaphore: until *address - value >= 0, signed */
	MORTISE_OP_SIGNAL = 5, /* struct mortise_semaphore: *address = value, behind all before */
	MORTISE_OP_TIMESTAMP = 6, /* struct mortise_timestamp */
	MORTISE_OP_BARRIER = 7,	  /* header alone: memory before is written, code before is seen */
	MORTISE_OP_VECTOR = 8,	  /* struct mortise_vector */
	MORTISE_OP_GEMM = 9,	  /* struct mortise_gemm */
	MORTISE_OP_SELFTEST = 10, /* struct mortise_selftest */
	MORTISE_OP_SHUTDOWN = 11, /* header alone */
	MORTISE_OP_COUNT = 12,
};

/* struct mortise_header.flags */
enum mortise_packet_flag {
	MORTISE_NOTIFY = 1, /* write device.done behind this packet, whatever follows */
};

/**
 * struct mortise_header - begins each packet
 * @opcode: enum mortise_opcode
 * @flags: mask of enum mortise_packet_flag
 * @words: size of the packet with this header, in words of 8 bytes
 * @position: of this packet in the ring: what an older round left is no packet
 */
struct mortise_header {
	uint8_t opcode;
	uint8_t flags;
	uint16_t words;
	uint32_t position;
};

/** struct mortise_copy - copy bytes; ranges that overlap are copied as by memmove() */
struct mortise_copy {
	struct mortise_header header;
	uint64_t to;
	uint64_t from;
	uint64_t size;
};

/**
 * struct mortise_fill - repeat a pattern
 * @width: bytes of the pattern: 1, 2, 4 or 8
 * @size: bytes, a multiple of @width; @to too
 */
struct mortise_fill {
	struct mortise_header header;
	uint64_t to;
	uint64_t size;
	uint64_t pattern;
	uint32_t width;
	uint32_t reserved; /* 0 */
};

/**
 * struct mortise_argument - an argument of a call
 * @value: the number, or the device's address of a buffer
 * @size: bytes of the buffer behind that address that the function may touch; 0 of a number
 * @access: how it touches them, of enum mortise_access; 0 for a number
 */
struct mortise_argument {
	uint64_t value;
	uint32_t size;
	uint32_t access;
};

/**
 * struct mortise_call - run a function for each group of a grid
 * @function: its address, inside a region with MORTISE_EXECUTE; bit 0 is Thumb's on Cortex-M
 * @groups: extents of the grid, x first; not 0
 * @threads: extents of a group, for the function to loop over; not 0
 * @count: of @arguments
 */
struct mortise_call {
	struct mortise_header header;
	uint64_t function;
	uint32_t groups[3];
	uint32_t threads[3];
	uint32_t count;
	uint32_t reserved; /* 0 */
	struct mortise_argument arguments[];
};

/** struct mortise_group - the place in the grid that a function is called for */
struct mortise_group {
	uint32_t group[3];
	uint32_t groups[3];
	uint32_t threads[3];
};

/**
 * mortise_function - a function of loaded code
 * @arguments: the values of the call's arguments; addresses are the core's own
 * @group: which part of the work is wanted
 *
 * It runs on the firmware's stack, with interrupts on, and may use nothing of the firmware.
 *
 * Return: 0; anything else faults the device.
 */
typedef int32_t (*mortise_function)(const uint64_t *arguments, const struct mortise_group *group);

/**
 * struct mortise_semaphore - wait for or write a word of 32 bits
 * @address: a multiple of 4, in a region that can be read (wait) or written (signal)
 */
struct mortise_semaphore {
	struct mortise_header header;
	uint64_t address;
	uint32_t value;
	uint32_t reserved; /* 0 */
};

/** struct mortise_timestamp - write the ticks of the device's clock, 64 bits; @address: a multiple of 8 */
struct mortise_timestamp {
	struct mortise_header header;
	uint64_t address;
};

/* struct mortise_vector.operation: to[i] = a[i] op b[i] */
enum mortise_vector_operation {
	MORTISE_VECTOR_ADD = 0,
	MORTISE_VECTOR_SUB = 1,
	MORTISE_VECTOR_MUL = 2,
	MORTISE_VECTOR_MAX = 3,
	MORTISE_VECTOR_MIN = 4,
	MORTISE_VECTOR_COUNT = 5,
};

/* struct mortise_vector.type */
enum mortise_vector_type {
	MORTISE_INT8 = 0,  /* saturates */
	MORTISE_INT32 = 1, /* wraps */
	MORTISE_TYPE_COUNT = 2,
};

/**
 * struct mortise_vector - an elementwise operation
 * @to: result; the same memory as @a or @b, or apart from them
 * @a: first operand
 * @b: second operand; 0 to take @scalar for each element
 * @count: elements
 */
struct mortise_vector {
	struct mortise_header header;
	uint64_t to;
	uint64_t a;
	uint64_t b;
	uint32_t count;
	uint8_t operation;
	uint8_t type;
	uint16_t reserved; /* 0 */
	int32_t scalar;
	uint32_t reserved2; /* 0 */
};

/**
 * struct mortise_gemm - multiply int8 matrices: to[m][n] = sum over k of (a[m][k] - a_zero) * (b[n][k] - b_zero)
 * @to: result: int32 when @multiplier is 0, else int8
 * @a: rows of the first matrix
 * @b: rows of the second, transposed: as dense layers keep their weights
 * @bias: int32 for each n, added to the sum; 0 for none
 * @m: rows of the result
 * @n: columns of the result
 * @k: elements of a sum
 * @a_stride: bytes from row to row, at least @k
 * @b_stride: as @a_stride
 * @to_stride: bytes from row to row; a multiple of the size of an element
 * @multiplier: 0, or int8 results are @to_zero + ((sum * multiplier + (1 << (shift - 1))) >> shift)
 * @shift: 1 to 62; not looked at when @multiplier is 0
 * @to_zero: zero point of the result
 * @least: results below become this; -128 to 127
 * @most: results above become this; not below @least
 * @a_zero: zero point of @a, -128 to 127
 * @b_zero: zero point of @b, -128 to 127
 */
struct mortise_gemm {
	struct mortise_header header;
	uint64_t to;
	uint64_t a;
	uint64_t b;
	uint64_t bias;
	uint32_t m, n, k;
	uint32_t a_stride, b_stride, to_stride;
	int32_t multiplier;
	uint32_t shift;
	int32_t to_zero;
	int32_t least, most;
	int32_t a_zero, b_zero;
	uint32_t reserved; /* 0 */
};

/**
 * struct mortise_selftest - try each built-in operation on data of the firmware's own, and memory
 * @address: memory that is overwritten with patterns and read back; a multiple of 8
 * @size: bytes of it, a multiple of 8; may be 0
 */
struct mortise_selftest {
	struct mortise_header header;
	uint64_t address;
	uint64_t size;
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct mortise_identity) == 64, "a cache line");
_Static_assert(sizeof(struct mortise_status) == 64, "a cache line");
_Static_assert(sizeof(struct mortise_completion) == 64, "a cache line");
_Static_assert(sizeof(struct mortise_fault) == 64, "a cache line");
_Static_assert(sizeof(struct mortise_request) == 64, "a cache line");
_Static_assert(sizeof(struct mortise_setup) == 64 + 24 * MORTISE_REGION_COUNT,
	       "the same everywhere");
_Static_assert(sizeof(struct mortise_header) == 8, "a word");
_Static_assert(sizeof(struct mortise_copy) == 32, "four words");
_Static_assert(sizeof(struct mortise_fill) == 40, "five words");
_Static_assert(sizeof(struct mortise_call) == 48, "six words");
_Static_assert(sizeof(struct mortise_argument) == 16, "two words");
_Static_assert(sizeof(struct mortise_semaphore) == 24, "three words");
_Static_assert(sizeof(struct mortise_timestamp) == 16, "two words");
_Static_assert(sizeof(struct mortise_vector) == 48, "six words");
_Static_assert(sizeof(struct mortise_gemm) == 96, "twelve words");
_Static_assert(sizeof(struct mortise_selftest) == 24, "three words");
_Static_assert(MORTISE_PACKET_MOST *MORTISE_WORD >=
		       sizeof(struct mortise_call) +
			       MORTISE_ARGUMENT_COUNT * sizeof(struct mortise_argument),
	       "the largest call fits");
_Static_assert(MORTISE_CONTROL_OFFSET + sizeof(struct mortise_control) <= MORTISE_SHARED_OFFSET,
	       "the control block ends before what the host lays out");
#endif

#endif /* TENON_UAPI_MORTISE_H */
