/* SPDX-License-Identifier: MIT */
/* What uio_interrupt.c calls of uio_pci.c: the mask of interrupts in configuration space. */
#ifndef DRIVER_UIO_PRIVATE_H
#define DRIVER_UIO_PRIVATE_H

#include "driver/uio/uio.h"

/* Clear "interrupt disable" in configuration space. Return: 0; else system_read_whole(). */
int uio_pci_enable_interrupt(struct uio *u);

#endif /* DRIVER_UIO_PRIVATE_H */
