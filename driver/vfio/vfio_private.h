/* SPDX-License-Identifier: MIT */
/* What vfio.c calls of vfio_dma.c: the limits of the IOMMU. */
#ifndef DRIVER_VFIO_PRIVATE_H
#define DRIVER_VFIO_PRIVATE_H

#include "driver/vfio/vfio.h"

/* Read page sizes and ranges of the address space. Return: 0; the negative status. */
int vfio_read_iommu(struct vfio *v);

#endif /* DRIVER_VFIO_PRIVATE_H */
