/* SPDX-License-Identifier: MIT */
/* Load bitstreams and device-tree overlays by the kernel's FPGA manager. */
#ifndef DRIVER_FPGA_H
#define DRIVER_FPGA_H

/*
 * /sys/class/fpga_manager/fpgaN tells the state of the logic. Mainline kernels load a bitstream by a device-tree
 * overlay that names it; kernels of vendors also by writing its name to an attribute. Overlays are made in configfs
 * (/sys/kernel/config/device-tree/overlays), which these kernels have too.
 *
 * Loading a bitstream exchanges hardware: stop what uses it first. Nothing here is called by the runtime itself.
 */

#include <stdbool.h>

#include "driver/syscall/syscall.h"

/**
 * enum fpga_state - what the manager says
 */
enum fpga_state {
	FPGA_OPERATING, /* a bitstream is loaded */
	FPGA_EMPTY,	/* off, in reset, or nothing is known */
	FPGA_LOADING,
	FPGA_FAILED,
};

/**
 * struct fpga - a manager
 * @calls: system calls
 * @folder: "/sys/class/fpga_manager/fpga0"
 * @name: name that the driver gave: "Xilinx Zynq FPGA Manager"
 */
struct fpga {
	const struct system_calls *calls;
	char folder[256];
	char name[64];
};

/**
 * fpga_open - find a manager
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /sys; "" except in tests
 * @number: N of fpgaN
 * @out: the manager; it holds nothing that must be closed
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is no such manager; else system_open().
 */
int fpga_open(const struct system_calls *calls, const char *root, unsigned int number,
	      struct fpga *out);

/**
 * fpga_get_state - read the state
 * @f: the manager
 * @state: FPGA_EMPTY on failure
 * @words: the kernel's words, "write complete error"; @room bytes
 * @room: bytes of @words
 *
 * Return: 0; else system_read_text().
 */
int fpga_get_state(struct fpga *f, enum fpga_state *state, char *words, size_t room);

/**
 * fpga_check - is a bitstream loaded, and without errors
 *
 * Return: 0; -TENON_E_DEVICE with the kernel's words; else system_read_text().
 */
int fpga_check(struct fpga *f);

/**
 * fpga_load - load a bitstream by its name, on kernels that can
 * @f: the manager
 * @firmware: path below /lib/firmware
 * @partial: it replaces a region, not all logic
 *
 * Return: 0 when it operates; -TENON_E_VALUE when the path is empty, absolute, or leaves the folder;
 *	-TENON_E_UNSUPPORTED when the kernel loads by overlays only; -TENON_E_NOT_FOUND when the kernel does not find the
 *	file; -TENON_E_DEVICE, with the step in the kernel's words, when the bitstream does not fit or is broken, or
 *	another one is being loaded; else system_write_text().
 */
int fpga_load(struct fpga *f, const char *firmware, bool partial);

/**
 * fpga_overlay_check - check the words for an overlay
 * @root: prefix of /sys; "" except in tests
 * @name: name of the overlay
 * @firmware: path of the .dtbo below /lib/firmware; NULL for none
 *
 * Return: 0; -TENON_E_VALUE for names that are none.
 */
int fpga_overlay_check(const char *root, const char *name, const char *firmware);

/**
 * fpga_overlay_apply - apply a device-tree overlay
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /sys; "" except in tests
 * @name: name of the overlay, for fpga_overlay_remove()
 * @firmware: path of the .dtbo below /lib/firmware
 *
 * The kernel loads the bitstream that it names, and probes the drivers of the devices in it.
 *
 * Return: 0; as fpga_overlay_check(); -TENON_E_EXISTS when an overlay of this name is applied;
 *	-TENON_E_UNSUPPORTED when the kernel has no overlays in configfs, or configfs is not mounted; -TENON_E_DEVICE when
 *	it was not applied. The overlay is removed on failure.
 */
int fpga_overlay_apply(const struct system_calls *calls, const char *root, const char *name,
		       const char *firmware);

/** fpga_overlay_remove - remove an overlay. Return: 0; -TENON_E_NOT_FOUND when there is none; else system_status() */
int fpga_overlay_remove(const struct system_calls *calls, const char *root, const char *name);

#endif /* DRIVER_FPGA_H */
