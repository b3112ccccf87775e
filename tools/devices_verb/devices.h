/* SPDX-License-Identifier: MIT */
/* What tenon devices lists: devices, drivers and nodes of the kernel. */
#ifndef TOOLS_DEVICES_VERB_DEVICES_H
#define TOOLS_DEVICES_VERB_DEVICES_H

#include <stdio.h>
#include <tenon/device.h>

#include "driver/drm/drm_nodes.h"
#include "tools/cli/cli.h"
#include "tools/cli/verbs.h"
#include "tools/devices_verb/machine.h"

#define DEVICES_LISTED 64
#define DRIVERS_LISTED 32
#define NODES_LISTED   32

/** struct listed_device - a device that can be opened, as its backend describes it */
struct listed_device {
	const char *driver;
	uint32_t index;
	struct tenon_device_properties properties;
};

/** struct listed_driver - a backend without any device, and the reason */
struct listed_driver {
	const char *name;
	const char *outcome; /* result of probing its driver, one word; NULL if not probed */
	char why[1024];
};

/**
 * struct device_list - data of `tenon devices`
 * @machine: the processor
 * @devices: devices of all backends except cpu and null
 * @absent: backends without devices
 * @nodes: the kernel's device nodes
 */
struct device_list {
	struct machine machine;
	struct listed_device devices[DEVICES_LISTED];
	struct listed_driver absent[DRIVERS_LISTED];
	struct drm_node nodes[NODES_LISTED];
	size_t device_count, absent_count, node_count;
};

#define HANDLES_TEXT 48

/**
 * struct device_handles - handle types for exchange of memory and fences; names separated by blanks
 * @fence_imports: includes those that the library waits for itself
 */
struct device_handles {
	char memory_imports[HANDLES_TEXT];
	char memory_exports[HANDLES_TEXT];
	char fence_imports[HANDLES_TEXT];
	char fence_exports[HANDLES_TEXT];
};

void device_handles(const struct tenon_device_properties *p, struct device_handles *out);

/** devices_list - probe the drivers of all backends, one child process each; opens no device */
void devices_list(struct device_list *list);

/**
 * node_users - list the devices that use a node
 * @list: devices
 * @node: node
 * @text: receives "vulkan:0, opencl:1"; "" for none
 */
void node_users(const struct device_list *list, const struct drm_node *node, char *text,
		size_t room);

/** node_is_of - test whether a device uses a node */
bool node_is_of(const struct drm_node *node, const struct listed_device *device);

/** node_backends - names of backends that can drive a node's hardware, separated by blanks; "" */
const char *node_backends(const struct drm_node *node);

/** backend_is_built - test for a backend by name, in this build or as a plug-in */
bool backend_is_built(struct tenon_slice name);

/** node_remedy - advice for a node that cannot be opened or that no backend uses; "" for none */
void node_remedy(const struct drm_node *node, bool used, char *text, size_t room);

/** devices_json - list the devices as JSON; 0 or -TENON_E_NOMEM */
int devices_json(const struct device_list *list, FILE *out);

/** devices_remote - "tenon devices --remote ADDRESS": list a server's devices; an exit code */
int devices_remote(struct cli *cli, const char *address, bool json, double timeout);

#endif /* TOOLS_DEVICES_VERB_DEVICES_H */
