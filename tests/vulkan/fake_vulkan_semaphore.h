/* SPDX-License-Identifier: MIT */
/*
 * Included by fake_vulkan.c: VK_KHR_external_semaphore_fd on a driver that need not have it. A binary semaphore
 * is a timeline semaphore of the driver that is signalled with 1; as a descriptor it is an eventfd, between which
 * and the semaphore a thread carries the signal.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define FENCE_TYPES                                                                                \
	(VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT |                                         \
	 VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT)
#define SEMAPHORES_MOST 32

struct binary {
	VkSemaphore handle; /* of the driver */
	VkDevice device;
	VkExternalSemaphoreHandleTypeFlags exported;
	int fd; /* that the thread carries the signal to, or from */
	bool consumes;
	bool signals, waits; /* was submitted */
	bool imported, carries;
	bool ended; /* atomic */
	pthread_t thread;
	struct binary *next;
};

static struct binary *binaries;
static pthread_mutex_t binaries_lock = PTHREAD_MUTEX_INITIALIZER;
static PFN_vkSignalSemaphore real_SignalSemaphore;
static PFN_vkWaitSemaphores real_WaitSemaphores;

static void wrong(const char *what)
{
	if (!fake->complaints)
		snprintf(fake->complaint, sizeof(fake->complaint), "%s", what);
	count(&fake->complaints, 1);
	fprintf(stderr, "fake Vulkan: %s\n", what);
}

static struct binary *find(VkSemaphore handle)
{
	struct binary *b;

	pthread_mutex_lock(&binaries_lock);
	for (b = binaries; b && b->handle != handle; b = b->next)
		;
	pthread_mutex_unlock(&binaries_lock);
	return b;
}

static void end_foreign_waits(void)
{
	struct binary *b;

	pthread_mutex_lock(&binaries_lock);
	for (b = binaries; b; b = b->next)
		if (b->imported)
			__atomic_store_n(&b->ended, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&binaries_lock);
}

static const void *in_chain(const void *chain, VkStructureType type)
{
	const VkBaseInStructure *s = chain;

	while (s && s->sType != type)
		s = s->pNext;
	return s;
}

static PFN_vkCreateSemaphore real_CreateSemaphore;
static VkResult VKAPI_CALL fake_CreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
						const VkAllocationCallbacks *a, VkSemaphore *out)
{
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkExportSemaphoreCreateInfo *export =
		in_chain(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
	bool binary = fake->fences &&
		      !in_chain(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
	VkSemaphoreCreateInfo own = *info;
	VkResult r = fault("CreateSemaphore");
	struct binary *b;

	if (binary)
		own.pNext = &type;
	if (!r)
		r = real_CreateSemaphore(device, &own, a, out);
	if (r)
		return r;
	count(&fake->live, 1);
	if (!binary)
		return r;
	if (export && (!export->handleTypes || export->handleTypes & ~FENCE_TYPES))
		wrong("vkCreateSemaphore: export as what is not offered");
	b = calloc(1, sizeof(*b));
	b->handle = *out;
	b->device = device;
	b->exported = export ? export->handleTypes : 0;
	b->fd = -1;
	pthread_mutex_lock(&binaries_lock);
	b->next = binaries;
	binaries = b;
	pthread_mutex_unlock(&binaries_lock);
	return r;
}

static PFN_vkDestroySemaphore real_DestroySemaphore;
static void VKAPI_CALL fake_DestroySemaphore(VkDevice device, VkSemaphore handle,
					     const VkAllocationCallbacks *a)
{
	struct binary *b = find(handle), **at;
	uint64_t value = 1;

	count(&fake->live, handle ? -1 : 0);
	if (b) {
		if (b->waits || b->signals)
			real_GetSemaphoreCounterValue(device, handle, &value);
		if (!value && !fake->lost)
			wrong("vkDestroySemaphore: in use");
		__atomic_store_n(&b->ended, true, __ATOMIC_RELEASE);
		if (b->carries)
			pthread_join(b->thread, NULL);
		if (b->fd >= 0)
			close(b->fd);
		pthread_mutex_lock(&binaries_lock);
		for (at = &binaries; *at != b; at = &(*at)->next)
			;
		*at = b->next;
		pthread_mutex_unlock(&binaries_lock);
		free(b);
	}
	real_DestroySemaphore(device, handle, a);
}

static void *carry_out(void *context)
{
	struct binary *b = context;
	const uint64_t one = 1;
	const VkSemaphoreWaitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
		.semaphoreCount = 1,
		.pSemaphores = &b->handle,
		.pValues = &one,
	};

	while (!__atomic_load_n(&b->ended, __ATOMIC_ACQUIRE) || b->signals)
		if (real_WaitSemaphores(b->device, &info, 2000000) != VK_TIMEOUT)
			break;
		else if (__atomic_load_n(&b->ended, __ATOMIC_ACQUIRE) && fake->lost)
			break;
	if (write(b->fd, &one, sizeof(one)) != sizeof(one))
		wrong("an eventfd takes no signal");
	return NULL;
}

static void *carry_in(void *context)
{
	struct binary *b = context;
	const VkSemaphoreSignalInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
		.semaphore = b->handle,
		.value = 1,
	};
	struct pollfd p = { .fd = b->fd, .events = POLLIN };
	uint64_t counter;

	/* the driver forgives no work that waits for ever: what has ended is signalled too */
	while (!__atomic_load_n(&b->ended, __ATOMIC_ACQUIRE) && poll(&p, 1, 2) != 1)
		;
	if (b->consumes && p.revents && read(b->fd, &counter, sizeof(counter)) < 0)
		wrong("an opaque fd is waited for twice");
	real_SignalSemaphore(b->device, &info);
	return NULL;
}

static PFN_vkGetSemaphoreFdKHR real_GetSemaphoreFdKHR;
static VkResult VKAPI_CALL fake_GetSemaphoreFdKHR(VkDevice device,
						  const VkSemaphoreGetFdInfoKHR *info, int *fd)
{
	struct binary *b = find(info->semaphore);
	VkResult r = fault("GetSemaphoreFdKHR");

	if (r)
		return r;
	if (!fake->fences)
		return real_GetSemaphoreFdKHR(device, info, fd);
	if (!b || !(b->exported & info->handleType)) {
		wrong("vkGetSemaphoreFdKHR: not made to be exported as that");
		return VK_ERROR_TOO_MANY_OBJECTS;
	}
	if (info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT && !b->signals)
		wrong("vkGetSemaphoreFdKHR: nothing was submitted that signals it");
	if (b->carries)
		wrong("vkGetSemaphoreFdKHR: twice");
	count(&fake->exports, 1);
	*fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->fd = dup(*fd);
	b->carries = !pthread_create(&b->thread, NULL, carry_out, b);
	say(FAKE_VULKAN_FD, fd);
	return VK_SUCCESS;
}

static bool is_eventfd(int fd)
{
	char link[40], target[32] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, target, sizeof(target) - 1) > 0 &&
	       !strcmp(target, "anon_inode:[eventfd]");
}

static PFN_vkImportSemaphoreFdKHR real_ImportSemaphoreFdKHR;
static VkResult VKAPI_CALL fake_ImportSemaphoreFdKHR(VkDevice device,
						     const VkImportSemaphoreFdInfoKHR *info)
{
	bool sync = info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
	struct binary *b = find(info->semaphore);
	VkResult r = fault("ImportSemaphoreFdKHR");

	if (r)
		return r;
	if (!fake->fences)
		return real_ImportSemaphoreFdKHR(device, info);
	if (!b || b->exported || b->carries || !(info->handleType & FENCE_TYPES))
		wrong("vkImportSemaphoreFdKHR: no semaphore to import that into");
	if (sync && info->flags != VK_SEMAPHORE_IMPORT_TEMPORARY_BIT)
		wrong("vkImportSemaphoreFdKHR: a sync_file is imported for one wait");
	if (!b || !is_eventfd(info->fd))
		return VK_ERROR_INVALID_EXTERNAL_HANDLE;
	count(&fake->imports, 1);
	b->imported = true;
	b->consumes = !sync;
	b->fd = info->fd;
	b->carries = !pthread_create(&b->thread, NULL, carry_in, b);
	return VK_SUCCESS;
}

/* The values that a submission waits for or signals, with 1 for binary semaphores. */
static void substitute_values(const VkSemaphore *semaphores, const uint64_t *from, uint32_t n,
			      bool waits, uint64_t *to)
{
	struct binary *b;
	uint32_t i;

	for (i = 0; i < n; i++) {
		to[i] = from[i];
		b = find(semaphores[i]);
		if (!b)
			continue;
		to[i] = 1;
		if (waits ? b->waits || !b->imported : b->signals)
			wrong(waits ? "vkQueueSubmit: a wait that nothing ends"
				    : "vkQueueSubmit: a semaphore is signalled twice");
		*(waits ? &b->waits : &b->signals) = true;
	}
}

static PFN_vkQueueSubmit real_QueueSubmit;
static VkResult VKAPI_CALL fake_QueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info,
					    VkFence fence)
{
	const VkTimelineSemaphoreSubmitInfo *values =
		in_chain(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
	uint64_t waits[SEMAPHORES_MOST], signals[SEMAPHORES_MOST];
	VkTimelineSemaphoreSubmitInfo own;
	VkSubmitInfo submit = *info;
	VkResult r = fault("QueueSubmit");

	count(&fake->submits, 1);
	if (r || !fake->fences)
		return r ? r : real_QueueSubmit(queue, n, info, fence);
	own = *values;
	own.pWaitSemaphoreValues = waits;
	own.pSignalSemaphoreValues = signals;
	submit.pNext = &own;
	substitute_values(info->pWaitSemaphores, values->pWaitSemaphoreValues,
			  info->waitSemaphoreCount, true, waits);
	substitute_values(info->pSignalSemaphores, values->pSignalSemaphoreValues,
			  info->signalSemaphoreCount, false, signals);
	return real_QueueSubmit(queue, n, &submit, fence);
}

static PFN_vkGetPhysicalDeviceExternalSemaphoreProperties
	real_GetPhysicalDeviceExternalSemaphoreProperties;
static void VKAPI_CALL fake_GetPhysicalDeviceExternalSemaphoreProperties(
	VkPhysicalDevice physical, const VkPhysicalDeviceExternalSemaphoreInfo *info,
	VkExternalSemaphoreProperties *out)
{
	if (!fake->fences) {
		real_GetPhysicalDeviceExternalSemaphoreProperties(physical, info, out);
		return;
	}
	out->externalSemaphoreFeatures = 0;
	if (info->handleType & FENCE_TYPES)
		out->externalSemaphoreFeatures = VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
						 VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
}

/* The one that the fake has and the driver may not have. */
static const VkExtensionProperties *added_extension(void)
{
	static const VkExtensionProperties fences = { VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
						      1 },
					   budget = { VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 1 };

	if (fake->fences)
		return &fences;
	return fake->budget ? &budget : NULL;
}

static PFN_vkEnumerateDeviceExtensionProperties real_EnumerateDeviceExtensionProperties;
static VkResult VKAPI_CALL fake_EnumerateDeviceExtensionProperties(VkPhysicalDevice physical,
								   const char *layer, uint32_t *n,
								   VkExtensionProperties *out)
{
	const VkExtensionProperties *more = added_extension();
	uint32_t room = *n;
	VkResult r = fault("EnumerateDeviceExtensionProperties");

	if (r)
		return r;
	if (!more || (out && !room))
		return real_EnumerateDeviceExtensionProperties(physical, layer, n, out);
	*n = out ? room - 1 : 0;
	r = real_EnumerateDeviceExtensionProperties(physical, layer, n, out);
	if (out)
		out[*n] = *more;
	++*n;
	return r;
}

/* What the driver itself is asked for: all but this extension. */
static uint32_t without_added(const char *const *names, uint32_t n, const char **out)
{
	const VkExtensionProperties *more = added_extension();
	uint32_t i, kept = 0;

	for (i = 0; i < n && kept < SEMAPHORES_MOST; i++)
		if (!more || strcmp(names[i], more->extensionName))
			out[kept++] = names[i];
	return kept;
}
