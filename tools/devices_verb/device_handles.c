/* SPDX-License-Identifier: MIT */
/* Names of the descriptors that a device imports and exports. */
#include <string.h>
#include <tenon/fence.h>
#include <tenon/memory.h>

#include "tools/devices_verb/devices.h"

static const char memory_names[][16] = {
	[TENON_HANDLE_HOST_POINTER] = "host-pointer",
	[TENON_HANDLE_OPAQUE_FD] = "opaque-fd",
	[TENON_HANDLE_DMA_BUF] = "dma-buf",
};
static const char fence_names[][16] = {
	[TENON_FENCE_EVENTFD] = "eventfd",
	[TENON_FENCE_SYNC_FILE] = "sync-file",
	[TENON_FENCE_OPAQUE_FD] = "opaque-fd",
};

static void write_names(const char (*names)[16], uint32_t mask, char text[HANDLES_TEXT])
{
	uint32_t i;

	*text = '\0';
	for (i = 0; i < 3; i++) {
		if (!(mask & 1u << i))
			continue;
		if (*text)
			strcat(text, " ");
		strcat(text, names[i]);
	}
}

void device_handles(const struct tenon_device_properties *p, struct device_handles *h)
{
	const uint32_t always = 1u << TENON_FENCE_EVENTFD, polled = 1u << TENON_FENCE_SYNC_FILE;

	write_names(memory_names, p->imports, h->memory_imports);
	write_names(memory_names, p->exports, h->memory_exports);
	write_names(fence_names, p->fence_imports | always | polled, h->fence_imports);
	write_names(fence_names, p->fence_exports | always, h->fence_exports);
}
