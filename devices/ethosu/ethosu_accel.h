/* SPDX-License-Identifier: MIT */
/* Run networks by Linux's driver "ethosu". */
#ifndef DEVICES_ETHOSU_ETHOSU_ACCEL_H
#define DEVICES_ETHOSU_ETHOSU_ACCEL_H

/*
 * A network has a command stream that was handed to Linux once, and a buffer for each region that Linux
 * sees in use. The constants are written once. A submission is one call: nothing is copied or allocated, and
 * inputs and outputs are written and read through the mappings of the buffers.
 *
 * Linux checks less than the hardware needs (devices/ethosu/ethosu_linux.h), and compares no target. So all is
 * checked here first: the target by Arm's rule, the stream by ethosu_check(), and then by Linux's rule, which says
 * which buffers a job has to name.
 *
 * A wait succeeds when Linux gave a job up, too. So a run takes the fence of its output right after the submission
 * and reads the status of that. If the job had ended before, there is no fence to be taken, and the last bytes of the
 * outputs tell whether it wrote them: they got a pattern before.
 *
 * Memory is write-combined, and coherent: the CPU writes it fast and reads it slowly.
 *
 * One thread at a time uses a network. Several networks, and several descriptors of a device, may run at a time; the
 * Linux runs one job after the other.
 *
 * Deadlines are absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX for none, 0 to look once.
 */

#include "devices/ethosu/ethosu_check.h"
#include "devices/ethosu/ethosu_linux.h"
#include "devices/ethosu/ethosu_uapi.h"
#include "driver/drm/drm.h"

/**
 * struct ethosu_accel - a device
 * @drm: its node
 * @target: registers CONFIG and ID
 * @sram_size: bytes of SRAM that jobs may use as region 2
 * @is_old: Linux tells no number of performance counters: it is one of the first
 */
struct ethosu_accel {
	struct drm drm;
	struct ethosu_target target;
	uint32_t sram_size;
	bool is_old;
};

/**
 * ethosu_accel_open - open a device
 * @calls: system calls; NULL for Linux's
 * @root: prefix of /dev; "" except in tests
 * @path: "/dev/accel/accel0"
 * @out: the device; closed on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a node of another driver, or a product that is not known; else as drm_open().
 */
int ethosu_accel_open(const struct system_calls *calls, const char *root, const char *path,
		      struct ethosu_accel *out);

/** ethosu_accel_close - close a device; closing twice does nothing */
void ethosu_accel_close(struct ethosu_accel *a);

/**
 * ethosu_accel_allocate - allocate a buffer and map it
 * @a: the device
 * @size: bytes
 * @out: the buffer; its size is in whole pages
 *
 * Return: 0; -TENON_E_NOMEM when there is no contiguous memory; else system_status().
 */
int ethosu_accel_allocate(struct ethosu_accel *a, uint64_t size, struct drm_buffer *out);

/**
 * ethosu_accel_map - map a buffer for the CPU
 * @a: the device
 * @b: a buffer of this driver; closed on failure
 *
 * Return: 0; else as system_map().
 */
int ethosu_accel_map(struct ethosu_accel *a, struct drm_buffer *b);

/**
 * ethosu_accel_import - use a dma-buf, or say why its contents must be copied
 * @a: the device
 * @fd: the dma-buf; stays the caller's
 * @size: bytes
 * @out: the buffer, not mapped; to be imported once, see drm_import()
 *
 * Linux takes buffers of this device alone, which another descriptor of it may have exported.
 *
 * Return: 0; -TENON_E_UNSUPPORTED for buffers of others; else system_status().
 */
int ethosu_accel_import(struct ethosu_accel *a, int fd, uint64_t size, struct drm_buffer *out);

/* most ranges of inputs and outputs */
#define ETHOSU_RANGES 64

/* bytes at the end of an output that show whether it was written */
#define ETHOSU_MARK 16

/**
 * struct ethosu_range - a tensor
 * @region: its region
 * @offset: in the region
 * @size: bytes
 */
struct ethosu_range {
	uint32_t region;
	uint64_t offset;
	uint64_t size;
};

/**
 * struct ethosu_network_plan - what a network is made of
 * @payload: its driver payload
 * @name: of the file, for messages
 * @constants: contents of a region; may be empty
 * @constant_region: which
 * @sizes: bytes of each region; ETHOSU_UNLIMITED: as many as the stream touches
 * @inputs: places of inputs and variables
 * @input_count: number of these
 * @outputs: places of outputs, which are not empty
 * @output_count: number of these
 */
struct ethosu_network_plan {
	const struct ethosu_payload *payload;
	const char *name;
	struct tenon_slice constants;
	uint32_t constant_region;
	uint64_t sizes[ETHOSU_REGIONS];
	const struct ethosu_range *inputs;
	size_t input_count;
	const struct ethosu_range *outputs;
	size_t output_count;
};

/**
 * struct ethosu_mark - last bytes of an output
 * @region: region
 * @offset: in the region
 * @size: bytes
 * @is_input: an input is at the same place, so no pattern may be there
 * @before: what was there before the run
 */
struct ethosu_mark {
	uint32_t region;
	uint64_t offset;
	uint8_t size;
	bool is_input;
	uint8_t before[ETHOSU_MARK];
};

/**
 * struct ethosu_network - a network on a device
 * @accel: the device
 * @extents: what the stream touches
 * @by_linux: what Linux takes it to touch
 * @regions: buffers that the network owns; a handle of 0 where it has none
 * @bound: mappings of those that jobs use: of @regions, or of ethosu_network_bind()
 * @job: what is submitted
 * @output: a region that is written, whose fence is waited for
 * @shared: its buffer as a dma-buf
 * @marks: of the outputs
 * @mark_count: number of these
 * @fence: a sync_file; -1 without a job
 * @was_done: the job had ended when its fence was taken
 * @runs: number of submissions
 */
struct ethosu_network {
	struct ethosu_accel *accel;
	struct ethosu_extents extents;
	struct ethosu_linux_extents by_linux;
	struct drm_buffer regions[ETHOSU_REGIONS];
	uint8_t *bound[ETHOSU_REGIONS];
	struct ethosu_uapi_job job;
	unsigned int output;
	int shared;
	struct ethosu_mark marks[ETHOSU_RANGES];
	size_t mark_count;
	int fence;
	bool was_done;
	uint64_t runs;
};

/**
 * ethosu_network_open - check a network and give it to a device
 * @a: the device, which outlives the network
 * @plan: the network; not used afterwards
 * @out: the network; closed on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED for another target, for streams that Linux refuses or binds no buffers for, and
 *	for networks without an output; -TENON_E_FORMAT for tensors outside of their regions and for a stream that
 *	writes to its constants; as ethosu_check(); as ethosu_accel_allocate().
 */
int ethosu_network_open(struct ethosu_accel *a, const struct ethosu_network_plan *plan,
			struct ethosu_network *out);

/** ethosu_network_close - close a network; a job that runs has references of its own. Closing twice does nothing */
void ethosu_network_close(struct ethosu_network *n);

/**
 * ethosu_network_bind - use another buffer for a region from the next run on
 * @n: the network, without a job
 * @region: region
 * @buffer: a mapped buffer of the same device, which outlives its use
 *
 * Two regions cannot share a buffer: Linux refuses such a job.
 *
 * Return: 0; -TENON_E_VALUE for a region that has no buffer in jobs, and a buffer that is too small or in use by another
 *	region; system_status() when the buffer of an output cannot be exported.
 */
int ethosu_network_bind(struct ethosu_network *n, unsigned int region,
			const struct drm_buffer *buffer);

/** ethosu_network_needs - least bytes of a buffer for a region, by the stream and by Linux's rule */
uint64_t ethosu_network_needs(const struct ethosu_network *n, unsigned int region);

/**
 * ethosu_network_start - submit a run
 * @n: the network, without a job
 *
 * Inputs are in their places, and stay there until the run is finished.
 *
 * Return: 0; -TENON_E_USAGE when there is a job; else system_status().
 */
int ethosu_network_start(struct ethosu_network *n);

/**
 * ethosu_network_finish - wait for a run, and learn whether it failed
 * @n: the network
 * @deadline: see above
 *
 * Return: 0: the outputs are in their places; -TENON_E_TIMEOUT: not yet, and the job goes on; -TENON_E_LOST: Linux
 *	reset the device, because of this job or of another, and the network may be run again; -TENON_E_DEVICE: the job
 *	ended at once, and wrote no output; -TENON_E_USAGE when there is no job; else system_status(). After all but a
 *	time-out there is no job.
 */
int ethosu_network_finish(struct ethosu_network *n, uint64_t deadline);

#endif /* DEVICES_ETHOSU_ETHOSU_ACCEL_H */
