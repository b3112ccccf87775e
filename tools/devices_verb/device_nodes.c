/* SPDX-License-Identifier: MIT */
/* Match the kernel's device nodes with backends, and suggest remedies for unused nodes. */
#include <errno.h>
#include <string.h>
#include <tenon/string.h>

#include "tools/devices_verb/devices.h"

static bool same_pci(const struct drm_node *node, const uint32_t pci[4])
{
	char text[32];

	if (!*node->pci || pci[0] == UINT32_MAX)
		return false;
	snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", pci[0], pci[1], pci[2], pci[3]);
	return !strcmp(text, node->pci);
}

bool node_is_of(const struct drm_node *node, const struct listed_device *d)
{
	return (!node->accel && d->properties.drm_render == node->number) ||
	       same_pci(node, d->properties.pci);
}

/*
 * Write the URI of an accel node that a backend of this build opens by its number, as NAME://accel/0: it has the
 * name of the kernel's driver. Return: whether there is one.
 */
static bool node_uri(const struct drm_node *node, char *text, size_t room)
{
	if (!node->accel || node->error || !backend_is_built(tenon_slice_of(node->driver)))
		return false;
	snprintf(text, room, "%s://accel/%d", node->driver, node->number);
	return true;
}

void node_users(const struct device_list *l, const struct drm_node *node, char *text, size_t room)
{
	size_t i, used = 0;

	*text = 0;
	if (node_uri(node, text, room))
		return;
	for (i = 0; i < l->device_count && used < room; i++) {
		const struct listed_device *d = &l->devices[i];

		if (node_is_of(node, d))
			used += (size_t)snprintf(text + used, room - used, "%s%s:%u",
						 used ? ", " : "", d->driver, d->index);
	}
}

/* kernel drivers, the backends that can use them, and Debian packages of the user-space drivers */
static const struct half {
	const char *driver;
	const char *backends;
	const char *packages;
} halves[] = {
	{ "amdgpu", "vulkan opencl", "mesa-vulkan-drivers mesa-opencl-icd" },
	{ "radeon", "opencl", "mesa-opencl-icd" },
	{ "i915", "vulkan opencl", "mesa-vulkan-drivers intel-opencl-icd" },
	{ "xe", "vulkan opencl", "mesa-vulkan-drivers intel-opencl-icd" },
	{ "nvidia", "cuda opencl vulkan", "nvidia-driver" },
	{ "nvidia-drm", "cuda opencl vulkan", "nvidia-driver" },
	{ "nouveau", "vulkan", "mesa-vulkan-drivers" },
	{ "asahi", "vulkan", "mesa-vulkan-drivers" },
	{ "msm", "vulkan", "mesa-vulkan-drivers" },
	{ "panfrost", "vulkan", "mesa-vulkan-drivers" },
	{ "panthor", "vulkan", "mesa-vulkan-drivers" },
	{ "v3d", "vulkan", "mesa-vulkan-drivers" },
	{ "virtio_gpu", "vulkan", "mesa-vulkan-drivers" },
	{ "etnaviv", "opencl", "mesa-opencl-icd" },
};

static const struct half *half_of(const struct drm_node *node)
{
	static const struct half none = { "", "", "" };
	size_t i;

	for (i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
		if (!strcmp(node->driver, halves[i].driver))
			return &halves[i];
	return &none;
}

const char *node_backends(const struct drm_node *node)
{
	return half_of(node)->backends;
}

/* Format those names that this build has: "vulkan or opencl". */
static bool name_backends(const char *words, char *text, size_t room)
{
	size_t used = 0, n;

	*text = 0;
	for (; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (!backend_is_built((struct tenon_slice){ words, n }) || used >= room)
			continue;
		used += (size_t)snprintf(text + used, room - used, "%s%.*s", used ? " or " : "",
					 (int)n, words);
	}
	return used > 0;
}

/* Never advise the group root: its members can change most of the system. */
static void refused_remedy(const struct drm_node *node, char *text, size_t room)
{
	if (*node->group && strcmp(node->group, "root"))
		snprintf(text, room, "usermod -aG %s $USER, then log in again", node->group);
	else
		snprintf(text, room,
			 "no group may open it: udev's rules give it to the group %s (start udev; "
			 "in "
			 "a container, pass the node with that group), or run as its owner",
			 node->accel ? "render, with packaging/udev," : "render");
}

void node_remedy(const struct drm_node *node, bool used, char *text, size_t room)
{
	char names[64];

	*text = 0;
	if (node->error == EACCES || node->error == EPERM)
		refused_remedy(node, text, room);
	else if (node->error)
		snprintf(text, room, "see the kernel's messages: dmesg | grep drm");
	else if (!used && name_backends(node_backends(node), names, sizeof(names)))
		snprintf(text, room, "%s would drive it: apt install %s", names,
			 half_of(node)->packages);
	else if (!used)
		snprintf(text, room, "no backend of this build drives it; a plug-in may");
}
