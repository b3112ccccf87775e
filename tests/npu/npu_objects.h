/* SPDX-License-Identifier: MIT */
/* The state that the files of the kernel's model share: objects, jobs with their fences, descriptors and drivers, all under its lock. */
#ifndef TESTS_NPU_NPU_OBJECTS_H
#define TESTS_NPU_NPU_OBJECTS_H

#include <stddef.h>

#include "tests/npu/npu_kernel.h"

#define NPU_OBJECTS	256
#define NPU_HANDLES	256
#define NPU_JOBS	64
#define NPU_JOB_OBJECTS 80
#define NPU_JOB_TASKS	1024

/* a task of rocket: as the kernel's header has it */
struct npu_task {
	uint32_t commands;
	uint32_t count;
};

/**
 * struct npu_job - a job, which is its fence too
 * @references: of the queue, of objects and of sync_files; 0: free
 * @queued: it has not ended
 * @error: errno of the fence; 0 for success
 * @fate: what comes of it
 * @begin: when a core takes it
 * @end: when it ends
 * @core: which
 * @file: where it was submitted; NULL if it does not keep that
 * @objects: what it uses; from @written_from on, what it writes
 * @object_count: number of these
 * @written_from: see there
 * @sram_size: of ethosu
 * @stream: of ethosu; one of @objects
 * @regions: of ethosu, of @objects; NULL where there is none
 * @tasks: of rocket
 * @task_count: number of these; 1 for ethosu
 */
struct npu_job {
	unsigned int references;
	bool queued;
	int error;
	enum npu_fate fate;
	uint64_t begin, end;
	unsigned int core;
	struct npu_file *file;
	struct npu_object *objects[NPU_JOB_OBJECTS];
	unsigned int object_count;
	unsigned int written_from;
	uint32_t sram_size;
	struct npu_object *stream;
	struct npu_object *regions[NPU_REGIONS];
	struct npu_task tasks[NPU_JOB_TASKS];
	unsigned int task_count;
};

/**
 * struct npu_object - memory
 * @references: of handles, jobs and dma-bufs; 0: free
 * @size: bytes, whole pages
 * @memory: descriptor of what the CPU sees
 * @cpu: the same
 * @file: where it was made
 * @writer: last job that writes to it; NULL if that has ended
 * @may_not_map: the CPU cannot map it
 * @is_stream: of ethosu, a stream
 * @stream_size: its bytes
 * @pass: what the walk through it found
 * @address: of rocket's NPU
 * @device: what rocket's NPU sees; NULL where that is what the CPU sees
 */
struct npu_object {
	unsigned int references;
	uint64_t size;
	int memory;
	uint8_t *cpu;
	struct npu_file *file;
	struct npu_job *writer;
	bool may_not_map;
	bool is_stream;
	uint32_t stream_size;
	struct npu_pass pass;
	uint64_t address;
	uint8_t *device;
};

/* a descriptor of a node; its address space lives as long as objects in it */
struct npu_file {
	unsigned int references;
	struct npu_object *handles[NPU_HANDLES]; /* none has the number 0 */
};

/* a call of a driver, or of all drivers; returns 0 or an errno */
struct npu_call {
	unsigned long request;
	int (*make)(struct npu_file *file, void *argument);
};

/**
 * struct npu_driver - what a driver does in its own way
 * @name: its name
 * @major: of its version
 * @patience: how long a job may take
 * @calls: its calls
 * @call_count: number of these
 * @compute: runs a job; returns whether it ended without an error
 */
struct npu_driver {
	const char *name;
	int major;
	uint64_t patience;
	const struct npu_call *calls;
	size_t call_count;
	bool (*compute)(const struct npu_job *job);
};

/* ---- npu_kernel.c */

extern struct npu_object npu_objects[NPU_OBJECTS];

/* Drop everything, and begin with a driver of node 0. */
void npu_begin(const struct npu_driver *driver);

/* Return: an object with one reference, and memory; NULL if there is none. */
struct npu_object *npu_object_make(struct npu_file *file, uint64_t size);
void npu_object_put(struct npu_object *object);
struct npu_object *npu_object_of(const struct npu_file *file, uint32_t handle);

/* Move the caller's reference to a new handle; on failure drop it. Return: 0 or an errno. */
int npu_give_handle(struct npu_file *file, struct npu_object *o, uint32_t *handle);

/* The offset at which mmap() of a node maps an object. */
uint64_t npu_offset_of(const struct npu_object *o);

void npu_file_put(struct npu_file *file);

/* Signal the fence of @job: its descriptors become readable. */
void npu_fence_signals(const struct npu_job *job);

/* ---- npu_jobs.c */

/* Drop all jobs; @driver runs those that follow. */
void npu_jobs_begin(const struct npu_driver *driver);

/* Make all cores free; no job may be queued. */
void npu_cores_begin(void);

/* Add an object to those that a job uses. Return: 0; EALREADY, as the kernel gives, if the job has it. */
int npu_job_add(struct npu_job *job, struct npu_object *object);

/* Submit a copy of a job. */
void npu_job_push(const struct npu_job *found);
void npu_job_put(struct npu_job *job);
unsigned int npu_jobs_left(void);

/* End the jobs whose end the clock has reached. */
void npu_run_queue(void);
/* Advance the clock until @job ends, or to the deadline. Return: whether it ended. */
bool npu_pass_until(const struct npu_job *job, uint64_t deadline);

/* ---- rocket_engine.c */

/* Run the words of a task. Return: false for an access of memory that is not there */
bool rocket_run_task(const struct npu_file *file, const struct npu_task *task);

/* The byte at an address of the NPU, and how many follow it in its buffer; NULL if no buffer is there. */
uint8_t *rocket_find(const struct npu_file *file, uint64_t address, uint64_t *left);

#endif /* TESTS_NPU_NPU_OBJECTS_H */
