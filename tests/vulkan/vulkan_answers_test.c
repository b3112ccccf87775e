/* SPDX-License-Identifier: MIT */
/*
 * What the backend makes of what drivers say of devices: the fake changes the answers of the one that is here to those of other GPUs.
 * A program runs all the same where there is what it takes.
 */
#include "driver/vulkan/vulkan_api.h"
#include "tests/vulkan/vulkan_rig.h"

static struct rig rig;

/* what the fake says at the moment */
static struct {
	uint32_t type, vendor, version;
	uint32_t memory_kinds; /* of kinds_of_memory */
	uint64_t heap_budget, heap_usage;
	uint32_t range, resources;
	bool no_timeline, no_subgroups, no_clock, no_compute, dedicated, none_exported, far_ahead;
} answer;

static int set_up(void **state)
{
	(void)state;
	memset(&answer, 0, sizeof(answer));
	if (rig_unavailable())
		return 0;
	rig_find(&rig);
	return rig.fake ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rig_unavailable() ? 0 : rig_close(&rig);
}

/* ---- memory as GPUs have it: heaps and types that differ in what decides */

#define LOCAL	 VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE	 (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CACHED	 VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define LAZY	 (LOCAL | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT)
#define GIB	 (UINT64_C(1) << 30)
#define OF_A_GPU VK_MEMORY_HEAP_DEVICE_LOCAL_BIT

enum { CARD = 1, CARD_WITH_BAR, CARD_ALL_IN_BAR, ON_THE_CHIP, NOTHING_OF_USE, MANY_KINDS };

static const VkPhysicalDeviceMemoryProperties kinds_of_memory[] = {
	[CARD] = { 3,
		   { { LOCAL, 0 }, { VISIBLE, 1 }, { VISIBLE | CACHED, 1 } },
		   2,
		   { { 8 * GIB, OF_A_GPU }, { 16 * GIB, 0 } } },
	[CARD_WITH_BAR] = { 5,
			    { { VISIBLE, 1 },
			      { LOCAL, 0 },
			      { VISIBLE | CACHED, 1 },
			      { LOCAL | VISIBLE, 2 },
			      { VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 1 } },
			    3,
			    { { 8 * GIB, OF_A_GPU }, { 16 * GIB, 0 }, { GIB / 4, OF_A_GPU } } },
	[CARD_ALL_IN_BAR] = { 4,
			      { { LOCAL, 0 },
				{ VISIBLE, 1 },
				{ LOCAL | VISIBLE, 0 },
				{ LOCAL | VISIBLE, 0 } },
			      2,
			      { { 8 * GIB, OF_A_GPU }, { 16 * GIB, 0 } } },
	[ON_THE_CHIP] = { 3,
			  { { LAZY, 0 }, { LOCAL | VISIBLE, 0 }, { LOCAL | VISIBLE | CACHED, 0 } },
			  1,
			  { { 4 * GIB, OF_A_GPU } } },
	[NOTHING_OF_USE] = { 1, { { LAZY, 0 } }, 1, { { 4 * GIB, OF_A_GPU } } },
	[MANY_KINDS] = { 32,
			 { { LOCAL, 0 },
			   { LOCAL, 1 },
			   { LOCAL, 2 },
			   { LOCAL, 3 },
			   { VISIBLE, 4 },
			   { VISIBLE, 5 },
			   { VISIBLE, 6 },
			   { VISIBLE, 7 },
			   { VISIBLE | CACHED, 8 },
			   { VISIBLE | CACHED, 9 },
			   { VISIBLE | CACHED, 10 } },
			 16,
			 { { GIB, OF_A_GPU }, { GIB, OF_A_GPU }, { GIB, OF_A_GPU } } },
};

static void say_memory(VkPhysicalDeviceMemoryProperties2 *m)
{
	VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = m->pNext;
	uint32_t i;

	if (answer.memory_kinds)
		m->memoryProperties = kinds_of_memory[answer.memory_kinds];
	for (i = 0; budget && i < VK_MAX_MEMORY_HEAPS; i++) {
		budget->heapBudget[i] = answer.heap_budget;
		budget->heapUsage[i] = answer.heap_usage;
	}
}

/* ---- answers */

static void say_properties(VkPhysicalDeviceProperties2 *p)
{
	VkBaseOutStructure *s;

	if (answer.vendor) {
		p->properties.deviceType = (VkPhysicalDeviceType)answer.type;
		p->properties.vendorID = answer.vendor;
	}
	if (answer.version)
		p->properties.apiVersion = answer.version;
	if (answer.range)
		p->properties.limits.maxStorageBufferRange = answer.range;
	if (answer.resources)
		p->properties.limits.maxPerStageResources = answer.resources;
	for (s = p->pNext; s && answer.no_subgroups; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
			memset(&s[1], 0, sizeof(VkPhysicalDeviceSubgroupProperties) - sizeof(*s));
}

static void say_features(VkPhysicalDeviceFeatures2 *f)
{
	VkBaseOutStructure *s;

	for (s = f->pNext; s; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES &&
		    answer.no_timeline)
			((VkPhysicalDeviceTimelineSemaphoreFeatures *)s)->timelineSemaphore = 0;
}

static void say_family(VkQueueFamilyProperties *f)
{
	if (answer.no_compute)
		f->queueFlags = VK_QUEUE_GRAPHICS_BIT;
	if (answer.no_clock)
		f->timestampValidBits = 0;
}

static void say_buffers(VkExternalBufferProperties *b)
{
	VkExternalMemoryProperties *m = &b->externalMemoryProperties;

	if (answer.dedicated)
		m->externalMemoryFeatures |= VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
	if (answer.none_exported)
		m->externalMemoryFeatures = 0;
}

static void says(enum fake_vulkan_answer what, void *out)
{
	switch (what) {
	case FAKE_VULKAN_PROPERTIES:
		say_properties(out);
		break;
	case FAKE_VULKAN_FEATURES:
		say_features(out);
		break;
	case FAKE_VULKAN_MEMORY:
		say_memory(out);
		break;
	case FAKE_VULKAN_FAMILY:
		say_family(out);
		break;
	case FAKE_VULKAN_BUFFERS:
		say_buffers(out);
		break;
	case FAKE_VULKAN_COUNTER:
		if (answer.far_ahead)
			*(uint64_t *)out = UINT64_MAX;
		break;
	default:
		break;
	}
}

/* Open the device as it is said to be. */
static int open_it(void)
{
	rig_needs_device();
	rig.fake->says = says;
	return tenon_device_open("vulkan:0", &rig.device);
}

static void runs_a_program(void)
{
	int err;

	rig.fake->says = says;
	err = rig_program(&rig, "vulkan:0");
	if (err)
		print_error("%s\n", tenon_error_message());
	assert_int_equal(err, 0);
	assert_int_equal(rig.fake->live, 0);
}

/* ---- cases */

static void a_device_has_its_class_and_its_vendor(void **state)
{
	static const struct {
		uint32_t type, class, vendor;
		const char *name;
	} all[] = {
		{ VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, TENON_CLASS_GPU, 0x1002, "AMD" },
		{ VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, TENON_CLASS_GPU, 0x10de, "NVIDIA" },
		{ VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, TENON_CLASS_INTEGRATED_GPU, 0x8086,
		  "Intel" },
		{ VK_PHYSICAL_DEVICE_TYPE_CPU, TENON_CLASS_CPU, 0x10005, "Mesa" },
		{ VK_PHYSICAL_DEVICE_TYPE_OTHER, TENON_CLASS_OTHER, 0x1234, "" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		answer.type = all[i].type;
		answer.vendor = all[i].vendor;
		assert_int_equal(open_it(), 0);
		assert_int_equal(rig.device->properties->device_class, all[i].class);
		assert_string_equal(rig.device->properties->vendor, all[i].name);
		tenon_object_unref(rig.device);
		rig.device = NULL;
		tenon_device_close_all();
	}
}

static void programs_run_with_memory_of_each_kind(void **state)
{
	static const uint32_t kinds[] = { CARD, CARD_WITH_BAR, CARD_ALL_IN_BAR, ON_THE_CHIP,
					  MANY_KINDS };
	size_t i;

	(void)state;
	rig_needs_device();
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		answer.memory_kinds = kinds[i];
		runs_a_program();
	}
}

/* On a device with memory of @kind: @own, the host sees plain memory; @asked, memory that is asked for it is cached. */
static void memory_is_seen(uint32_t kind, bool own, bool asked)
{
	const struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_memory_request for_host = request;
	struct tenon_memory *m, *seen;

	for_host.usage |= TENON_MEMORY_MAP | TENON_MEMORY_HOST_READ;
	answer.memory_kinds = kind;
	assert_int_equal(open_it(), 0);
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	assert_true(!!(m->flags & TENON_HEAP_HOST_VISIBLE) == own);
	assert_true(m->flags & TENON_HEAP_DEVICE_LOCAL);
	assert_int_equal(tenon_memory_alloc(rig.device, &for_host, &seen), 0);
	assert_true(seen->flags & TENON_HEAP_HOST_VISIBLE);
	assert_true(!!(seen->flags & TENON_HEAP_HOST_CACHED) == asked);
	tenon_object_unref(m);
	tenon_object_unref(seen);
	assert_int_equal(rig_close(&rig), 0);
}

static void a_small_window_is_left_to_those_who_ask_for_it(void **state)
{
	(void)state;
	rig_needs_device();
	memory_is_seen(CARD, false, true);
	memory_is_seen(CARD_WITH_BAR, false, true);
	memory_is_seen(CARD_ALL_IN_BAR, true, false);
	memory_is_seen(ON_THE_CHIP, true, true);
}

static void a_heap_that_the_host_does_not_see_is_not_mapped(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 4096,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_MAP, 0,
						      NULL };
	struct tenon_memory *m;

	(void)state;
	answer.memory_kinds = CARD;
	assert_int_equal(open_it(), 0);
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), -TENON_E_UNSUPPORTED);
	assert_error_has("no memory type for the request");
}

static void what_is_free_is_the_budget_less_what_is_used(void **state)
{
	uint64_t bytes = 0;

	(void)state;
	rig_needs_device();
	rig.fake->budget = 1;
	answer.heap_budget = 100;
	answer.heap_usage = 30;
	assert_int_equal(open_it(), 0);
	assert_int_equal(rig.device->ops->available_memory(rig.device, &bytes), 0);
	assert_int_equal(bytes, 70);
	answer.heap_usage = 130;
	assert_int_equal(rig.device->ops->available_memory(rig.device, &bytes), 0);
	assert_int_equal(bytes, 0);
}

static void a_device_that_cannot_compute_is_refused(void **state)
{
	(void)state;
	answer.no_compute = true;
	assert_int_equal(open_it(), -TENON_E_DEVICE);
	assert_error_has("and no queue that computes");
	answer.no_compute = false;
	answer.memory_kinds = NOTHING_OF_USE;
	assert_int_equal(open_it(), -TENON_E_DEVICE);
	assert_error_has("want 1.1 and one");
	answer.memory_kinds = 0;
	answer.version = VK_API_VERSION_1_0;
	assert_int_equal(open_it(), -TENON_E_DEVICE);
	assert_error_has("has Vulkan 1.0");
	answer.version = 0;
	answer.no_timeline = true;
	assert_int_equal(open_it(), -TENON_E_DEVICE);
	assert_error_has("the driver has no timeline semaphores");
	answer.no_timeline = false;
	runs_a_program();
}

static void a_device_without_a_clock_takes_no_timestamps(void **state)
{
	uint64_t time;

	(void)state;
	answer.no_clock = true;
	assert_int_equal(open_it(), 0);
	assert_int_equal(tenon_queue_create(rig.device, &rig.queue), 0);
	assert_int_equal(tenon_queue_timestamp(rig.queue, &time, NULL), -TENON_E_UNSUPPORTED);
	assert_error_has("has no clock");
}

static void a_device_without_subgroups_has_threads_of_their_own(void **state)
{
	(void)state;
	answer.no_subgroups = true;
	assert_int_equal(open_it(), 0);
	assert_int_equal(rig.device->properties->warp_size, 1);
	assert_int_equal(rig_close(&rig), 0);
	runs_a_program();
}

static void a_kernel_takes_what_the_device_has_for_it(void **state)
{
	const struct spirv_sum sum = { "sum", 2, 0, 0, 0 };
	struct tenon_memory *m[2];
	struct rig_kernel k;

	(void)state;
	answer.resources = 1;
	assert_int_equal(open_it(), 0);
	rig_describe(&k, &sum);
	assert_int_equal(rig_build(&rig, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("takes 2 buffers; a kernel of this device 1");
	rig_drop(&k);
	assert_int_equal(rig_close(&rig), 0);
	answer.resources = 0;
	answer.range = 128;
	assert_int_equal(open_it(), 0);
	assert_int_equal(tenon_queue_create(rig.device, &rig.queue), 0);
	rig_sum(&rig, &k, 2, 0, false);
	m[0] = rig_memory(&rig, 64, 0, 0);
	m[1] = rig_memory(&rig, 32, 1, 1);
	assert_int_equal(rig_launch(rig.queue, &k, 32, m, NULL), -TENON_E_UNSUPPORTED);
	assert_error_has("buffer 0 has 256 bytes; kernels on");
	tenon_object_unref(m[0]);
	tenon_object_unref(m[1]);
	rig_drop(&k);
}

static void a_list_of_extensions_that_fails_is_an_empty_one(void **state)
{
	uint32_t imports;
	int at;

	(void)state;
	assert_int_equal(open_it(), 0);
	imports = rig.device->properties->imports;
	assert_int_equal(rig_close(&rig), 0);
	for (at = 1; at <= 2; at++) {
		rig.fake->failing = "EnumerateDeviceExtensionProperties";
		rig.fake->fail_at = at;
		rig.fake->result = VK_ERROR_OUT_OF_HOST_MEMORY;
		assert_int_equal(open_it(), 0);
		assert_int_equal(rig.fake->failures, 1);
		assert_int_equal(rig.device->properties->imports, 0);
		assert_int_equal(rig_close(&rig), 0);
	}
	assert_int_equal(open_it(), 0);
	assert_int_equal(rig.device->properties->imports, imports);
}

static void memory_that_needs_its_own_allocation_gets_it(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 4096,
						      TENON_MEMORY_DEFAULT | TENON_MEMORY_EXPORT,
						      -1, NULL };
	struct tenon_memory *m;

	(void)state;
	answer.dedicated = true;
	assert_int_equal(open_it(), 0);
	if (!rig.device->properties->exports)
		print_message("# no memory of this device can be shared\n");
	else {
		assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
		assert_int_equal(rig.fake->dedicated, 1);
		tenon_object_unref(m);
	}
	assert_int_equal(rig_close(&rig), 0);
	answer.none_exported = true;
	assert_int_equal(open_it(), 0);
	assert_int_equal(rig.device->properties->exports, 0);
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), -TENON_E_UNSUPPORTED);
}

static void a_timeline_beyond_what_was_submitted_is_a_loss(void **state)
{
	const struct tenon_memory_request request = { sizeof(request), 256, TENON_MEMORY_DEFAULT,
						      -1, NULL };
	struct tenon_memory *m;

	(void)state;
	assert_int_equal(open_it(), 0);
	assert_int_equal(tenon_queue_create(rig.device, &rig.queue), 0);
	assert_int_equal(tenon_memory_alloc(rig.device, &request, &m), 0);
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, 256, 1, 4, NULL), 0);
	answer.far_ahead = true;
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), -TENON_E_LOST);
	assert_error_has("vkGetSemaphoreCounterValue: device lost");
	tenon_object_unref(m);
}

static void a_device_that_is_not_there_is_said(void **state)
{
	const struct tenon_backend *vulkan = tenon_backend_find(tenon_slice_of("vulkan"));
	struct tenon_device_properties p;

	(void)state;
	rig_needs_device();
	assert_int_equal(tenon_backend_describe(vulkan, 99, &p), -TENON_E_NOT_FOUND);
	assert_error_has("vulkan:99: there are ");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_device_has_its_class_and_its_vendor),
		CASE(programs_run_with_memory_of_each_kind),
		CASE(a_small_window_is_left_to_those_who_ask_for_it),
		CASE(a_heap_that_the_host_does_not_see_is_not_mapped),
		CASE(what_is_free_is_the_budget_less_what_is_used),
		CASE(a_device_that_cannot_compute_is_refused),
		CASE(a_device_without_a_clock_takes_no_timestamps),
		CASE(a_device_without_subgroups_has_threads_of_their_own),
		CASE(a_kernel_takes_what_the_device_has_for_it),
		CASE(a_list_of_extensions_that_fails_is_an_empty_one),
		CASE(memory_that_needs_its_own_allocation_gets_it),
		CASE(a_timeline_beyond_what_was_submitted_is_a_loss),
		CASE(a_device_that_is_not_there_is_said),
	};

	vulkan_environment(NULL);
	return cmocka_run_group_tests_name("Vulkan answers", tests, NULL, NULL);
}
