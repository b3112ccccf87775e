/* SPDX-License-Identifier: MIT */
/* The render and accel nodes of this machine, and whether this process may open them. */
#ifndef DRIVER_DRM_DRM_NODES_H
#define DRIVER_DRM_DRM_NODES_H

/*
 * The nodes in /dev/dri and /dev/accel, their kernel drivers, and whether this process may open
 * them. The driver's version comes from libdrm, if it is installed and the node can be opened; else
 * sysfs has the driver's name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct drm_node - a node
 * @path: "/dev/dri/renderD128"
 * @number: minor number for render nodes, index for accel nodes
 * @accel: it is an accel node
 * @driver: "amdgpu", "ivpu"; "" if unknown
 * @version: "3.57.0"; "" if unknown
 * @pci: "0000:03:00.0"; "" if not on PCI
 * @group: group that owns the node; "" if unknown
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
 * @root: prefix of /dev and /sys, for tests; else ""
 * @nodes: room for @most nodes
 * @most: size of @nodes
 *
 * Context: any thread. Nothing stays open.
 * Return: number of nodes, at most @most.
 */
size_t drm_nodes_read(const char *root, struct drm_node *nodes, size_t most);

/** drm_library_found - test whether libdrm could be opened; *@words: the linker's message if not */
bool drm_library_found(const char **words);

#endif /* DRIVER_DRM_DRM_NODES_H */
