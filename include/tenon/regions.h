/* SPDX-License-Identifier: MIT */
#ifndef TENON_REGIONS_H
#define TENON_REGIONS_H

/**
 * DOC: models in memory that the caller gives
 *
 * For boards whose memory is divided once: how much of it a model needs, and a model that opens and
 * runs in regions of the program, such as a static array, a huge page, or SRAM.
 *
 *	static _Alignas(TENON_REGION_ALIGN) char own[12288], tensors[65536], work[8192];
 *	const struct tenon_regions regions = {
 *		.size = sizeof(regions),
 *		.region = { { own, sizeof(own) }, { tensors, sizeof(tensors) }, { work, sizeof(work) } },
 *	};
 *
 *	tenon_module_load("model.so", &root);
 *	tenon_model_open_in(root, NULL, &regions, &model);
 *
 * From then on, until the model is closed, setting and binding inputs, running and getting outputs
 * call no malloc(). (Profiling, traces and listing operators do.) A thread's first error message,
 * and functions that compiled code looks up by name at its first run, are kept by the thread and
 * the module, which may allocate once; tenon_model_need() in the same process does that before.
 *
 * The CPU runs such models, in the calling thread alone: parallel loops are not divided, since
 * other threads would need temporary memory of their own. Parameters that are aligned stay in the
 * module's file, where they need no region. Operators that an NPU's compiler replaced run on
 * its device, which is opened before. ethosu://sim calls no malloc() then; the driver of hardware does when
 * a model is opened, for the thread of a queue, and not in its runs.
 */

#include <tenon/export.h>
#include <tenon/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* alignment of regions; bytes before the first multiple of it are not used */
#define TENON_REGION_ALIGN 128

/* bytes of persistent memory that a model needs more where planned memory is a dma-buf that an NPU uses */
#define TENON_REGION_DMABUF 512

/**
 * enum tenon_sort - what memory of a model is used for
 * @TENON_PERSISTENT: the model itself: its plan, functions, constants and parameters that are
 *	copied; from opening to closing
 * @TENON_PLANNED: tensors. Models that never run at once may have the same region: inputs that were
 *	copied, and outputs, are lost when the other model is opened, set or run
 * @TENON_TEMPORARY: for the time of one call: what opening needs, and the workspace of compiled
 *	code. Models that are never in a call at once may have the same region
 */
enum tenon_sort {
	TENON_PERSISTENT = 0,
	TENON_PLANNED = 1,
	TENON_TEMPORARY = 2,
};

#define TENON_SORTS 3

/**
 * struct tenon_need_of - how much memory of one sort
 * @bytes: size of a region that begins at a multiple of @align
 * @align: alignment
 * @bound: @bytes is an upper bound; false: exact, one byte less is too little
 */
struct tenon_need_of {
	uint64_t bytes;
	uint64_t align;
	bool bound;
};

/**
 * struct tenon_need - how much memory a model needs
 * @size: sizeof(struct tenon_need)
 * @sort: by enum tenon_sort
 * @device: memory of devices for the operators that they run: programs, constants, tensors and work; an upper bound.
 *	Drivers have it beside the regions. ethosu://sim, which has none of its own, takes it from persistent memory
 * @shared: planned memory where it is a dma-buf that an NPU uses (tenon_regions.dmabuf); 0 for models without one.
 *	Persistent memory has to have TENON_REGION_DMABUF bytes more then
 */
struct tenon_need {
	size_t size;
	struct tenon_need_of sort[TENON_SORTS];
	struct tenon_need_of device;
	struct tenon_need_of shared;
};

/*
 * Planned memory may be a dma-buf that an NPU uses where it is: a model that its compiler made has its tensors there at the
 * offsets that the NPU's compiler planned, and nothing of them is copied. A graph on a device with TENON_DEVICE_STEADY that
 * imports dma-bufs has the device's tensors there, in pages of their own. The other regions are the processor's alone.
 */

/** struct tenon_region - memory of the caller: @size bytes at @data; @data may be NULL for none */
struct tenon_region {
	void *data;
	size_t size;
};

/**
 * struct tenon_regions - memory for a model
 * @size: sizeof(struct tenon_regions)
 * @region: by enum tenon_sort; no two may overlap
 * @dmabuf: of each region, a dma-buf that it maps from its first byte on, at a multiple of TENON_REGION_ALIGN; NULL for
 *	memory of the process. The descriptor is used when the model is opened, and stays the caller's
 *
 * Of a dma-buf the model's device uses the memory where it is. Each run overwrites the inputs that operators of the NPU
 * read, so these have to be set before each run, and cannot be bound. An input may lie where an output was: read the
 * outputs of a run before the inputs of the next one are set.
 */
struct tenon_regions {
	size_t size;
	struct tenon_region region[TENON_SORTS];
	const int *dmabuf[TENON_SORTS];
};

/**
 * tenon_model_need - find out how much memory a model needs
 * @root: root of an import tree
 * @options: as for tenon_model_open()
 * @out: receives the need; @out->size is set by the caller
 *
 * The model is opened, run once on inputs of zeros, and closed, in pages that are mapped for the
 * time of the call: the same code takes the same memory then and later. So the module is ready to
 * run, and its code, too, is executed. @out holds for processes of the same architecture and build.
 *
 * Return: 0; as tenon_model_open_in() and tenon_model_run(); -TENON_E_VALUE for an input without a
 *	fixed shape and dtype, with its name and dimension.
 */
TENON_API int tenon_model_need(struct tenon_module *root, const struct tenon_model_options *options,
			       struct tenon_need *out);

/**
 * tenon_model_open_in - open a model in memory that the caller gives
 * @root: root of an import tree; referenced
 * @options: as for tenon_model_open()
 * @regions: memory; the struct is copied, the regions are the model's until it is closed and the
 *	outputs that were got from it are dropped
 * @out: receives the model
 *
 * Return: as tenon_model_open(); -TENON_E_NOMEM when a region is too small, with what each sort
 *	needs (a run that lacks temporary memory fails so, too); -TENON_E_UNSUPPORTED for a model
 *	that cannot run without malloc(): on devices, but for models of NPUs' compilers and graphs
 *	on devices with TENON_DEVICE_STEADY, or of an executor that allocates on its own; and for
 *	a dma-buf that the model or its device cannot use where it is, by name.
 */
TENON_API int tenon_model_open_in(struct tenon_module *root,
				  const struct tenon_model_options *options,
				  const struct tenon_regions *regions, struct tenon_model **out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_REGIONS_H */
