/* SPDX-License-Identifier: MIT */
/* Numbers and layouts of the kernel's calls: as in misc/fastrpc.h, which some C libraries do not install. */
#ifndef DRIVER_FASTRPC_UAPI_H
#define DRIVER_FASTRPC_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

struct fastrpc_uapi_argument {
	uint64_t pointer;
	uint64_t size;
	int32_t fd;
	uint32_t attributes;
};

struct fastrpc_uapi_invoke {
	uint32_t handle;
	uint32_t scalars;
	uint64_t arguments;
};

struct fastrpc_uapi_create {
	uint32_t size;
	int32_t fd;
	uint32_t attributes;
	uint32_t signature_size;
	uint64_t program;
};

#define FASTRPC_UAPI_UNSIGNED (1u << 3)

struct fastrpc_uapi_buffer {
	int32_t fd;
	uint32_t flags;
	uint64_t size;
};

struct fastrpc_uapi_map {
	int32_t version;
	int32_t fd;
	int32_t offset;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
	uint64_t dsp_address;
	int32_t attributes;
	int32_t reserved[4];
};

#define FASTRPC_UAPI_MAP_FD 2u

#define FASTRPC_UAPI_ALLOCATE _IOWR('R', 1, struct fastrpc_uapi_buffer)
#define FASTRPC_UAPI_INVOKE   _IOWR('R', 3, struct fastrpc_uapi_invoke)
#define FASTRPC_UAPI_CREATE   _IOWR('R', 5, struct fastrpc_uapi_create)
#define FASTRPC_UAPI_MAP      _IOWR('R', 10, struct fastrpc_uapi_map)

#endif /* DRIVER_FASTRPC_UAPI_H */
