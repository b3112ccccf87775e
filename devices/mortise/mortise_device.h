/* SPDX-License-Identifier: MIT */
/* The state of devices, queues, jobs and memory on a board that runs mortise. */
#ifndef DEVICES_MORTISE_MORTISE_DEVICE_H
#define DEVICES_MORTISE_MORTISE_DEVICE_H

/*
 * A device is a board (driver/board) with a session of its ring (driver/ring). Its memory is the shared window: the
 * ring, a part for code, and a part for tensors, which is always mapped.
 *
 * The board has one ring, so the queues of a device share it, under one lock. A queue keeps a list of jobs: packets go
 * into the ring at once; what the host does itself (reads and writes of host memory) waits in the list for what is in
 * front of it, and all behind it too. A call that asks how far a queue is moves the lists on, so no thread is needed.
 */

#include <pthread.h>
#include <sys/types.h>
#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

#include "devices/mortise/mortise_heap.h"
#include "driver/board/board.h"

/* bytes of shared memory that a group may have */
#define MORTISE_GROUP_MEMORY 16384U

struct mortise_queue;

/**
 * struct mortise_device - an open board
 * @board: the board
 * @ring: its session
 * @window: first byte of the shared memory here
 * @address: the device's address of it
 * @machine: enum mortise_machine of the core
 * @address_bits: 32 or 64
 * @runs_code: it has a core for loaded code
 * @tick_hz: of its clock; 0 without one
 * @heap: memory of tensors
 * @code: memory of device code
 * @group_memory: shared memory of the group that runs; groups run one after the other
 * @owner: process that opened it
 * @next_attached: of the boards that this process attached to, in a list of mortise_device.c
 * @lock: guards the ring's producer and the lists of all queues
 * @queues: all of them
 * @held: queues with jobs that are not issued
 * @needed: the first sequence that such a job waits for; 0 when there is none
 */
struct mortise_device {
	struct tenon_device base;
	struct board *board;
	struct ring *ring;
	uint8_t *window;
	uint64_t address;
	uint32_t machine;
	uint32_t address_bits;
	bool runs_code;
	uint32_t tick_hz;
	struct mortise_heap heap;
	struct mortise_heap code;
	struct first_fit_piece *group_memory;
	pid_t owner;
	struct mortise_device *next_attached;
	pthread_mutex_t lock;
	struct mortise_queue *queues;
	uint32_t held;
	uint64_t needed;
};

/* enum mortise_job_kind - what a job is */
enum mortise_job_kind {
	MORTISE_JOB_PACKET,    /* the device does it */
	MORTISE_JOB_MOVE,      /* the host copies bytes */
	MORTISE_JOB_TIMESTAMP, /* a packet, and a number to hand on when it is complete */
	MORTISE_JOB_ORDER,     /* wait until another queue has issued something */
	MORTISE_JOB_STREAM,    /* packets of a command stream */
};

/**
 * struct mortise_line - how far a queue is; outlives the queue while others wait for it
 * @references: the queue, and each job that waits; guarded by the device's lock
 * @issued: serial of the last job that was issued
 * @sequence: of the ring, behind its last packet
 */
struct mortise_line {
	uint32_t references;
	uint64_t issued;
	uint64_t sequence;
};

/**
 * struct mortise_job - one thing in a queue
 * @serial: its number in the queue
 * @issued: it is in the ring, or done by the host
 * @priority: of the operation; see struct tenon_job
 * @sequence: of the ring: complete when the ring is there
 * @packet: of MORTISE_JOB_PACKET, TIMESTAMP and STREAM; @packet_size bytes, of room for @packet_room
 */
struct mortise_job {
	struct mortise_job *next;
	uint64_t serial;
	uint64_t sequence;
	enum mortise_job_kind kind;
	int32_t priority;
	bool issued;
	union {
		struct {
			void *to;
			const void *from;
			uint64_t size;
		} move;
		struct {
			uint64_t *to;
			struct first_fit_piece *block;
		} timestamp;
		struct {
			struct mortise_line *line;
			uint64_t serial;
		} order;
		struct {
			size_t issued; /* bytes that are in the ring */
		} stream;
	} as;
	void *packet;
	size_t packet_size;
	size_t packet_room;
};

/**
 * struct mortise_queue - a list of jobs
 * @first: oldest that is not known to be complete
 * @last: newest
 * @waiting: oldest that is not issued; NULL
 * @spare: jobs to use again
 * @given: serial of the newest
 * @done: serial of the newest that is complete
 */
struct mortise_queue {
	struct tenon_queue base;
	struct mortise_queue *next;
	struct mortise_line *line;
	struct mortise_job *first;
	struct mortise_job *last;
	struct mortise_job *waiting;
	struct mortise_job *spare;
	uint64_t given;
	uint64_t done;
};

/**
 * struct mortise_memory - memory of the window
 * @block: NULL of memory that was imported
 * @offset: in the window
 */
struct mortise_memory {
	struct tenon_memory base;
	struct first_fit_piece *block;
	uint64_t offset;
};

static inline struct mortise_device *mortise_device_of(struct tenon_device *device)
{
	return (struct mortise_device *)device;
}

extern const struct tenon_backend mortise_backend;
extern const struct tenon_memory_ops mortise_memory_ops;
extern const struct tenon_queue_ops mortise_queue_ops;
extern const struct tenon_executable_ops mortise_executable_ops;

/* mortise_device.c */
int mortise_open(const struct tenon_device_choice *choice, struct tenon_device **out);
int mortise_describe(uint32_t index, struct tenon_device_properties *properties);
const struct board_kind *mortise_board_kind(uint32_t index);

/* is this the process that opened the device */
bool mortise_is_ours(const struct mortise_device *d);

/* mortise_dmabuf.c: struct tenon_device_properties.exports of a window; NULL: of one that this process will make */
uint32_t mortise_exports(const struct shm *window);

/* mortise_dmabuf.c: bytes of a page */
uint64_t mortise_page(void);

/* mortise_dmabuf.c: struct tenon_memory_ops.export_handle */
int mortise_export(struct tenon_memory *memory, uint32_t type, int *fd);

/* mortise_memory.c: where a range lies in the window */
uint64_t mortise_offset(const struct tenon_range *range);

/* mortise_loss.c: the ring said -TENON_E_DEVICE or -TENON_E_LOST: the device is lost, with the sort of failure in front */
int mortise_lose(struct mortise_device *d, int status);
/* has the emulator or the simulator ended; 0, -TENON_E_LOST */
int mortise_check_board(struct mortise_device *d);

/*
 * mortise_pump.c, with the device's lock held. Append a job to its queue, and issue what can be. Returns 0, or
 * -TENON_E_LOST.
 */
int mortise_push(struct mortise_queue *q, struct mortise_job *job);
/* Issue what can be issued and note what is complete, in all queues. As mortise_push(). */
int mortise_pump(struct mortise_device *d);
/* Put a packet into the ring for the device itself, in front of all that is not issued. 0; -TENON_E_LOST, _TIMEOUT. */
int mortise_emit(struct mortise_device *d, const void *packet, size_t size, uint64_t *sequence);
/* a reference of a line goes */
void mortise_line_drop(struct mortise_line *line);

/* mortise_executable.c: the packet of a launch */
int mortise_call_packet(struct mortise_device *d, const struct tenon_dispatch *dispatch,
			struct mortise_job *job);

/* mortise_queue.c: room for a packet in a job */
int mortise_job_room(struct mortise_job *job, size_t size);

#endif /* DEVICES_MORTISE_MORTISE_DEVICE_H */
