/* SPDX-License-Identifier: MIT */
/* Read the features of a device and the SPIR-V capabilities that follow from them. */
#include "devices/vulkan/vulkan_features.h"

#include <string.h>

#define GROUP_NON_UNIFORM 61 /* the first of one for each bit of VkSubgroupFeatureFlags */

#define MEMBER(name) offsetof(struct vulkan_features, name)

/* SPIR-V capabilities and the features that they need */
static const struct {
	uint16_t capability;
	uint16_t member;
} table[] = {
	{ 9, MEMBER(float16.shaderFloat16) },
	{ 10, MEMBER(all.features.shaderFloat64) },
	{ 11, MEMBER(all.features.shaderInt64) },
	{ 22, MEMBER(all.features.shaderInt16) },
	{ 39, MEMBER(float16.shaderInt8) },
	{ 4433, MEMBER(storage16.storageBuffer16BitAccess) },
	{ 4434, MEMBER(storage16.uniformAndStorageBuffer16BitAccess) },
	{ 4435, MEMBER(storage16.storagePushConstant16) },
	{ 4441, MEMBER(pointers.variablePointersStorageBuffer) },
	{ 4442, MEMBER(pointers.variablePointers) },
	{ 4448, MEMBER(storage8.storageBuffer8BitAccess) },
	{ 4449, MEMBER(storage8.uniformAndStorageBuffer8BitAccess) },
	{ 4450, MEMBER(storage8.storagePushConstant8) },
	/* dot products: any input, four bytes, four bytes packed in a word, and the operation */
	{ 6016, MEMBER(dot.shaderIntegerDotProduct) },
	{ 6017, MEMBER(dot.shaderIntegerDotProduct) },
	{ 6018, MEMBER(dot.shaderIntegerDotProduct) },
	{ 6019, MEMBER(dot.shaderIntegerDotProduct) },
};

static void list_capabilities(const struct vulkan_features *f, struct vulkan_facts *facts)
{
	uint16_t *out = facts->capabilities;
	VkBool32 has;
	size_t i;

	*out++ = 0; /* matrices */
	*out++ = 1; /* shaders */
	for (i = 0; i < 8; i++)
		if (facts->subgroup & (1u << i))
			*out++ = (uint16_t)(GROUP_NON_UNIFORM + i);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memcpy(&has, (const char *)f + table[i].member, sizeof(has));
		if (has)
			*out++ = table[i].capability;
	}
	facts->capability_count = (uint32_t)(out - facts->capabilities);
}

void vulkan_features_read(VkPhysicalDevice physical, struct vulkan_facts *facts,
			  struct vulkan_features *f)
{
	bool v12 = facts->version >= VK_API_VERSION_1_2;
	VkPhysicalDeviceFeatures has;

	memset(f, 0, sizeof(*f));
	f->all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
	vulkan_chain(&f->all, &f->storage16,
		     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
	vulkan_chain(&f->all, &f->pointers,
		     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES);
	if (v12 || facts->extensions & VULKAN_TIMELINE)
		vulkan_chain(&f->all, &f->timeline,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
	if (v12 || facts->extensions & VULKAN_8BIT)
		vulkan_chain(&f->all, &f->storage8,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES);
	if (v12 || facts->extensions & VULKAN_FLOAT16)
		vulkan_chain(&f->all, &f->float16,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
	if (facts->version >= VK_API_VERSION_1_3)
		vulkan_chain(&f->all, &f->dot,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES);
	vulkan_instance.api.GetPhysicalDeviceFeatures2(physical, &f->all);
	/* of the core features, enable those without cost for kernels that do not use them */
	has = f->all.features;
	memset(&f->all.features, 0, sizeof(f->all.features));
	f->all.features.shaderFloat64 = has.shaderFloat64;
	f->all.features.shaderInt64 = has.shaderInt64;
	f->all.features.shaderInt16 = has.shaderInt16;
	list_capabilities(f, facts);
}
