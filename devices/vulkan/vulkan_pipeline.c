/* SPDX-License-Identifier: MIT */
/*
 * Each pipeline has its own cache file: it is found independently of the other pipelines of a
 * program, nothing is written twice, and threads compile without a lock.
 */
#include "devices/vulkan/vulkan_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "lib/disk_cache.h"

#define KIND "vulkan"

static void make_key(const struct vulkan_device *d, const uint32_t *words, size_t count,
		     struct disk_cache_key *key)
{
	const char *driver = d->base.properties->driver;
	const struct tenon_slice parts[] = {
		{ (const char *)words, count * 4 },
		{ (const char *)d->facts.cache_uuid, VK_UUID_SIZE },
		{ driver, strlen(driver) },
	};

	disk_cache_key(parts, sizeof(parts) / sizeof(parts[0]), key);
}

/* Check the header of cached data, because some drivers do not. */
static bool is_ours(const struct vulkan_device *d, const struct tenon_buffer *b)
{
	VkPipelineCacheHeaderVersionOne h;

	if (b->size <= sizeof(h))
		return false;
	memcpy(&h, b->data, sizeof(h));
	return h.headerSize >= sizeof(h) && h.headerSize <= b->size &&
	       h.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
	       h.vendorID == d->facts.vendor_id && h.deviceID == d->facts.device_id &&
	       !memcmp(h.pipelineCacheUUID, d->facts.cache_uuid, VK_UUID_SIZE);
}

/* Create a pipeline cache from the file; VK_NULL_HANDLE on failure, which is not an error. */
static VkPipelineCache open_cache(struct vulkan_device *d, const struct disk_cache_key *key,
				  bool *found)
{
	VkPipelineCacheCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO };
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	VkPipelineCache cache = VK_NULL_HANDLE;

	*found = disk_cache_get(KIND, key, &bytes) && is_ours(d, &bytes);
	if (*found) {
		info.initialDataSize = bytes.size;
		info.pInitialData = bytes.data;
	}
	if (d->api.CreatePipelineCache(d->handle, &info, NULL, &cache))
		cache = VK_NULL_HANDLE;
	tenon_buffer_fini(&bytes);
	return cache;
}

static void keep(struct vulkan_device *d, const struct disk_cache_key *key, VkPipelineCache cache)
{
	struct tenon_slice whole;
	size_t size = 0;
	char *bytes;

	/* do not write a cache without entries */
	if (d->api.GetPipelineCacheData(d->handle, cache, &size, NULL) ||
	    size <= sizeof(VkPipelineCacheHeaderVersionOne))
		return;
	bytes = malloc(size);
	if (bytes && !d->api.GetPipelineCacheData(d->handle, cache, &size, bytes)) {
		whole.data = bytes;
		whole.size = size;
		disk_cache_put(KIND, key, whole);
	}
	free(bytes);
}

static int create(struct vulkan_device *d, const struct vulkan_layout *layout,
		  VkShaderModule module, const char *entry, VkPipelineCache cache, VkPipeline *out)
{
	const VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {
			.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			.stage = VK_SHADER_STAGE_COMPUTE_BIT,
			.module = module,
			.pName = entry,
		},
		.layout = layout->pipeline,
		.basePipelineIndex = -1,
	};
	VkResult r = d->api.CreateComputePipelines(d->handle, cache, 1, &info, NULL, out);

	return vulkan_check(d, r, "CreateComputePipelines");
}

int vulkan_pipeline_make(struct vulkan_device *d, const struct vulkan_layout *layout,
			 const uint32_t *words, size_t count, const char *entry, VkPipeline *out)
{
	const VkShaderModuleCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = count * 4,
		.pCode = words,
	};
	struct disk_cache_key key;
	VkShaderModule module;
	VkPipelineCache cache;
	bool found;
	VkResult r;
	int err;

	r = d->api.CreateShaderModule(d->handle, &info, NULL, &module);
	if (r)
		return vulkan_check(d, r, "CreateShaderModule");
	make_key(d, words, count, &key);
	cache = open_cache(d, &key, &found);
	err = create(d, layout, module, entry, cache, out);
	if (cache && !err && !found)
		keep(d, &key, cache);
	d->api.DestroyPipelineCache(d->handle, cache, NULL);
	d->api.DestroyShaderModule(d->handle, module, NULL);
	return err;
}
