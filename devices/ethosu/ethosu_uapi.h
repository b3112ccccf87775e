/* SPDX-License-Identifier: MIT */
/* Numbers and layouts of Linux's driver "ethosu", as in drm/ethosu_accel.h, which most systems do not install. */
#ifndef DEVICES_ETHOSU_ETHOSU_UAPI_H
#define DEVICES_ETHOSU_ETHOSU_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

#include "devices/ethosu/ethosu_payload.h"

/* the region that may be in the SRAM of the device, without a buffer */
#define ETHOSU_UAPI_SRAM_REGION 2

struct ethosu_uapi_query {
	uint32_t type;
	uint32_t size;
	uint64_t pointer;
};

/* old drivers have no @pmu_counters */
struct ethosu_uapi_info {
	uint32_t id;
	uint32_t config;
	uint32_t sram_size;
	uint32_t pmu_counters;
};

#define ETHOSU_UAPI_INFO_OLD 12u

#define ETHOSU_UAPI_NO_MMAP 1u

struct ethosu_uapi_buffer {
	uint64_t size;
	uint32_t flags;
	uint32_t handle;
};

struct ethosu_uapi_wait {
	uint32_t handle;
	uint32_t pad;
	int64_t deadline; /* of CLOCK_MONOTONIC */
};

struct ethosu_uapi_mmap {
	uint32_t handle;
	uint32_t pad;
	uint64_t offset;
};

struct ethosu_uapi_stream {
	uint32_t size;
	uint32_t flags;
	uint64_t data;
	uint32_t handle;
	uint32_t pad;
};

struct ethosu_uapi_job {
	uint32_t stream;
	uint32_t sram_size;
	uint32_t regions[ETHOSU_REGIONS];
};

struct ethosu_uapi_submit {
	uint64_t jobs;
	uint32_t count;
	uint32_t pad;
};

#define ETHOSU_UAPI_QUERY     _IOWR('d', 0x40, struct ethosu_uapi_query)
#define ETHOSU_UAPI_BO_CREATE _IOWR('d', 0x41, struct ethosu_uapi_buffer)
#define ETHOSU_UAPI_BO_WAIT   _IOWR('d', 0x42, struct ethosu_uapi_wait)
#define ETHOSU_UAPI_BO_MMAP   _IOWR('d', 0x43, struct ethosu_uapi_mmap)
#define ETHOSU_UAPI_STREAM    _IOWR('d', 0x44, struct ethosu_uapi_stream)
#define ETHOSU_UAPI_SUBMIT    _IOWR('d', 0x45, struct ethosu_uapi_submit)

#endif /* DEVICES_ETHOSU_ETHOSU_UAPI_H */
