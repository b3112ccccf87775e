/* SPDX-License-Identifier: MIT */
/*
 * What could keep a board from being used: nodes, firmware, memory, IOMMU, states, the kernel's options. Nothing is opened
 * for writing, and no device is touched: all of it is what sysfs, procfs and nodes say.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tools/doctor/board_files.h"
#include "tools/doctor/checkup.h"
#include "tools/doctor/doctor.h"
#include "tools/text/text.h"

#define MOST 16
#define MANY 256

/* ---- the machine */

static bool has_iommu(const struct checkup *c)
{
	char one[1][BOARD_NAME];

	return board_entries(c->root, "/sys/kernel/iommu_groups", "", one, 1) > 0;
}

/* Is a group of devices let through to all memory? iommu=pt makes that the kernel's default. */
static bool passes_through(const struct checkup *c, const char *group)
{
	char path[BOARD_PATH], type[32];

	snprintf(path, sizeof(path), "%s/type", group);
	return board_text(c->root, path, type, sizeof(type)) && !strcmp(type, "identity");
}

static size_t count_passed_through(const struct checkup *c)
{
	static char names[MANY][BOARD_NAME]; /* too large for the stack */
	char path[BOARD_PATH];
	size_t count = board_entries(c->root, "/sys/kernel/iommu_groups", "", names, MANY);
	size_t passed = 0;

	for (size_t i = 0; i < count; i++) {
		/* gcc for aarch64 takes all rows for one text: the bound tells it how long a name is */
		snprintf(path, sizeof(path), "/sys/kernel/iommu_groups/%.*s", BOARD_NAME - 1,
			 names[i]);
		passed += passes_through(c, path);
	}
	return passed;
}

static void check_iommu(struct checkup *c)
{
	size_t passed = count_passed_through(c);
	char names[MOST][BOARD_NAME];
	size_t count = board_entries(c->root, "/sys/class/iommu", "", names, MOST);
	struct finding *f;

	if (passed) {
		f = checkup_next(
			c, "IOMMU", FINDING_WARN,
			"%zu groups of devices are let through to all memory, those that VFIO does "
			"not use: who may use one that does DMA can do what root can",
			passed);
		checkup_remedy(f, "leave iommu=pt out of the kernel's command line");
		return;
	}
	if (has_iommu(c)) {
		checkup_next(c, "IOMMU", FINDING_OK,
			     "devices are kept to the memory that they are given%s%s",
			     count ? " by " : "", count ? names[0] : "");
		return;
	}
	f = checkup_next(
		c, "IOMMU", FINDING_WARN,
		"none: a device reads and writes all memory by DMA, so who may use one that does "
		"DMA can do what root can");
	checkup_remedy(f, "switch it on (firmware setup; intel_iommu=on; an SMMU in the device "
			  "tree), or give "
			  "such nodes to users alone whom you trust with root");
}

/* "CmaTotal:       65536 kB" */
static bool memory_kib(const char *text, const char *key, uint64_t *kib)
{
	const char *at = strstr(text, key);

	*kib = at ? strtoull(at + strlen(key), NULL, 10) : 0;
	return at;
}

static void check_memory(struct checkup *c)
{
	char text[8192], total_text[SIZE_TEXT], free_text[SIZE_TEXT], heaps[MOST][BOARD_NAME];
	uint64_t total, left;
	struct finding *f;

	board_text(c->root, "/proc/meminfo", text, sizeof(text));
	memory_kib(text, "CmaFree:", &left);
	if (memory_kib(text, "CmaTotal:", &total) && total) {
		f = checkup_next(c, "CMA", left < total / 8 ? FINDING_WARN : FINDING_OK,
				 "%s, %s free", size_text(total << 10, total_text),
				 size_text(left << 10, free_text));
		if (f->level == FINDING_WARN)
			checkup_remedy(
				f, "large buffers for devices without an IOMMU come from it: cma=… "
				   "on the kernel's command line");
	} else {
		f = checkup_next(c, "CMA", has_iommu(c) ? FINDING_OK : FINDING_WARN,
				 "the kernel has no memory for large buffers of devices");
		if (f->level == FINDING_WARN)
			checkup_remedy(
				f, "devices without an IOMMU need it: CONFIG_DMA_CMA and cma=64M");
	}
	if (!board_entries(c->root, "/dev/dma_heap", "", heaps, MOST))
		checkup_next(c, "dma-heap", FINDING_OK,
			     "the kernel has none (CONFIG_DMABUF_HEAPS)");
}

/* A node that cannot be used is a fault where it was asked for. */
static struct finding *check_node(struct checkup *c, const char *name, const char *path,
				  bool wanted)
{
	char why[512], what[512];
	bool usable = board_node(c->root, path, why, sizeof(why), what, sizeof(what));
	struct finding *f = checkup_next(c, name,
					 usable	  ? FINDING_OK
					 : wanted ? FINDING_FAIL
						  : FINDING_WARN,
					 "%s", why);

	checkup_remedy(f, "%s", what);
	return f;
}

static void check_heaps(struct checkup *c)
{
	char names[MOST][BOARD_NAME], path[BOARD_PATH];
	size_t count = board_entries(c->root, "/dev/dma_heap", "", names, MOST);

	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/dev/dma_heap/%.255s", names[i]);
		check_node(c, "dma-heap", path, false);
	}
	/* without it, boards give no memory away */
	if (board_exists(c->root, "/dev/udmabuf"))
		check_node(c, "udmabuf", "/dev/udmabuf", false);
}

/* ---- the kernel's options */

static const struct option_sign {
	const char *option;
	const char *sign; /* a file that is there when it is in use */
} options[] = {
	{ "UIO", "/sys/class/uio" },
	{ "VFIO_PCI", "/sys/bus/pci/drivers/vfio-pci" },
	{ "VFIO_IOMMU_TYPE1", "/sys/module/vfio_iommu_type1" },
	{ "REMOTEPROC", "/sys/class/remoteproc" },
	{ "FPGA", "/sys/class/fpga_manager" },
	{ "DMABUF_HEAPS", "/dev/dma_heap" },
	{ "UDMABUF", "/dev/udmabuf" },
	{ "DRM", "/sys/class/drm" },
	{ "DRM_ACCEL", "/sys/class/accel" },
};

static void check_kernel(struct checkup *c)
{
	struct finding *f = checkup_next(c, "kernel", FINDING_OK, "%s", "");
	char *config = checkup_config(c);
	struct utsname name;

	checkup_add(f, "%s:", uname(&name) ? "unknown" : name.release);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option_sign *o = &options[i];
		char set = checkup_option(config, o->option);

		if (board_exists(c->root, o->sign))
			checkup_add(f, " %s in use", o->option);
		else
			checkup_add(f, " %s %s", o->option,
				    set == 'm'	 ? "not loaded"
				    : set == 'y' ? "without a device"
				    : set	 ? "off"
						 : "not in use");
		checkup_add(f, "%s", i + 1 < sizeof(options) / sizeof(options[0]) ? "," : "");
	}
	free(config);
}

/* ---- devices */

/* A missing thing is a fault where it was asked for. */
static void absent(struct checkup *c, const char *name, const char *what, const char *how)
{
	checkup_remedy(checkup_next(c, name, FINDING_FAIL, "%s is not there", what), "%s", how);
}

static void check_uio(struct checkup *c, const char *name, bool wanted)
{
	char path[BOARD_PATH], folder[BOARD_PATH - 64], driver[64], count[32];
	struct finding *f;

	snprintf(folder, sizeof(folder), "/sys/class/uio/%s", name);
	snprintf(path, sizeof(path), "%s/name", folder);
	if (!board_text(c->root, path, driver, sizeof(driver))) {
		absent(c, "uio", name,
		       "load the driver, and bind the device: uio_pci_generic (echo VENDOR DEVICE "
		       "> "
		       "/sys/bus/pci/drivers/uio_pci_generic/new_id), or uio_pdrv_genirq with "
		       "of_id=COMPATIBLE");
		return;
	}
	snprintf(path, sizeof(path), "/dev/%s", name);
	f = check_node(c, "uio", path, wanted);
	checkup_add(f, " (%s)", driver);
	snprintf(path, sizeof(path), "%s/event", folder);
	if (board_text(c->root, path, count, sizeof(count)))
		checkup_add(f, ", %.20s interrupts", count);
	snprintf(path, sizeof(path), "%s/device/iommu_group", folder);
	if (!strcmp(driver, "uio_pci_generic") && (!has_iommu(c) || passes_through(c, path)))
		checkup_add(f, ", no IOMMU: equivalent to root");
	snprintf(path, sizeof(path), "%s/device", folder);
	checkup_power(c, f, path);
}

static void check_vfio_node(struct checkup *c, const char *name, bool wanted)
{
	char path[BOARD_PATH];
	struct finding *f;

	snprintf(path, sizeof(path), "/dev/vfio/%s", name);
	f = check_node(c, "vfio", path, wanted);
	if (!strncmp(name, "noiommu-", 8)) {
		f->level = FINDING_WARN;
		checkup_add(f, ": without an IOMMU, which is equivalent to root");
	}
}

/* A device of PCI that is to be bound to vfio-pci. */
static void check_vfio_device(struct checkup *c, const char *address)
{
	char path[BOARD_PATH], driver[BOARD_NAME], group[BOARD_NAME];
	struct finding *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.40s", address);
	if (!board_exists(c->root, path)) {
		absent(c, "vfio", address, "look at lspci: the address, the slot, its power");
		return;
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.40s/driver", address);
	board_link_name(c->root, path, driver, sizeof(driver));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.40s/iommu_group", address);
	board_link_name(c->root, path, group, sizeof(group));
	if (strcmp(driver, "vfio-pci")) {
		f = checkup_next(c, "vfio", FINDING_FAIL, "%s is bound to %s, not to vfio-pci",
				 address, *driver ? driver : "no driver");
		checkup_remedy(f,
			       "modprobe vfio-pci; echo vfio-pci > "
			       "/sys/bus/pci/devices/%.40s/driver_override; "
			       "echo %.40s > /sys/bus/pci/drivers_probe",
			       address, address);
		return;
	}
	if (!*group) {
		f = checkup_next(c, "vfio", FINDING_FAIL, "%s has no IOMMU group", address);
		checkup_remedy(f, "switch the IOMMU on; without one use mortise://uio/N");
		return;
	}
	check_vfio_node(c, group, true);
	f = &c->list[c->count - 1];
	checkup_add(f, ", %s", address);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.40s", address);
	checkup_power(c, f, path);
}

/* The last line of the kernel's log that says so: "remoteproc remoteproc0: crash detected in dsp: type watchdog". */
static bool last_crash(const struct checkup *c, const char *name, char *text, size_t room)
{
	char path[BOARD_PATH], record[8192], words[BOARD_NAME + 24], *line, *save, *at;
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/dev/kmsg", c->root);
	snprintf(words, sizeof(words), "%s: crash detected", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* each read is a record; of a file, many */
	while (fd >= 0 && ((n = read(fd, record, sizeof(record) - 1)) > 0 ||
			   (n < 0 && (errno == EPIPE || errno == EINTR)))) {
		record[n > 0 ? n : 0] = 0;
		for (line = strtok_r(record, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			at = strstr(line, words);
			if (at)
				snprintf(text, room, "%s", at + strlen(name) + 2);
			found |= at != NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static void check_core_firmware(struct checkup *c, const char *folder, bool wanted)
{
	char path[BOARD_PATH], name[256], text[768];
	struct finding *f;
	bool there;

	snprintf(path, sizeof(path), "%s/firmware", folder);
	if (!board_text(c->root, path, name, sizeof(name)) || !*name)
		return;
	snprintf(path, sizeof(path), "/lib/firmware/%s", name);
	there = board_firmware(c->root, path, text, sizeof(text));
	f = checkup_next(c, "firmware",
			 there	  ? FINDING_OK
			 : wanted ? FINDING_FAIL
				  : FINDING_WARN,
			 "%s", text);
	if (!there)
		checkup_remedy(
			f, "install it, or name another one: mortise://remoteproc/N?firmware=FILE");
}

static void check_core(struct checkup *c, const char *name, bool wanted)
{
	char path[BOARD_PATH], folder[BOARD_PATH - 64], label[64], state[32], crash[256];
	struct finding *f;
	bool crashed;

	snprintf(folder, sizeof(folder), "/sys/class/remoteproc/%s", name);
	snprintf(path, sizeof(path), "%s/state", folder);
	if (!board_text(c->root, path, state, sizeof(state))) {
		absent(c, "remoteproc", name,
		       "load its driver, and look for the core in the device tree");
		return;
	}
	snprintf(path, sizeof(path), "%s/name", folder);
	board_text(c->root, path, label, sizeof(label));
	crashed = !strcmp(state, "crashed");
	f = checkup_next(c, "remoteproc", crashed ? FINDING_FAIL : FINDING_OK, "%s (%s): %s", name,
			 label, state);
	if (last_crash(c, name, crash, sizeof(crash)))
		checkup_add(f, ", last crash: %s", crash);
	else
		checkup_add(f, ", no crash in the kernel's log");
	if (crashed)
		checkup_remedy(
			f,
			"echo recover > %s/recovery starts it again; the kernel's log says why it "
			"crashed",
			folder);
	snprintf(path, sizeof(path), "%s/device", folder);
	checkup_power(c, f, path);
	check_core_firmware(c, folder, wanted);
}

/* Call a check for all names in a folder. */
static void check_each(struct checkup *c, const char *folder, const char *prefix,
		       void (*check)(struct checkup *c, const char *name, bool wanted))
{
	char names[MOST][BOARD_NAME];
	size_t count = board_entries(c->root, folder, prefix, names, MOST);

	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], "vfio"))
			check(c, names[i], false);
}

size_t doctor_board(const char *root, struct finding *findings, size_t most)
{
	struct checkup c = { root, findings, 0, most };

	check_kernel(&c);
	check_iommu(&c);
	check_memory(&c);
	check_heaps(&c);
	check_each(&c, "/sys/class/uio", "uio", check_uio);
	check_each(&c, "/dev/vfio", "", check_vfio_node);
	check_each(&c, "/sys/class/remoteproc", "remoteproc", check_core);
	checkup_npus(&c);
	checkup_dsps(&c);
	return c.count;
}

static bool starts(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

size_t doctor_transport(const char *root, const char *uri, struct finding *findings, size_t most)
{
	struct checkup c = { root, findings, 0, most };
	const char *place = starts(uri, "mortise://") ? uri + strlen("mortise://") : uri;
	const char *slash = strchr(place, '/');
	char name[BOARD_NAME];
	size_t size = slash ? strcspn(slash + 1, "?") : 0;

	if (!size || size > 40)
		return 0;
	if (starts(place, "vfio/")) {
		snprintf(name, sizeof(name), "%.*s", (int)size, slash + 1);
		check_vfio_device(&c, name);
	} else if (starts(place, "uio/")) {
		snprintf(name, sizeof(name), "uio%.*s", (int)size, slash + 1);
		check_uio(&c, name, true);
	} else if (starts(place, "remoteproc/")) {
		snprintf(name, sizeof(name), "remoteproc%.*s", (int)size, slash + 1);
		check_core(&c, name, true);
	}
	return c.count;
}
