/* SPDX-License-Identifier: MIT */
/* Run networks by the registers of an NPU that Linux's UIO maps. */
#ifndef DEVICES_ETHOSU_ETHOSU_UIO_H
#define DEVICES_ETHOSU_ETHOSU_UIO_H

/*
 * For ports to FPGAs, and boards for which Linux has no driver: it has none for U55. The node has a map of registers
 * (the one with the name "registers", or map 0) and an interrupt; a device without an interrupt is polled. The
 * memory is a window (ethosu_window.h).
 *
 * No driver checks anything here, and no IOMMU confines the device: base addresses are physical ones, and the check of
 * streams is the only protection.
 *
 * A device has one owner: the node is locked, and jobs run one after the other. What a job did not finish is ended by
 * a reset, so that nothing writes to memory that is used again. After a reset that failed, who uses the memory next tries
 * another first.
 *
 * Another thread may give the device up at any time. What touches the memory, or starts a job, does so inside of a gate
 * (ethosu_uio_enter()), and giving up passes the same gate: afterwards nothing is touched any more.
 */

#include <pthread.h>

#include "devices/ethosu/ethosu_payload.h"
#include "devices/ethosu/ethosu_window.h"

/**
 * struct ethosu_uio_place - which device, and how it is connected
 * @calls: system calls; NULL for Linux's
 * @root: prefix of /dev and /sys; "" except in tests
 * @number: N of /dev/uioN
 * @memory: see ethosu_window_open()
 * @ports: REGIONCFG, two bits for each region: which limits, and so which AXI port, it uses; NULL for the
 *	default, in which U55 uses port 0 alone, since the other cannot write, and U65 port 1
 */
struct ethosu_uio_place {
	const struct system_calls *calls;
	const char *root;
	uint32_t number;
	const char *memory;
	const uint32_t *ports;
};

/**
 * struct ethosu_uio - a device
 * @uio: its node
 * @window: its memory
 * @registers: first of them
 * @registers_map: where they are
 * @target: registers CONFIG and ID
 * @ports: REGIONCFG
 * @polls: it has no interrupt
 * @is_stuck: the last reset failed; inside of @gate
 * @is_given_up: by ethosu_uio_give_up(); atomic, set inside of @gate
 * @lock: of the pieces of @window, and of jobs, one at a time; taken before @gate
 * @gate: see ethosu_uio_enter()
 */
struct ethosu_uio {
	struct uio uio;
	struct ethosu_window window;
	volatile uint8_t *registers;
	const struct uio_map *registers_map;
	struct ethosu_target target;
	uint32_t ports;
	bool polls;
	bool is_stuck;
	bool is_given_up;
	pthread_mutex_t lock;
	pthread_mutex_t gate;
};

/**
 * struct ethosu_uio_job - what to run
 * @stream: address of the command stream
 * @size: its bytes
 * @bases: addresses of the regions; 0 for those that it does not use
 */
struct ethosu_uio_job {
	uint64_t stream;
	uint32_t size;
	uint64_t bases[ETHOSU_REGIONS];
};

/**
 * ethosu_uio_open - open a device, see what it is, and reset it
 *
 * Return: 0; -TENON_E_UNSUPPORTED for U85 and unknown products; -TENON_E_DEVICE when another program has it, it does
 *	not come out of its reset, or stays in a secure state; -TENON_E_TRUNCATED for a map that is too small; as
 *	uio_open(), ethosu_window_open().
 */
int ethosu_uio_open(const struct ethosu_uio_place *place, struct ethosu_uio *out);

/** ethosu_uio_close - close a device, which runs no job */
void ethosu_uio_close(struct ethosu_uio *u);

/**
 * ethosu_uio_enter - begin to use the memory, or the device
 *
 * It is not given up before ethosu_uio_leave(). If the last reset failed, a job may still write; it is ended by another
 * reset. Who has entered must leave before it waits for a job.
 *
 * Return: 0; -TENON_E_LOST when it was given up, or does not answer; -TENON_E_DEVICE when it cannot be reset. The caller
 *	is outside after a failure.
 */
int ethosu_uio_enter(struct ethosu_uio *u);

/** ethosu_uio_leave - the end of that */
void ethosu_uio_leave(struct ethosu_uio *u);

/**
 * ethosu_uio_give_up - reset a device and leave it to others, this process too
 *
 * A job that runs, on another thread, fails with -TENON_E_LOST by its deadline, and so does each later one: neither
 * registers nor memory are touched any more. The memory stays mapped. Doing it twice does nothing.
 *
 * Return: 0; -TENON_E_DEVICE when the reset fails; -TENON_E_LOST when it does not answer.
 */
int ethosu_uio_give_up(struct ethosu_uio *u);

/**
 * ethosu_uio_run - run a job and wait for its end
 * @u: device, whose lock the caller has
 * @job: it
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC
 *
 * Return: 0; -TENON_E_DEVICE with the fault that the device reports; -TENON_E_TIMEOUT at @deadline. The device was reset
 *	after both. -TENON_E_LOST when it does not answer; else as uio_wait_interrupt().
 */
int ethosu_uio_run(struct ethosu_uio *u, const struct ethosu_uio_job *job, uint64_t deadline);

#endif /* DEVICES_ETHOSU_ETHOSU_UIO_H */
