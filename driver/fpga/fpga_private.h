/* SPDX-License-Identifier: MIT */
/* The check of firmware names that managers and overlays share. */
#ifndef DRIVER_FPGA_PRIVATE_H
#define DRIVER_FPGA_PRIVATE_H

/* The kernel opens the file as root: refuse paths outside the folder of firmware. Return: 0; -TENON_E_VALUE. */
int fpga_check_firmware(const char *firmware);

#endif /* DRIVER_FPGA_PRIVATE_H */
