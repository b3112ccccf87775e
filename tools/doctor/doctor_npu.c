/* SPDX-License-Identifier: MIT */
/* NPUs that a device tree names: what keeps one of them from a node of its driver. */
#include <stdlib.h>
#include <string.h>

#include "tools/doctor/board_files.h"
#include "tools/doctor/checkup.h"

/* the rows of backends (plugin.h) have NPUs; whether this build has the backend makes no difference */
#define PLUGIN(...)
#define MODEL_FORMAT(...)
#define NPU(...)
#include "generated/plugins.h"

#define DEVICES "/sys/bus/platform/devices"
/* devices of a board; one has some hundred */
#define DEVICES_MOST 2048
#define NODES_MOST   4

static const struct npu {
	const char *compatible;
	const char *name;
	const char *driver; /* of the kernel; NULL for none */
	const char *option;
	/* not in Linux: its node is /dev/ and the driver's name, and no accel node; its memory is that of dma-heaps */
	bool is_vendors;
} npus[] = {
/* clang-format off */
#undef NPU
#define NPU(...) { __VA_ARGS__ },
#include "generated/plugins.h"
	/* clang-format on */
};

#define NPUS (sizeof(npus) / sizeof(*npus))

/* "OF_COMPATIBLE_0=vendor,soc-npu": the line of one of the NPUs */
static const struct npu *npu_of(const char *uevent)
{
	const char *line, *value;
	size_t i;

	for (line = strstr(uevent, "OF_COMPATIBLE_"); line;
	     line = strstr(line + 1, "OF_COMPATIBLE_")) {
		value = line + strcspn(line, "=\n");
		for (i = 0; *value == '=' && i < NPUS; i++)
			if (strcspn(value + 1, "\n") == strlen(npus[i].compatible) &&
			    !strncmp(value + 1, npus[i].compatible, strlen(npus[i].compatible)))
				return &npus[i];
	}
	return NULL;
}

/* A node that may be opened, without the memory that its driver takes. */
static void check_heap(const struct checkup *c, const struct npu *n, struct finding *f)
{
	char heap[1][BOARD_NAME];

	if (!n->is_vendors || f->level != FINDING_OK ||
	    board_entries(c->root, "/dev/dma_heap", "", heap, 1))
		return;
	f->level = FINDING_WARN;
	checkup_add(f, "; its memory is of a dma-heap, and the kernel has none");
	checkup_remedy(f, "build the kernel with CONFIG_DMABUF_HEAPS_SYSTEM=y");
}

/* The driver is bound: its node, and who may open it. */
static void check_nodes(struct checkup *c, const struct npu *n, const char *device)
{
	char nodes[NODES_MOST][BOARD_NAME], path[BOARD_PATH], why[512], what[512];
	struct finding *f;
	size_t count, i;
	bool usable;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", device, n->is_vendors ? "misc" : "accel");
	count = board_entries(c->root, path, n->is_vendors ? n->driver : "accel", nodes,
			      NODES_MOST);
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/dev/%s%.63s", n->is_vendors ? "" : "accel/",
			 nodes[i]);
		usable = board_node(c->root, path, why, sizeof(why), what, sizeof(what));
		f = checkup_next(c, "NPU", usable ? FINDING_OK : FINDING_WARN, "%s (%s): %s",
				 device, n->name, why);
		checkup_remedy(f, "%s", what);
		check_heap(c, n, f);
		snprintf(path, sizeof(path), DEVICES "/%s", device);
		checkup_power(c, f, path);
	}
	if (count)
		return;
	/* all cores of an RK3588 have one node, which belongs to another device */
	f = checkup_next(c, "NPU", FINDING_OK, "%s (%s): driver %s", device, n->name, n->driver);
	snprintf(path, sizeof(path), DEVICES "/%s", device);
	checkup_power(c, f, path);
}

/* No driver is bound: which is to be, and why it may not be. */
static void check_unbound(struct checkup *c, const struct npu *n, const char *device)
{
	char path[BOARD_PATH], waits[8], *config;
	struct finding *f;
	char set;

	f = checkup_next(c, "NPU", FINDING_WARN, "%s (%s) has no driver", device, n->name);
	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/%s", n->driver);
	if (board_exists(c->root, path)) {
		snprintf(path, sizeof(path), DEVICES "/%s/waiting_for_supplier", device);
		board_text(c->root, path, waits, sizeof(waits));
		if (!strcmp(waits, "1")) {
			checkup_add(f, ": it waits for a regulator, clock or power domain");
			checkup_remedy(f, "load the drivers of these; "
					  "/sys/kernel/debug/devices_deferred names them");
			return;
		}
		checkup_add(f, ": %s is loaded and did not take it", n->driver);
		checkup_remedy(f, "the kernel's log says why: a supply, a clock, memory (cma=…)");
		return;
	}
	config = checkup_config(c);
	set = checkup_option(config, n->option);
	free(config);
	if (set == 'n') {
		checkup_add(f, ": this kernel is built without it");
		checkup_remedy(f, "build it with CONFIG_%s=m", n->option);
		return;
	}
	checkup_remedy(f, "modprobe %s (CONFIG_%s%s)", n->driver, n->option,
		       n->is_vendors ? ", which is in kernels of the vendor alone" : "");
}

static void check_npu(struct checkup *c, const struct npu *n, const char *device)
{
	char path[BOARD_PATH], driver[BOARD_NAME];
	struct finding *f;

	snprintf(path, sizeof(path), DEVICES "/%s/driver", device);
	board_link_name(c->root, path, driver, sizeof(driver));
	if (!n->driver) {
		f = checkup_next(c, "NPU", FINDING_WARN, "%s (%s): Linux has no driver for it",
				 device, n->name);
		checkup_remedy(f, "it drives Ethos-U65 and U85; ethosu://sim models an U55");
	} else if (!*driver) {
		check_unbound(c, n, device);
	} else if (strcmp(driver, n->driver)) {
		f = checkup_next(c, "NPU", FINDING_WARN, "%s (%s) is bound to %s, not to %s",
				 device, n->name, driver, n->driver);
		checkup_remedy(f, "unbind it, and load %s", n->driver);
	} else {
		check_nodes(c, n, device);
	}
}

/* A driver that finds no device: the device tree lacks it. */
static void check_idle(struct checkup *c, const char *driver, bool found)
{
	char path[BOARD_PATH];
	struct finding *f;

	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/%s", driver);
	if (found || !board_exists(c->root, path))
		return;
	f = checkup_next(c, "NPU", FINDING_WARN,
			 "%s is loaded, and the device tree has nothing for it", driver);
	checkup_remedy(f, "add the NPU's node to the device tree, with status = \"okay\"");
}

void checkup_npus(struct checkup *c)
{
	char(*names)[BOARD_NAME] = malloc(DEVICES_MOST * sizeof(*names));
	bool found[NPUS] = { false };
	char path[BOARD_PATH], uevent[2048];
	const struct npu *n;
	size_t count, i, k;

	if (!names)
		return;
	count = board_entries(c->root, DEVICES, "", names, DEVICES_MOST);
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), DEVICES "/%.63s/uevent", names[i]);
		board_text(c->root, path, uevent, sizeof(uevent));
		n = npu_of(uevent);
		if (!n)
			continue;
		check_npu(c, n, names[i]);
		for (k = 0; k < NPUS; k++)
			found[k] |=
				n->driver && npus[k].driver && !strcmp(n->driver, npus[k].driver);
	}
	free(names);
	/* those with one driver stand together */
	for (k = 0; k < NPUS; k++)
		if (npus[k].driver &&
		    (!k || !npus[k - 1].driver || strcmp(npus[k].driver, npus[k - 1].driver)))
			check_idle(c, npus[k].driver, found[k]);
}
