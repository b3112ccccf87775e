/* SPDX-License-Identifier: MIT */
/* Our own declarations of NVRTC, the compiler of CUDA source. */
#ifndef DRIVER_CUDA_NVRTC_API_H
#define DRIVER_CUDA_NVRTC_API_H

/*
 * The compiler of CUDA source is a library of the toolkit, and is opened when a module contains
 * source. $TENON_NVRTC_LIBRARY names another library, except in programs that run with raised
 * privileges.
 */

#include <stddef.h>

typedef struct nvrtc_program_data *nvrtc_program;

enum nvrtc_status {
	NVRTC_SUCCESS = 0,
	NVRTC_INVALID_OPTION = 5,
	NVRTC_COMPILATION = 6,
};

#define NVRTC_FUNCTIONS(NVRTC_FUNCTION)                                                            \
	NVRTC_FUNCTION(0, Version, (int *, int *))                                                 \
	NVRTC_FUNCTION(0, CreateProgram,                                                           \
		       (nvrtc_program *, const char *, const char *, int, const char *const *,     \
			const char *const *))                                                      \
	NVRTC_FUNCTION(0, DestroyProgram, (nvrtc_program *))                                       \
	NVRTC_FUNCTION(0, CompileProgram, (nvrtc_program, int, const char *const *))               \
	NVRTC_FUNCTION(0, GetProgramLogSize, (nvrtc_program, size_t *))                            \
	NVRTC_FUNCTION(0, GetProgramLog, (nvrtc_program, char *))                                  \
	NVRTC_FUNCTION(0, GetPTXSize, (nvrtc_program, size_t *))                                   \
	NVRTC_FUNCTION(0, GetPTX, (nvrtc_program, char *))                                         \
	NVRTC_FUNCTION(1, GetCUBINSize, (nvrtc_program, size_t *))                                 \
	NVRTC_FUNCTION(1, GetCUBIN, (nvrtc_program, char *))

/** struct nvrtc_api - the functions; those added in CUDA 11.1 may be NULL */
struct nvrtc_api {
#define NVRTC_POINTER(optional, name, parameters) int(*name) parameters;
	NVRTC_FUNCTIONS(NVRTC_POINTER)
#undef NVRTC_POINTER
};

/**
 * nvrtc_library - open libnvrtc and get its functions
 * @out: receives the table; static
 *
 * Context: any thread; takes a lock.
 *
 * Return: 0; -TENON_E_DEVICE with the missing part and the remedy.
 */
int nvrtc_library(const struct nvrtc_api **out);

#endif /* DRIVER_CUDA_NVRTC_API_H */
