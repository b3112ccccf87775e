/* SPDX-License-Identifier: MIT */
/* What the files of UIO share: bits of PCI's command register. */
#ifndef DRIVER_UIO_PRIVATE_H
#define DRIVER_UIO_PRIVATE_H

#include "driver/uio/uio.h"

/* bits of the command register in PCI configuration space */
#define PCI_MASTER	      0x0004
#define PCI_INTERRUPT_DISABLE 0x0400

/* Clear and set bits of the command register. Return: as uio_pci_set_master(). */
int uio_pci_change_command(struct uio *u, uint16_t clear, uint16_t set);

#endif /* DRIVER_UIO_PRIVATE_H */
