/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NPU_ROCKET_OBJECTS_H
#define TESTS_NPU_ROCKET_OBJECTS_H

/* What the kernel's model of rocket keeps: objects, jobs with their fences, and descriptors. For its own files alone. */

#include "tests/npu/rocket_kernel.h"

#define OBJECTS	  256
#define HANDLES	  256
#define JOBS	  64
#define JOB_TASKS 1024
#define JOB_BOS	  80

/* argument of SUBMIT, a job, and a task: as the kernel's header has them */
struct submit_argument {
	uint64_t jobs;
	uint32_t job_count;
	uint32_t job_struct_size;
	uint64_t reserved;
};

struct job_argument {
	uint64_t tasks;
	uint64_t in_bo_handles;
	uint64_t out_bo_handles;
	uint32_t task_count;
	uint32_t task_struct_size;
	uint32_t in_bo_handle_count;
	uint32_t out_bo_handle_count;
};

struct task_argument {
	uint32_t regcmd;
	uint32_t regcmd_count;
};

/**
 * struct job - a job, which is its fence too
 * @references: of the queue, of objects and of sync_files; 0: free
 * @queued: it has not ended
 * @error: errno of the fence; 0 for success
 * @fate: what comes of it
 * @begin: when a core takes it
 * @end: when it ends
 * @core: which
 * @file: whose addresses it sees
 * @tasks: copies
 * @bos: objects
 */
struct job {
	unsigned int references;
	bool queued;
	int error;
	enum rocket_fate fate;
	uint64_t begin, end;
	unsigned int core;
	struct file *file;
	struct task_argument tasks[JOB_TASKS];
	unsigned int task_count;
	struct object *bos[JOB_BOS];
	unsigned int bo_count;
	unsigned int out_from; /* of @bos, those from here on are written */
};

/**
 * struct object - memory
 * @references: of handles, jobs and dma-bufs; 0: free
 * @size: bytes, whole pages
 * @address: of the device
 * @memory: descriptor of what the CPU sees
 * @cpu: the same
 * @device: what the NPU sees
 * @file: whose address space it is in
 * @writer: last job that writes to it; NULL if that has ended
 */
struct object {
	unsigned int references;
	uint64_t size;
	uint64_t address;
	int memory;
	uint8_t *cpu;
	uint8_t *device;
	struct file *file;
	struct job *writer;
};

/* an address space lives as long as objects in it */
struct file {
	unsigned int references;
	struct object *handles[HANDLES]; /* none has the number 0 */
};

extern struct object rocket_objects[OBJECTS];

void rocket_object_put(struct object *object);
void rocket_file_put(struct file *file);
struct object *rocket_object_of(const struct file *file, uint32_t handle);

/* Where the NPU finds an address, and how many bytes are there; NULL for none. */
uint8_t *rocket_find(const struct file *file, uint64_t address, uint64_t *left);

/* All of these return 0 or an errno. */
int rocket_submit(struct file *file, const struct submit_argument *s);
int rocket_wait(const struct object *object, int64_t deadline);

void rocket_job_put(struct job *job);
void rocket_run_queue(void);
bool rocket_pass_until(const struct job *job, uint64_t deadline);
void rocket_drop_jobs(void);
unsigned int rocket_jobs_left(void);
void rocket_fence_signals(const struct job *job);

/* rocket_engine.c: run the words of a task. Return: false for an access of memory that is not there */
bool rocket_run_task(const struct file *file, const struct task_argument *task);

#endif /* TESTS_NPU_ROCKET_OBJECTS_H */
