/* SPDX-License-Identifier: MIT */
#ifndef DRIVER_DRM_DRM_NODES_H
#define DRIVER_DRM_DRM_NODES_H

/**
 * DOC: the kernel's render and accel nodes
 *
 * What /dev/dri and /dev/accel offer, whether this process may open it, and which kernel driver is
 * behind it. libdrm is asked for the driver's version where it is installed and the node can be
 * opened; else sysfs tells the driver's name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct drm_node - a node
 * @path: "/dev/dri/renderD128"
 * @number: minor number for render nodes, index for accel nodes
 * @accel: it is an accel node
 * @driver: "amdgpu", "ivpu"; "" when it cannot be told
 * @version: "3.57.0"; "" when it cannot be told
 * @pci: "0000:03:00.0" where it is on PCI; ""
 * @group: group that owns the node; ""
 * @error: 0 when it can be opened, else errno
 */
struct drm_node {
	char path[64];
	int number;
	bool accel;
	char driver[32];
	char version[32];
	char pci[32];
	char group[32];
	int error;
};

/**
 * drm_nodes_read - list the nodes, by path
 * @root: put in front of /dev and /sys, for tests; ""
 * @nodes: room for @most
 * @most: how many there is room for
 *
 * Context: any thread. Nothing stays open.
 * Return: how many there are, at most @most.
 */
size_t drm_nodes_read(const char *root, struct drm_node *nodes, size_t most);

/** drm_library_found - was libdrm opened; *@words says what the dynamic linker said when not */
bool drm_library_found(const char **words);

#endif /* DRIVER_DRM_DRM_NODES_H */
