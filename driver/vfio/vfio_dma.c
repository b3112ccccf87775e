/* SPDX-License-Identifier: MIT */
/* Map memory for a device at an address, within the IOMMU's page sizes and ranges. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/vfio/vfio.h"
#include "driver/vfio/vfio_private.h"
#include "driver/vfio/vfio_uapi.h"
#include "lib/brief_errors.h"

/* The kernel's answer, a struct and a chain of capabilities at offsets in it. A device has a few hundred bytes. */
struct answer {
	union {
		struct vfio_uapi_iommu_info info;
		uint8_t bytes[4096];
	};
};

static void read_ranges(struct vfio *v, const struct answer *a, uint32_t size, uint32_t at)
{
	struct vfio_uapi_iova_ranges list;
	uint64_t pair[2];

	if (size < sizeof(list) || at > size - sizeof(list))
		return;
	memcpy(&list, a->bytes + at, sizeof(list));
	at += sizeof(list);
	for (uint32_t i = 0; i < list.count && v->range_count < VFIO_RANGES; i++) {
		if (at > size || size - at < sizeof(pair))
			return;
		memcpy(pair, a->bytes + at, sizeof(pair));
		at += sizeof(pair);
		v->range[v->range_count].first = pair[0];
		v->range[v->range_count].last = pair[1];
		v->range_count++;
	}
}

/* Follow the chain forwards only, so that it ends. */
static void read_capabilities(struct vfio *v, const struct answer *a)
{
	uint32_t size = a->info.size < sizeof(*a) ? a->info.size : sizeof(*a);
	uint32_t at = a->info.cap_offset, previous = 0;
	struct vfio_uapi_cap cap;

	while (at > previous && size >= sizeof(cap) && at <= size - sizeof(cap)) {
		memcpy(&cap, a->bytes + at, sizeof(cap));
		if (cap.id == VFIO_CAP_IOVA_RANGES && cap.version == 1)
			read_ranges(v, a, size, at);
		previous = at;
		at = cap.next;
	}
}

int vfio_read_iommu(struct vfio *v)
{
	struct answer a;
	int err;

	memset(&a, 0, sizeof(a));
	a.info.size = sizeof(a);
	err = system_ioctl(v->calls, v->container, VFIO_IOMMU_GET_INFO, &a);
	if (err < 0)
		return system_error(-err, "the IOMMU", "ask for its addresses");
	if (a.info.flags & VFIO_INFO_HAS_PAGE_SIZES)
		v->page_sizes = a.info.page_sizes;
	/* the kernel omits a chain that does not fit, and reports the size it needs */
	if (a.info.flags & VFIO_INFO_HAS_CAPS)
		read_capabilities(v, &a);
	return 0;
}

static bool is_mappable(const struct vfio *v, uint64_t iova, uint64_t size)
{
	if (!v->range_count)
		return true;
	for (unsigned int i = 0; i < v->range_count; i++)
		if (iova >= v->range[i].first && iova <= v->range[i].last &&
		    size - 1 <= v->range[i].last - iova)
			return true;
	return false;
}

static int check_map(const struct vfio *v, const void *memory, uint64_t size, uint64_t iova)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!size || ((uintptr_t)memory | size | iova) & (page - 1))
		return tenon_error(-TENON_E_VALUE,
				   "%s: %" PRIu64 " bytes at IOVA 0x%" PRIx64
				   " are no whole pages of %" PRIu64 " bytes",
				   v->name, size, iova, page);
	if (is_mappable(v, iova, size))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s: the IOMMU cannot map %" PRIu64 " bytes at IOVA 0x%" PRIx64, v->name,
			   size, iova);
}

int vfio_map_dma(struct vfio *v, void *memory, uint64_t size, uint64_t iova, unsigned int access)
{
	struct vfio_uapi_map map = {
		.size = sizeof(map),
		.flags = access,
		.address = (uintptr_t)memory,
		.iova = iova,
		.bytes = size,
	};
	int err = check_map(v, memory, size, iova);

	if (err)
		return err;
	err = system_ioctl(v->calls, v->container, VFIO_IOMMU_MAP_DMA, &map);
	if (err == -ENOMEM)
		return tenon_error(-TENON_E_NOMEM,
				   "%s: cannot map %" PRIu64
				   " bytes for DMA: they exceed the limit of locked memory (ulimit "
				   "-l), or memory ran out",
				   v->name, size);
	return err < 0 ? system_error(-err, v->name, "map memory for DMA") : 0;
}

int vfio_unmap_dma(struct vfio *v, uint64_t iova, uint64_t size)
{
	struct vfio_uapi_unmap unmap = {
		.size = sizeof(unmap),
		.iova = iova,
		.bytes = size,
	};
	int err = system_ioctl(v->calls, v->container, VFIO_IOMMU_UNMAP_DMA, &unmap);

	if (err < 0)
		return system_error(-err, v->name, "unmap memory");
	if (unmap.bytes == size)
		return 0;
	return tenon_error(-TENON_E_NOT_FOUND,
			   "%s: %" PRIu64 " of %" PRIu64 " bytes were mapped at IOVA 0x%" PRIx64,
			   v->name, unmap.bytes, size, iova);
}
