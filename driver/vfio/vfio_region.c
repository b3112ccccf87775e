/* SPDX-License-Identifier: MIT */
/* Open, map, read and write the regions of a VFIO device. */
#include <inttypes.h>
#include <string.h>
#include <tenon/error.h>

#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_uapi.h"
#include "lib/brief_errors.h"

#define REGION_READ  1u
#define REGION_WRITE 2u
#define REGION_MMAP  4u

#define PCI_COMMAND 4
#define PCI_MASTER  0x0004

int vfio_region_open(struct vfio *v, uint32_t index, struct vfio_region *out)
{
	struct vfio_uapi_region_info info = { .size = sizeof(info), .index = index };
	int err;

	memset(out, 0, sizeof(*out));
	if (index >= v->regions)
		return tenon_error(-TENON_E_VALUE, "%s: there is no region %" PRIu32, v->name,
				   index);
	err = system_ioctl(v->calls, v->fd, VFIO_DEVICE_GET_REGION, &info);
	if (err < 0)
		return system_error(-err, v->name, "ask for a region");
	if (!info.bytes)
		return tenon_error(-TENON_E_VALUE, "%s: region %" PRIu32 " is empty", v->name,
				   index);
	if (info.offset > INT64_MAX || info.bytes > INT64_MAX - info.offset)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%s: region %" PRIu32 " has %" PRIu64 " bytes", v->name, index,
				   info.bytes);
	out->size = info.bytes;
	out->offset = info.offset;
	out->readable = info.flags & REGION_READ;
	out->writable = info.flags & REGION_WRITE;
	out->mappable = info.flags & REGION_MMAP;
	return 0;
}

int vfio_region_map(struct vfio *v, struct vfio_region *region)
{
	void *start;
	int err;

	if (region->base)
		return 0;
	if (!region->mappable)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: the region at offset 0x%" PRIx64 " cannot be mapped",
				   v->name, region->offset);
	err = system_map(v->calls, v->fd, v->name, region->offset, region->size, &start);
	region->base = start;
	return err;
}

void vfio_region_close(struct vfio *v, struct vfio_region *region)
{
	void *start = (void *)region->base;

	system_unmap(v->calls, &start, region->size);
	region->base = NULL;
}

static int check_range(const struct vfio *v, const struct vfio_region *region, bool allowed,
		       uint64_t offset, size_t size)
{
	if (allowed && offset <= region->size && size <= region->size - offset)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: %zu bytes at 0x%" PRIx64 " of a region of %" PRIu64
			   " bytes cannot be accessed by calls",
			   v->name, size, offset, region->size);
}

int vfio_region_read(struct vfio *v, const struct vfio_region *region, uint64_t offset, void *bytes,
		     size_t size)
{
	int err = check_range(v, region, region->readable, offset, size);

	if (err)
		return err;
	return system_read_whole(v->calls, v->fd, v->name, region->offset + offset, bytes, size);
}

int vfio_region_write(struct vfio *v, const struct vfio_region *region, uint64_t offset,
		      const void *bytes, size_t size)
{
	int err = check_range(v, region, region->writable, offset, size);

	if (err)
		return err;
	return system_write_whole(v->calls, v->fd, v->name, region->offset + offset, bytes, size);
}

int vfio_pci_set_master(struct vfio *v, bool on)
{
	struct vfio_region config;
	uint8_t bytes[2];
	uint16_t command;
	int err;

	if (!v->is_pci)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s is not on PCI", v->name);
	err = vfio_region_open(v, VFIO_PCI_CONFIG, &config);
	if (!err)
		err = vfio_region_read(v, &config, PCI_COMMAND, bytes, sizeof(bytes));
	if (err)
		return err;
	command = (uint16_t)(bytes[0] | bytes[1] << 8);
	command = (uint16_t)(on ? command | PCI_MASTER : command & ~PCI_MASTER);
	bytes[0] = (uint8_t)command;
	bytes[1] = (uint8_t)(command >> 8);
	return vfio_region_write(v, &config, PCI_COMMAND, bytes, sizeof(bytes));
}
