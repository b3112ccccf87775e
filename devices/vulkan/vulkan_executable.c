/* SPDX-License-Identifier: MIT */
/* Check the SPIR-V of a program and build a pipeline for each kernel. */
#include <stdlib.h>
#include <string.h>

#include "devices/vulkan/spirv_check.h"
#include "devices/vulkan/vulkan_pipeline.h"
#include "devices/vulkan/vulkan_record.h"
#include "lib/brief_errors.h"
#include "lib/slice_text.h"

/* pipelines are freed after their last launch, later than the executable */
struct kernels {
	struct vulkan_device *device;
	size_t count;
	struct vulkan_kernel list[];
};

struct vulkan_executable {
	struct tenon_executable base;
	struct kernels *kernels;
};

static int vulkan_executable_create(struct tenon_device *device,
				    const struct tenon_program *program,
				    struct tenon_executable **out)
{
	struct vulkan_executable *e;
	int err = -TENON_E_NOMEM;

	if (!slice_is(program->kind, "vulkan") ||
	    (program->format.size && !slice_is(program->format, "vulkan")))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a %.*s program of format \"%.*s\" on %s: Vulkan takes kind and "
				   "format \"vulkan\"",
				   (int)program->kind.size, program->kind.data,
				   (int)program->format.size, program->format.data,
				   device->properties->name);
	e = calloc(1, sizeof(*e));
	if (e)
		e->kernels = calloc(1, sizeof(*e->kernels) +
					       program->kernel_count * sizeof(e->kernels->list[0]));
	if (!e || !e->kernels) {
		tenon_error(err, "no memory for %zu kernels", program->kernel_count);
		goto free_it;
	}
	e->kernels->device = vulkan_device_of(device);
	e->kernels->count = program->kernel_count;
	err = tenon_executable_init(&e->base, device, program);
	if (err)
		goto free_it;
	*out = &e->base;
	return 0;

free_it:
	if (e)
		free(e->kernels);
	free(e);
	return err;
}

static void release(void *item)
{
	struct kernels *k = item;
	struct vulkan_device *d = k->device;
	size_t i;

	for (i = 0; i < k->count; i++)
		d->api.DestroyPipeline(d->handle, k->list[i].pipeline, NULL);
	free(k);
}

static void vulkan_executable_destroy(struct tenon_executable *executable)
{
	struct vulkan_executable *e = (struct vulkan_executable *)executable;
	struct kernels *k = e->kernels;

	tenon_device_retire(&k->device->base, release, k);
	tenon_executable_fini(executable);
	free(e);
}

/* Copy the words in host byte order and aligned; the payload is not aligned. */
static uint32_t *copy_words(struct tenon_slice code, size_t *count)
{
	const uint8_t *b = (const uint8_t *)code.data;
	uint32_t *words;
	size_t i;

	*count = code.size / 4;
	words = malloc(*count * 4 + 4);
	for (i = 0; words && i < *count; i++, b += 4)
		words[i] = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return words;
}

static int check_arguments(const struct vulkan_device *d, const struct tenon_kernel_info *info,
			   bool block)
{
	const struct vulkan_facts *f = &d->facts;
	uint32_t i;

	for (i = 0; i < info->argument_count; i++) {
		if (info->arguments[i].kind > TENON_ARGUMENT_MEMORY)
			return tenon_error(
				-TENON_E_UNSUPPORTED,
				"argument %u is a tensor map, which Vulkan does not have", i);
	}
	if (info->memory_count > f->buffers_most)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "takes %u buffers; a kernel of this device %u",
				   info->memory_count, f->buffers_most);
	if (info->scalar_count > VULKAN_SCALARS ||
	    (!block && info->scalar_count * 8 > f->push_bytes_most))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "takes %u scalars; the most is %u, in a uniform block %u",
				   info->scalar_count, f->push_bytes_most / 8, VULKAN_SCALARS);
	/* the program determines the size of shared memory; the launch's is ignored, as in TVM */
	if (info->flags & ~(uint32_t)TENON_KERNEL_SHARED)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"is launched in a way that Vulkan does not have (launch tags for "
			"clusters or cooperation)");
	return 0;
}

/* newest SPIR-V version of each Vulkan version */
static uint32_t spirv_version(uint32_t vulkan)
{
	return vulkan >= VK_API_VERSION_1_3   ? 0x10600
	       : vulkan >= VK_API_VERSION_1_2 ? 0x10500
					      : 0x10300;
}

static int build(struct vulkan_device *d, const struct tenon_kernel_info *info,
		 const uint32_t *words, size_t count, struct vulkan_kernel *k)
{
	bool block = (info->code_flags & 1) && info->scalar_count;
	const struct tenon_device_properties *p = d->base.properties;
	struct spirv_limits limits = {
		.bindings = info->memory_count + block,
		.max_block = { p->max_block[0], p->max_block[1], p->max_block[2] },
		.max_threads = p->max_threads,
		.version = spirv_version(d->facts.version),
		.capabilities = d->facts.capabilities,
		.capability_count = d->facts.capability_count,
	};
	char *entry;
	int err;

	err = check_arguments(d, info, block);
	if (!err)
		err = spirv_check(words, count, info->name, &limits);
	if (!err)
		err = vulkan_layout_get(d, info->memory_count, info->scalar_count, block,
					&k->layout);
	if (err)
		return err;
	entry = strndup(info->name.data, info->name.size);
	if (!entry)
		return tenon_error(-TENON_E_NOMEM, "no memory for a name");
	err = vulkan_pipeline_make(d, k->layout, words, count, entry, &k->pipeline);
	free(entry);
	return err;
}

static int vulkan_kernel(struct tenon_executable *executable, size_t index,
			 struct tenon_kernel **out)
{
	struct vulkan_executable *e = (struct vulkan_executable *)executable;
	const struct tenon_kernel_info *info = &executable->program->kernels[index];
	struct vulkan_kernel *k = &e->kernels->list[index];
	uint32_t *words = NULL;
	size_t count;
	int err;

	if (info->code.size % 4) {
		err = tenon_error(-TENON_E_FORMAT, "SPIR-V of %zu bytes; want a multiple of 4",
				  info->code.size);
	} else {
		words = copy_words(info->code, &count);
		err = words ? build(e->kernels->device, info, words, count, k)
			    : tenon_error(-TENON_E_NOMEM, "no memory for the program");
	}
	free(words);
	if (err)
		return err;
	k->base.executable = executable;
	k->base.info = info;
	*out = &k->base;
	return 0;
}

const struct tenon_executable_ops vulkan_executable_ops = {
	.size = sizeof(struct tenon_executable_ops),
	.create = vulkan_executable_create,
	.destroy = vulkan_executable_destroy,
	.kernel = vulkan_kernel,
	.build_flags = TENON_BUILD_CONCURRENT,
};
