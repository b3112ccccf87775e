/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NPU_NPU_OBJECTS_H
#define TESTS_NPU_NPU_OBJECTS_H

/* What the kernel's model keeps: objects, jobs with their fences, and descriptors. For its own files alone. */

#include "tests/npu/npu_kernel.h"

#define NPU_OBJECTS 64
#define NPU_HANDLES 64
#define NPU_JOBS    64

/**
 * struct npu_job - a job, which is its fence too
 * @references: of the queue, of objects and of sync_files; 0: free
 * @queued: it has not ended
 * @error: errno of the fence; 0 for success
 * @start: when it was submitted
 * @sram_size: as submitted
 * @stream: object
 * @regions: objects, NULL where there is none
 */
struct npu_job {
	unsigned int references;
	bool queued;
	int error;
	uint64_t start;
	uint32_t sram_size;
	struct npu_object *stream;
	struct npu_object *regions[NPU_REGIONS];
};

/**
 * struct npu_object - memory
 * @references: of handles, jobs and dma-bufs; 0: free
 * @size: bytes, whole pages
 * @flags: as it was made
 * @memory: descriptor of its memory
 * @base: where the model has it
 * @pass: of a stream, what the walk found
 * @is_stream: it is one
 * @stream_size: its bytes
 * @writer: last job that writes to it; NULL if that has ended
 */
struct npu_object {
	unsigned int references;
	uint64_t size;
	uint32_t flags;
	int memory;
	uint8_t *base;
	struct npu_pass pass;
	bool is_stream;
	uint32_t stream_size;
	struct npu_job *writer;
};

struct npu_file {
	struct npu_object *handles[NPU_HANDLES]; /* none has the number 0 */
};

void npu_object_put(struct npu_object *object);
struct npu_object *npu_object_of(const struct npu_file *file, uint32_t handle);

/* All of these return 0 or an errno. */
int npu_submit(const struct npu_file *file, const void *argument);
int npu_wait(struct npu_object *object, int64_t deadline);

void npu_job_put(struct npu_job *job);
/* Jobs that have ended by now end. */
void npu_run_queue(void);
/* Let time pass until a job ends, and no longer. Return: whether it ended. */
bool npu_pass_until(const struct npu_job *job, uint64_t deadline);
void npu_drop_jobs(void);
unsigned int npu_jobs_left(void);

/* The fence of @job signals: descriptors become readable. */
void npu_fence_signals(const struct npu_job *job);

#endif /* TESTS_NPU_NPU_OBJECTS_H */
