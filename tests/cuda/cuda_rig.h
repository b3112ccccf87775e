/* SPDX-License-Identifier: MIT */
/* Give each case a device and a queue of the fake libcuda, and check that it gives everything back. */
#ifndef TESTS_CUDA_CUDA_RIG_H
#define TESTS_CUDA_CUDA_RIG_H

#include "tests/unit/suite.h"

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include "tests/cuda/fake_cuda.h"

#define SECOND UINT64_C(1000000000)

struct rig {
	struct fake_cuda *fake;
	struct tenon_device *device;
	struct tenon_queue *queue;
};

extern struct rig rig;

/* Before anything else in main(); 0, or -1 where the fake is not built. */
int rig_start(const char *mode);

/* Of every case: a device and a queue; at the end all has to be given back and nothing complained. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* Give back the device, its queue and the kernels made by rig_kernel(). */
void rig_close(void);

/* The case leaves a device behind that never ends: what it has is not looked for. */
void rig_gives_up(void);

#define RIG_CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

/* A function of the fake. */
void *rig_function(const char *name);

/* Let a function fail at its n-th call from now. */
void rig_fail(const char *function, int at, int result);

struct tenon_memory *rig_memory(uint64_t size);
uint64_t rig_soon(void);

/* Text of PTX with a kernel between head and tail: parameters, and instructions. */
#define RIG_PTX(name, parameters, body)                                                            \
	".version 6.0\n.target sm_52\n.address_size 64\n.extern .shared .align 16 .b8 "            \
	"dynamic[];\n"                                                                             \
	".visible .entry " name "(" parameters ")\n{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n"      \
	".reg .b64 %rd<16>;\n" body "ret;\n}\n"

extern const char rig_bump[]; /* bump(int *data): data[blockIdx.x] += 1 */
extern const char rig_poke[]; /* poke(int *data): writes 4 bytes at the address it is given */

/*
 * A program with one kernel; @arguments is a letter each: p pointer, i int32, m tensor map. Stays valid.
 */
const struct tenon_program *rig_program(const char *format, const char *code, size_t size,
					const char *name, const char *arguments, uint32_t flags);
struct tenon_executable *rig_executable(const struct tenon_program *program);
/* The kernel of a text; its executable goes with rig_teardown(). */
struct tenon_kernel *rig_kernel(const char *text, const char *name, const char *arguments,
				uint32_t flags);
struct tenon_dispatch rig_dispatch(struct tenon_kernel *kernel, const uint64_t *arguments);
int32_t rig_word(struct tenon_memory *memory, uint64_t index);

#endif /* TESTS_CUDA_CUDA_RIG_H */
