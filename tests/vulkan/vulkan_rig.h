/* SPDX-License-Identifier: MIT */
/* Open a Vulkan device behind the fake of fake_vulkan.h, with kernels of spirv_words.h on it. */
#ifndef TESTS_VULKAN_VULKAN_RIG_H
#define TESTS_VULKAN_VULKAN_RIG_H

#include "tests/unit/suite.h"

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>

#include "tests/vulkan/fake_vulkan.h"
#include "tests/vulkan/spirv_words.h"
#include "tests/vulkan/vulkan_environment.h"

#define RIG_ARGUMENTS 80

struct rig {
	struct fake_vulkan *fake;
	struct tenon_device *device;
	struct tenon_queue *queue;
};

/* a kernel of one executable */
struct rig_kernel {
	struct spirv_sum sum;
	uint32_t words[SPIRV_ROOM];
	struct tenon_argument arguments[RIG_ARGUMENTS];
	struct tenon_kernel_info info;
	struct tenon_program program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
};

/* of the case that runs in rig_group() */
extern struct rig rig_now;

#define RIG_CASE(f)                                                                                \
	{                                                                                          \
#f, f, NULL, NULL, NULL                                                            \
	}

/*
 * Run each case on the device as it is, and on the same device without what newer drivers have;
 * @state is its URI. The validation layer looks on, and a complaint fails the case.
 */
int rig_group(const char *name, const struct CMUnitTest *cases, size_t count);
/* Skip the case where there is no device. */
void rig_needs_device(void);
/* Wait for the case's queue. */
void rig_sync(void);

/* Why there is no device here; NULL when there is one. */
const char *rig_unavailable(void);

/* The same, with a loader that says it is of this version. */
const char *rig_unavailable_as(uint32_t version);

/* The fake alone. */
void rig_find(struct rig *rig);
/* The fake starts anew with each; 0 or a status. */
int rig_open(struct rig *rig, const char *uri);
/* Close all, and see that nothing is left and nobody complained: 0, or -1 with words on stderr. */
int rig_close(struct rig *rig);

/* Describe a kernel, without building it; -> rig_build() */
void rig_describe(struct rig_kernel *k, const struct spirv_sum *sum);
int rig_build(struct rig *rig, struct rig_kernel *k);
/* Both, for a kernel that has to work. */
void rig_sum(struct rig *rig, struct rig_kernel *k, uint32_t buffers, uint32_t scalars, bool block);
void rig_drop(struct rig_kernel *k);

/* Memory of @count integers; first, first + step, … */
struct tenon_memory *rig_memory(struct rig *rig, size_t count, uint32_t first, uint32_t step);
/* One launch over @count integers; @memory and the scalars behind the count as the kernel takes them. */
int rig_launch(struct tenon_queue *queue, const struct rig_kernel *k, uint32_t count,
	       struct tenon_memory *const *memory, const uint32_t *scalars);
struct tenon_operation rig_operation(struct tenon_dispatch *dispatch, const struct rig_kernel *k,
				     uint32_t count, struct tenon_memory *const *memory,
				     const uint32_t *scalars, uint64_t arguments[RIG_ARGUMENTS]);
/* Wait for the queue, read, compare with first, first + step, … */
void rig_expect(struct rig *rig, struct tenon_memory *memory, size_t count, uint32_t first,
		uint32_t step);
/* All that a program does: open, allocate, build, launch, record, read. 0 or the first failure. */
int rig_program(struct rig *rig, const char *uri);
/* Five seconds from now. */
uint64_t rig_soon(void);

#endif /* TESTS_VULKAN_VULKAN_RIG_H */
