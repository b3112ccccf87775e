/* SPDX-License-Identifier: MIT */
/* Give each case a device and a queue of the fake OpenCL, and check that it leaves no object of OpenCL behind. */
#ifndef TESTS_FAULTS_OPENCL_RIG_H
#define TESTS_FAULTS_OPENCL_RIG_H

#include "tests/unit/suite.h"

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include "tests/opencl/fake_opencl.h"

extern struct fake_opencl *fake;
extern struct tenon_device *device;
extern struct tenon_queue *queue;
/* kernels "add" and "other", which take (memory, memory, int32) */
extern const struct tenon_kernel_info rig_kernels[2];
/* a folder for the cache of compiled kernels, which is off until a case sets TENON_CACHE_DIR */
extern char rig_cache[4096];

/* Once, before the cases; false when the fake is not built. */
bool rig_prepare(void);
int rig_setup(void **state);
/* Fails the case when objects of OpenCL are left. */
int rig_teardown(void **state);
#define RIG_CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

/* Open the device anew, with what the fake has been told since. */
void rig_reopen(void);
/* For cases that open a device themselves. */
void rig_close(void);

uint64_t rig_soon(void);
struct tenon_memory *rig_memory(uint64_t size);
/* An executable of "add" and "other"; of source; of one program for each kernel. */
struct tenon_executable *rig_executable(const char *format, const char *code, size_t size);
struct tenon_executable *rig_source(void);

struct rig_launch {
	struct tenon_executable *executable;
	struct tenon_memory *out, *in;
	uint64_t arguments[3];
	struct tenon_dispatch dispatch;
};

/* A launch of 64 threads of "add": out[i] = in[i] + 7. */
void rig_launch(struct rig_launch *l);
void rig_launch_drop(struct rig_launch *l);

#endif /* TESTS_FAULTS_OPENCL_RIG_H */
