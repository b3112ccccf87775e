/* SPDX-License-Identifier: MIT */
/* What containers need of this machine's devices, as a specification of the Container Device Interface. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/backend/backend.h>

#include "tools/devices_verb/devices.h"
#include "tools/doctor/board_files.h"
#include "tools/doctor/doctor.h"
#include "tools/json/json_value.h"
#include "tools/text/text.h"

/* the oldest version that has everything used here, for old container engines */
#define CDI_VERSION "0.3.0"
#define CDI_KIND    "tenon.dev/device"
#define ENTRIES	    256 /* in a folder of /dev */

/**
 * struct edits - what one device adds to a container
 * @nodes: deviceNodes
 * @mounts: mounts
 */
struct edits {
	cJSON *nodes;
	cJSON *mounts;
};

/**
 * struct cdi - the specification while it is written
 * @root: prefix of /dev, /sys and /proc
 * @devices: its devices
 * @all: what the device "all" adds
 */
struct cdi {
	const char *root;
	cJSON *devices;
	struct edits all;
};

/* files that drivers open by name: those of a backend, where a library of this name is loaded; patterns of glob(7) */
static const struct {
	const char *backend;
	const char *library;
	const char *pattern;
} opened_later[] = {
	{ "opencl", "libOpenCL.so", "/etc/OpenCL/vendors" },
	{ "opencl", "libpocl.so", "/usr/share/pocl" },
	{ "vulkan", "libvulkan.so", "/etc/vulkan/icd.d" },
	{ "vulkan", "libvulkan.so", "/usr/share/vulkan/icd.d" },
	{ "vulkan", "libdrm_amdgpu.so", "/usr/share/libdrm" },
	{ "cuda", "libcuda.so", "%slibnvidia-ptxjitcompiler.so.1" },
	{ "cuda", "libcuda.so", "%slibnvidia-nvvm*.so.4" },
	{ "cuda", "libcuda.so", "%slibnvidia-gpucomp.so*" },
	{ "opencl", "libnvidia-opencl.so", "%slibnvidia-nvvm*.so.4" },
	{ "opencl", "libnvidia-opencl.so", "%slibnvidia-gpucomp.so*" },
};

static bool has(const cJSON *list, const char *key, const char *path)
{
	const cJSON *item, *value;

	cJSON_ArrayForEach(item, list)
	{
		value = cJSON_GetObjectItemCaseSensitive(item, key);
		if (value && !strcmp(value->valuestring, path))
			return true;
	}
	return false;
}

static void add_node(struct edits *e, const char *path)
{
	cJSON *node;

	if (has(e->nodes, "path", path))
		return;
	node = cJSON_CreateObject();
	cJSON_AddStringToObject(node, "path", path);
	cJSON_AddStringToObject(node, "permissions", "rw");
	json_append(e->nodes, node);
}

static void add_mount(struct edits *e, const char *path)
{
	static const char *const options[] = { "ro", "nosuid", "nodev", "bind" };
	cJSON *mount;

	if (has(e->mounts, "containerPath", path))
		return;
	mount = cJSON_CreateObject();
	cJSON_AddStringToObject(mount, "hostPath", path);
	cJSON_AddStringToObject(mount, "containerPath", path);
	json_set(mount, "options", cJSON_CreateStringArray(options, 4));
	json_append(e->mounts, mount);
}

static void edits_begin(struct edits *e)
{
	e->nodes = cJSON_CreateArray();
	e->mounts = cJSON_CreateArray();
}

static void copy_paths(const cJSON *list, const char *key, struct edits *to,
		       void (*add)(struct edits *, const char *))
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		const cJSON *path = cJSON_GetObjectItemCaseSensitive(item, key);

		if (path)
			add(to, path->valuestring);
	}
}

/* Add a device with its edits, which now belong to the list. Engines refuse a device without any. */
static void add_device(struct cdi *c, const char *name, struct edits *e)
{
	cJSON *device, *edits;

	if (!cJSON_GetArraySize(e->nodes) && !cJSON_GetArraySize(e->mounts)) {
		cJSON_Delete(e->nodes);
		cJSON_Delete(e->mounts);
		return;
	}
	if (e != &c->all) {
		copy_paths(e->nodes, "path", &c->all, add_node);
		copy_paths(e->mounts, "hostPath", &c->all, add_mount);
	}
	device = cJSON_CreateObject();
	cJSON_AddStringToObject(device, "name", name);
	edits = cJSON_AddObjectToObject(device, "containerEdits");
	if (cJSON_GetArraySize(e->nodes))
		json_set(edits, "deviceNodes", e->nodes);
	else
		cJSON_Delete(e->nodes);
	if (cJSON_GetArraySize(e->mounts))
		json_set(edits, "mounts", e->mounts);
	else
		cJSON_Delete(e->mounts);
	json_append(c->devices, device);
}

/* ---- nodes */

/* Add the nodes in a folder of /dev whose names begin so, followed by a number if @numbered. */
static void add_nodes(const struct cdi *c, struct edits *e, const char *folder, const char *prefix,
		      bool numbered)
{
	static char names[ENTRIES][BOARD_NAME]; /* too large for the stack */
	char path[BOARD_PATH];
	size_t count = board_entries(c->root, folder, prefix, names, ENTRIES);

	for (size_t i = 0; i < count; i++) {
		const char *rest = names[i] + strlen(prefix);

		if (numbered ? !*rest || rest[strspn(rest, "0123456789")] : *rest != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		add_node(e, path);
	}
}

/* /dev/nvidiaN of a PCI device, or all of them where the driver does not say which. */
static void add_nvidia(const struct cdi *c, struct edits *e, const uint32_t pci[4])
{
	static const char *const shared[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools",
					      "nvidia-modeset" };
	char path[BOARD_PATH], text[4096], *line;
	unsigned int minor;

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		add_nodes(c, e, "/dev", shared[i], false);
	snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%04x:%02x:%02x.%x/information",
		 pci[0], pci[1], pci[2], pci[3]);
	line = board_text(c->root, path, text, sizeof(text)) ? strstr(text, "Device Minor:") : NULL;
	if (line && sscanf(line, "Device Minor: %u", &minor) == 1) {
		snprintf(path, sizeof(path), "nvidia%u", minor);
		add_nodes(c, e, "/dev", path, false);
	} else {
		add_nodes(c, e, "/dev", "nvidia", true);
	}
}

static void add_nodes_of(const struct cdi *c, const struct device_list *l,
			 const struct listed_device *d, struct edits *e)
{
	for (size_t i = 0; i < l->node_count; i++) {
		if (!node_is_of(&l->nodes[i], d))
			continue;
		add_node(e, l->nodes[i].path);
		if (!strcmp(l->nodes[i].driver, "amdgpu"))
			add_nodes(c, e, "/dev", "kfd", false);
	}
	if (!strcmp(d->driver, "cuda") || strstr(d->properties.vendor, "NVIDIA"))
		add_nvidia(c, e, d->properties.pci);
}

/* ---- libraries */

static void add_matches(struct edits *e, const char *pattern)
{
	glob_t found;

	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			add_mount(e, found.gl_pathv[i]);
		globfree(&found);
	}
}

/* Add what a driver with this library opens later. */
static void add_opened_later(struct edits *e, const char *backend, const char *library)
{
	char pattern[BOARD_PATH];
	const char *name = strrchr(library, '/') + 1;

	for (size_t i = 0; i < sizeof(opened_later) / sizeof(opened_later[0]); i++) {
		if (strcmp(backend, opened_later[i].backend) ||
		    strncmp(name, opened_later[i].library, strlen(opened_later[i].library)))
			continue;
		if (*opened_later[i].pattern == '%')
			snprintf(pattern, sizeof(pattern), "%.*s%s", (int)(name - library), library,
				 opened_later[i].pattern + 2);
		else
			snprintf(pattern, sizeof(pattern), "%s", opened_later[i].pattern);
		add_matches(e, pattern);
	}
}

/* Return: 0; an error of driver_libraries(). */
static int add_libraries(struct edits *e, const char *backend, const char *uri)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	char *path, *save;
	int err = driver_libraries(uri, &text);

	if (!err && text.size) {
		for (path = strtok_r(text.data, "\n", &save); path;
		     path = strtok_r(NULL, "\n", &save)) {
			add_mount(e, path);
			add_opened_later(e, backend, path);
		}
	}
	tenon_buffer_fini(&text);
	return err;
}

/* ---- devices */

static bool has_a_driver(const char *backend)
{
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of(backend));

	return b && !(b->flags & TENON_BACKEND_FORKS);
}

static int add_listed(struct cdi *c, struct cli *cli, const struct device_list *l)
{
	char uri[64];

	for (size_t i = 0; i < l->device_count; i++) {
		const struct listed_device *d = &l->devices[i];
		struct edits e;

		if (!has_a_driver(d->driver))
			continue;
		snprintf(uri, sizeof(uri), "%s:%u", d->driver, d->index);
		edits_begin(&e);
		add_nodes_of(c, l, d, &e);
		if (add_libraries(&e, d->driver, uri)) {
			cJSON_Delete(e.nodes);
			cJSON_Delete(e.mounts);
			if (tenon_error_status() == -TENON_E_NOMEM)
				return -TENON_E_NOMEM;
			fprintf(cli->err, "tenon: %s is left out: ", uri);
			printable_print(tenon_error_message(), cli->err);
			fputc('\n', cli->err);
			tenon_error_clear();
			continue;
		}
		add_device(c, uri, &e);
	}
	return 0;
}

/* Devices that consist of a node alone: renderD128, accel0, uio0. */
static void add_single_nodes(struct cdi *c, const struct device_list *l)
{
	static char names[ENTRIES][BOARD_NAME]; /* too large for the stack */
	char path[BOARD_PATH];
	struct edits e;

	for (size_t i = 0; i < l->node_count; i++) {
		edits_begin(&e);
		add_node(&e, l->nodes[i].path);
		add_device(c, strrchr(l->nodes[i].path, '/') + 1, &e);
	}
	for (size_t i = 0, n = board_entries(c->root, "/dev", "uio", names, ENTRIES); i < n; i++) {
		edits_begin(&e);
		snprintf(path, sizeof(path), "/dev/%.*s", BOARD_NAME - 1, names[i]);
		add_node(&e, path);
		add_device(c, names[i], &e);
	}
}

int doctor_cdi(struct cli *cli, const char *root)
{
	struct device_list *l = malloc(sizeof(*l));
	struct cdi c = { .root = root };
	cJSON *spec = cJSON_CreateObject();
	int err;

	if (!l) {
		cJSON_Delete(spec);
		return tenon_error(-TENON_E_NOMEM, "no memory for a list of devices");
	}
	devices_list(l);
	if (*root)
		l->node_count = drm_nodes_read(root, l->nodes, NODES_LISTED);
	cJSON_AddStringToObject(spec, "cdiVersion", CDI_VERSION);
	cJSON_AddStringToObject(spec, "kind", CDI_KIND);
	c.devices = cJSON_AddArrayToObject(spec, "devices");
	edits_begin(&c.all);
	err = add_listed(&c, cli, l);
	add_single_nodes(&c, l);
	add_device(&c, "all", &c.all);
	if (!err && !cJSON_GetArraySize(c.devices))
		err = tenon_error(
			-TENON_E_NOT_FOUND,
			"no device of this machine needs a node or a library in a container. "
			"tenon devices lists them");
	free(l);
	if (!err)
		return json_print(spec, cli->out);
	cJSON_Delete(spec);
	return err;
}
