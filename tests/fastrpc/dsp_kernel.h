/* SPDX-License-Identifier: MIT */
/*
 * A named fake of the kernel's FastRPC and of the DSP behind it, to test mortise on Hexagon without a phone or board.
 *
 * Calls and layouts are those of the kernel's header. A process on the DSP is a program that qemu-hexagon runs
 * (dsp_process.c); it loads the library that Tenon delivers. So an emulator that knows nothing of Tenon executes the
 * firmware.
 */
#ifndef TESTS_FASTRPC_DSP_KERNEL_H
#define TESTS_FASTRPC_DSP_KERNEL_H

#include <stdint.h>

#include "driver/syscall/syscall.h"

#define DSP_NODE  "/dev/fastrpc-cdsp"
#define DSP_SHELL "/usr/lib/dsp/cdsp/fastrpc_shell_unsigned_3"

/**
 * struct dsp_kernel - what goes wrong, and what there is
 * @libraries: folder that the DSP's loader searches; NULL: that of the firmware
 * @map_address: an address to answer instead of the right one; 0: none
 * @processes: on the DSP
 * @opened: how often a node was opened
 */
extern struct dsp_kernel {
	const char *libraries;
	uint64_t map_address;
	unsigned int processes;
	unsigned int opened;
} dsp_kernel;

extern struct system_calls dsp_calls;

/* Make the node and a shell below "tree". Return: why there can be no DSP here; NULL. */
const char *dsp_kernel_start(void);

/* The same, and let boards look for DSPs there. */
const char *dsp_kernel_use(void);

/* Send a signal to the process on the DSP that was created last; SIGSTOP has happened on return. */
void dsp_kernel_signal(int signal);

#endif /* TESTS_FASTRPC_DSP_KERNEL_H */
