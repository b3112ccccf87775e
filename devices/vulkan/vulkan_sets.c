/* SPDX-License-Identifier: MIT */
/* Look descriptor sets up by their contents, and rewrite idle ones. */
#include "devices/vulkan/vulkan_sets.h"

#include "lib/brief_errors.h"

#include <stdlib.h>
#include <string.h>

#define POOL_SETS    64
#define POOL_BUFFERS 512

struct part {
	uint64_t id;
	uint64_t offset;
	uint64_t range;
};

struct vulkan_set {
	struct vulkan_set *next; /* in the bucket */
	const struct vulkan_layout *layout;
	VkDescriptorSet handle;
	uint64_t serial;
	struct part parts[];
};

struct vulkan_set_pool {
	struct vulkan_set_pool *next;
	VkDescriptorPool handle;
};

static uint32_t make_key(const struct vulkan_layout *l, const uint64_t *ids,
			 const VkDescriptorBufferInfo *buffers, struct part *key)
{
	uint32_t i, n = vulkan_layout_bindings(l);
	uint64_t h = (uintptr_t)l;

	for (i = 0; i < n; i++) {
		key[i].id = ids[i];
		key[i].offset = i < l->buffers ? buffers[i].offset : 0;
		key[i].range = buffers[i].range;
		h = (h ^ key[i].id ^ (key[i].offset << 20)) * 0x9e3779b97f4a7c15u;
	}
	return (uint32_t)(h >> 32);
}

static int add_pool(struct vulkan_device *d, struct vulkan_sets *s)
{
	const VkDescriptorPoolSize sizes[] = {
		{ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, POOL_BUFFERS },
		{ VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, POOL_SETS },
	};
	const VkDescriptorPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = POOL_SETS,
		.poolSizeCount = 2,
		.pPoolSizes = sizes,
	};
	struct vulkan_set_pool *p = calloc(1, sizeof(*p));
	VkResult r;

	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory for a pool of descriptor sets");
	r = d->api.CreateDescriptorPool(d->handle, &info, NULL, &p->handle);
	if (r) {
		free(p);
		return vulkan_check(d, r, "CreateDescriptorPool");
	}
	p->next = s->pools;
	s->pools = p;
	return 0;
}

static int allocate(struct vulkan_device *d, struct vulkan_sets *s, const struct vulkan_layout *l,
		    VkDescriptorSet *out)
{
	VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorSetCount = 1,
		.pSetLayouts = &l->set,
	};
	VkResult r = VK_ERROR_OUT_OF_POOL_MEMORY;
	int err;

	if (s->pools) {
		info.descriptorPool = s->pools->handle;
		r = d->api.AllocateDescriptorSets(d->handle, &info, out);
	}
	if (r == VK_ERROR_OUT_OF_POOL_MEMORY || r == VK_ERROR_FRAGMENTED_POOL) {
		err = add_pool(d, s);
		if (err)
			return err;
		info.descriptorPool = s->pools->handle;
		r = d->api.AllocateDescriptorSets(d->handle, &info, out);
	}
	return vulkan_check(d, r, "AllocateDescriptorSets");
}

static int make(struct vulkan_device *d, struct vulkan_sets *s, const struct vulkan_layout *l,
		struct vulkan_set **bucket, struct vulkan_set **out)
{
	struct vulkan_set *set;
	int err;

	set = calloc(1, sizeof(*set) + vulkan_layout_bindings(l) * sizeof(set->parts[0]));
	if (!set)
		return tenon_error(-TENON_E_NOMEM, "no memory for a descriptor set");
	err = allocate(d, s, l, &set->handle);
	if (err) {
		free(set);
		return err;
	}
	set->layout = l;
	set->next = *bucket;
	*bucket = *out = set;
	return 0;
}

uint32_t vulkan_sets_writes(const struct vulkan_layout *l, VkDescriptorSet set,
			    const VkDescriptorBufferInfo *buffers, VkWriteDescriptorSet writes[2])
{
	uint32_t n = 0;

	memset(writes, 0, 2 * sizeof(*writes));
	/* one write covers consecutive bindings of a type */
	if (l->buffers) {
		writes[n].descriptorCount = l->buffers;
		writes[n].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
		writes[n++].pBufferInfo = buffers;
	}
	if (l->block) {
		writes[n].dstBinding = l->buffers;
		writes[n].descriptorCount = 1;
		writes[n].descriptorType = l->push ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
						   : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
		writes[n++].pBufferInfo = buffers + l->buffers;
	}
	writes[0].sType = writes[1].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
	writes[0].dstSet = writes[1].dstSet = set;
	return n;
}

static void write_set(struct vulkan_device *d, const struct vulkan_set *set,
		      const VkDescriptorBufferInfo *buffers)
{
	const struct vulkan_layout *l = set->layout;
	VkDescriptorBufferInfo own[VULKAN_BUFFERS + 1];
	VkWriteDescriptorSet writes[2];

	memcpy(own, buffers, vulkan_layout_bindings(l) * sizeof(own[0]));
	if (l->block)
		own[l->buffers].offset = 0; /* passed when it is bound */
	d->api.UpdateDescriptorSets(d->handle, vulkan_sets_writes(l, set->handle, own, writes),
				    writes, 0, NULL);
}

int vulkan_sets_get(struct vulkan_device *d, struct vulkan_sets *s, const struct vulkan_layout *l,
		    const uint64_t *ids, const VkDescriptorBufferInfo *buffers, uint64_t serial,
		    uint64_t done, VkDescriptorSet *out)
{
	struct part key[VULKAN_BUFFERS + 1];
	size_t bytes = vulkan_layout_bindings(l) * sizeof(key[0]);
	struct vulkan_set **bucket, *set, *idle = NULL;
	int err;

	bucket = &s->buckets[make_key(l, ids, buffers, key) % VULKAN_SET_BUCKETS];
	for (set = *bucket; set; set = set->next) {
		if (set->layout != l)
			continue;
		if (!memcmp(set->parts, key, bytes))
			break;
		if (set->serial <= done)
			idle = set;
	}
	if (!set) {
		err = idle ? 0 : make(d, s, l, bucket, &idle);
		if (err)
			return err;
		set = idle;
		memcpy(set->parts, key, bytes);
		write_set(d, set, buffers);
	}
	set->serial = serial;
	*out = set->handle;
	return 0;
}

void vulkan_sets_free(struct vulkan_device *d, struct vulkan_sets *s)
{
	struct vulkan_set_pool *p;
	struct vulkan_set *set;
	uint32_t i;

	for (i = 0; i < VULKAN_SET_BUCKETS; i++) {
		while ((set = s->buckets[i])) {
			s->buckets[i] = set->next;
			free(set);
		}
	}
	while ((p = s->pools)) {
		s->pools = p->next;
		d->api.DestroyDescriptorPool(d->handle, p->handle, NULL);
		free(p);
	}
}
