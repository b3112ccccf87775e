/* SPDX-License-Identifier: MIT */
/* Numbers and layouts of Linux's driver "rocket", as in drm/rocket_accel.h, which most systems do not install. */
#ifndef DEVICES_ROCKET_ROCKET_UAPI_H
#define DEVICES_ROCKET_ROCKET_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

struct rocket_uapi_create {
	uint32_t size;
	uint32_t handle;
	uint64_t address; /* of the device; 0 is one like any other */
	uint64_t offset;  /* to map it */
};

/* @commands: address of the device */
struct rocket_uapi_task {
	uint32_t commands;
	uint32_t count; /* of words of 64 bits */
};

/* arrays, and how many they have; @task_size is that of an element of @tasks */
struct rocket_uapi_job {
	uint64_t tasks;
	uint64_t in_handles;
	uint64_t out_handles;
	uint32_t task_count;
	uint32_t task_size;
	uint32_t in_count;
	uint32_t out_count;
};

struct rocket_uapi_submit {
	uint64_t jobs;
	uint32_t count;
	uint32_t job_size;
	uint64_t reserved;
};

struct rocket_uapi_prepare {
	uint32_t handle;
	uint32_t reserved;
	int64_t deadline; /* of CLOCK_MONOTONIC */
};

struct rocket_uapi_finish {
	uint32_t handle;
	uint32_t reserved;
};

#define ROCKET_UAPI_CREATE  _IOWR('d', 0x40, struct rocket_uapi_create)
#define ROCKET_UAPI_SUBMIT  _IOW('d', 0x41, struct rocket_uapi_submit)
#define ROCKET_UAPI_PREPARE _IOW('d', 0x42, struct rocket_uapi_prepare)
#define ROCKET_UAPI_FINISH  _IOW('d', 0x43, struct rocket_uapi_finish)

#endif /* DEVICES_ROCKET_ROCKET_UAPI_H */
