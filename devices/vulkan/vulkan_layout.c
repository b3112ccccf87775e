/* SPDX-License-Identifier: MIT */
/* Find or create layouts for a number of buffers and scalars. */
#include "devices/vulkan/vulkan_layout.h"

#include "lib/brief_errors.h"

#include <stdlib.h>

static int make_set_layout(struct vulkan_device *d, struct vulkan_layout *l)
{
	VkDescriptorSetLayoutBinding bindings[VULKAN_BUFFERS + 1] = { 0 };
	VkDescriptorSetLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.flags = l->push ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0,
		.bindingCount = vulkan_layout_bindings(l),
		.pBindings = bindings,
	};
	uint32_t i;
	VkResult r;

	for (i = 0; i < info.bindingCount; i++) {
		bindings[i].binding = i;
		bindings[i].descriptorCount = 1;
		bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
		bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
	}
	/* a dynamic offset moves the block without updating the set */
	if (l->block)
		bindings[l->buffers].descriptorType =
			l->push ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
				: VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
	r = d->api.CreateDescriptorSetLayout(d->handle, &info, NULL, &l->set);
	return vulkan_check(d, r, "CreateDescriptorSetLayout");
}

static int make_pipeline_layout(struct vulkan_device *d, struct vulkan_layout *l)
{
	const VkPushConstantRange range = {
		.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		.size = l->scalars * 8,
	};
	const VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &l->set,
		.pushConstantRangeCount = l->scalars && !l->block,
		.pPushConstantRanges = &range,
	};
	VkResult r = d->api.CreatePipelineLayout(d->handle, &info, NULL, &l->pipeline);

	return vulkan_check(d, r, "CreatePipelineLayout");
}

static void free_layout(struct vulkan_device *d, struct vulkan_layout *l)
{
	d->api.DestroyPipelineLayout(d->handle, l->pipeline, NULL);
	d->api.DestroyDescriptorSetLayout(d->handle, l->set, NULL);
	free(l);
}

static int make(struct vulkan_device *d, const struct vulkan_layout *like,
		struct vulkan_layout **out)
{
	struct vulkan_layout *l = malloc(sizeof(*l));
	int err;

	if (!l)
		return tenon_error(-TENON_E_NOMEM, "no memory for a pipeline layout");
	*l = *like;
	err = make_set_layout(d, l);
	if (!err)
		err = make_pipeline_layout(d, l);
	if (err) {
		free_layout(d, l);
		return err;
	}
	*out = l;
	return 0;
}

int vulkan_layout_get(struct vulkan_device *d, uint32_t buffers, uint32_t scalars, bool block,
		      const struct vulkan_layout **out)
{
	const struct vulkan_layout like = {
		.buffers = buffers,
		.scalars = scalars,
		.block = block,
		.push = buffers + block <= d->facts.push_most,
	};
	struct vulkan_layout *l;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	for (l = d->layouts; l; l = l->next) {
		if (l->buffers == buffers && l->scalars == scalars && l->block == block)
			break;
	}
	if (!l) {
		err = make(d, &like, &l);
		if (!err) {
			l->next = d->layouts;
			d->layouts = l;
		}
	}
	pthread_mutex_unlock(&d->lock);
	*out = l;
	return err;
}

void vulkan_layouts_free(struct vulkan_device *d)
{
	struct vulkan_layout *l;

	while ((l = d->layouts)) {
		d->layouts = l->next;
		free_layout(d, l);
	}
}
