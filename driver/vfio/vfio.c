/* SPDX-License-Identifier: MIT */
/* Open a device with its IOMMU group and container, and reset it. */
#include "driver/vfio/vfio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/vfio/vfio_uapi.h"
#include "lib/brief_errors.h"

/* The group is the last part of a link: ../../../kernel/iommu_groups/7 */
static int read_group_link(struct vfio *v, const char *root, const char *bus)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t n;
	int end = 0;

	snprintf(path, sizeof(path), "%s/sys/bus/%s/devices/%s/iommu_group", root, bus, v->name);
	n = v->calls->readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return system_error(errno, path, "read the link");
	target[n] = 0;
	last = strrchr(target, '/');
	if (last && sscanf(last, "/%u%n", &v->group_number, &end) == 1 && !last[end])
		return 0;
	return tenon_error(-TENON_E_FORMAT, "%s: expected the number of a group, found \"%s\"",
			   path, target);
}

static bool device_exists(const struct vfio *v, const char *root, const char *bus)
{
	char path[PATH_MAX], target[8];

	/* entries of these folders are links */
	snprintf(path, sizeof(path), "%s/sys/bus/%s/devices/%s", root, bus, v->name);
	return v->calls->readlink(path, target, sizeof(target)) >= 0;
}

static int find_group(struct vfio *v, const char *root)
{
	static const char *const buses[] = { "pci", "platform" };
	int err;

	if (!*v->name || strchr(v->name, '/'))
		return tenon_error(-TENON_E_VALUE, "\"%s\" is not the name of a device", v->name);
	for (size_t i = 0; i < sizeof(buses) / sizeof(*buses); i++) {
		err = read_group_link(v, root, buses[i]);
		if (err != -TENON_E_NOT_FOUND)
			return err;
		if (device_exists(v, root, buses[i]))
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "no IOMMU for this device: enable it in the firmware "
					   "and on the kernel's command line (intel_iommu=on)");
	}
	return tenon_error(-TENON_E_NOT_FOUND,
			   "there is no such device in %s/sys/bus/{pci,platform}/devices", root);
}

static int open_container(struct vfio *v, const char *root)
{
	char path[PATH_MAX];
	int version;

	snprintf(path, sizeof(path), "%s/dev/vfio/vfio", root);
	v->container = system_open(v->calls, path, O_RDWR);
	if (v->container < 0)
		return v->container;
	version = system_ioctl(v->calls, v->container, VFIO_GET_API_VERSION, NULL);
	if (version < 0)
		return system_error(-version, path, "ask for its version");
	if (version != VFIO_VERSION)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: expected version %d of the interface, found %d", path,
				   VFIO_VERSION, version);
	return 0;
}

static int open_group(struct vfio *v, const char *root)
{
	struct vfio_uapi_group_status status = { .size = sizeof(status) };
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/dev/vfio/%u", root, v->group_number);
	v->group = system_open(v->calls, path, O_RDWR);
	if (v->group == -TENON_E_NOT_FOUND)
		return tenon_error_in(v->group, "bind the device to vfio-pci or vfio-platform");
	if (v->group < 0)
		return v->group;
	err = system_ioctl(v->calls, v->group, VFIO_GROUP_GET_STATUS, &status);
	if (err < 0)
		return system_error(-err, path, "ask for its status");
	if (!(status.flags & VFIO_GROUP_VIABLE))
		return tenon_error(-TENON_E_DEVICE,
				   "%s: other devices of this group are bound to other drivers: "
				   "bind them to vfio-pci too",
				   path);
	err = system_ioctl(v->calls, v->group, VFIO_GROUP_SET_CONTAINER, &v->container);
	return err < 0 ? system_error(-err, path, "put it into an address space") : 0;
}

static int set_iommu(struct vfio *v)
{
	int type, err;

	for (type = VFIO_IOMMU_TYPE1_V2;; type = VFIO_IOMMU_TYPE1) {
		err = system_ioctl(v->calls, v->container, VFIO_CHECK_EXTENSION,
				   (void *)(intptr_t)type);
		if (err < 0)
			return system_error(-err, "/dev/vfio/vfio", "ask for the type of IOMMU");
		if (err)
			break;
		if (type == VFIO_IOMMU_TYPE1)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "the IOMMU is not of type 1 (module vfio_iommu_type1)");
	}
	err = system_ioctl(v->calls, v->container, VFIO_SET_IOMMU, (void *)(intptr_t)type);
	return err < 0 ? system_error(-err, "/dev/vfio/vfio", "choose the type of IOMMU") : 0;
}

static int open_device(struct vfio *v)
{
	struct vfio_uapi_device_info info = { .size = sizeof(info) };
	int err;

	v->fd = system_ioctl(v->calls, v->group, VFIO_GROUP_GET_DEVICE_FD, v->name);
	if (v->fd == -ENODEV)
		return tenon_error(-TENON_E_NOT_FOUND,
				   "bind the device to vfio-pci or vfio-platform");
	if (v->fd < 0)
		return system_error(-v->fd, "the device", "open it");
	err = system_ioctl(v->calls, v->fd, VFIO_DEVICE_GET_INFO, &info);
	if (err < 0)
		return system_error(-err, "the device", "ask for its regions");
	v->is_pci = info.flags & VFIO_DEVICE_IS_PCI;
	v->regions = info.regions;
	v->irqs = info.irqs;
	return 0;
}

int vfio_open(const struct system_calls *calls, const char *root, const char *name,
	      struct vfio *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	out->calls = system_calls_or_kernel(calls);
	out->container = out->group = out->fd = -1;
	if (snprintf(out->name, sizeof(out->name), "%s", name) >= (int)sizeof(out->name))
		return tenon_error(-TENON_E_VALUE, "\"%s\" is not the name of a device", name);
	err = find_group(out, root);
	if (!err)
		err = open_container(out, root);
	if (!err)
		err = open_group(out, root);
	if (!err)
		err = set_iommu(out);
	if (!err)
		err = open_device(out);
	if (!err)
		return 0;
	vfio_close(out);
	return tenon_error_in(err, "%s", out->name);
}

void vfio_close(struct vfio *v)
{
	system_close(v->calls, &v->fd);
	system_close(v->calls, &v->group);
	system_close(v->calls, &v->container);
}
