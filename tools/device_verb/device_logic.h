/* SPDX-License-Identifier: MIT */
/* The logic of an FPGA: bitstreams loaded by the kernel's FPGA manager, and device-tree overlays. */
#ifndef TOOLS_DEVICE_VERB_DEVICE_LOGIC_H
#define TOOLS_DEVICE_VERB_DEVICE_LOGIC_H

#include <stdint.h>

#include "tools/cli/cli.h"

/**
 * struct device_logic - what is asked of the kernel
 * @manager: "fpga0"
 * @file: a bitstream with a header, or an overlay below /lib/firmware
 * @overlay: the overlay's name in configfs
 * @root: prefix of /sys and /lib/firmware; "" but for a board's files elsewhere
 * @copy: write the bitstream below /lib/firmware first
 * @json: print JSON
 */
struct device_logic {
	const char *manager;
	const char *file;
	const char *overlay;
	const char *root;
	bool copy;
	bool json;
};

#ifdef CONFIG_KERNEL_CACHE

/** device_logic_program - load the bitstream @file by @manager, and print what operates then; an exit code */
int device_logic_program(struct cli *cli, const struct device_logic *l);

/** device_logic_apply - apply the overlay @file under the name @overlay; an exit code */
int device_logic_apply(struct cli *cli, const struct device_logic *l);

/** device_logic_remove - remove the overlay @overlay; an exit code */
int device_logic_remove(struct cli *cli, const struct device_logic *l);

#else

static inline int device_logic_missing(struct cli *cli)
{
	tenon_error(-TENON_E_UNSUPPORTED,
		    "this build does not load the logic of FPGAs; it was made without "
		    "CONFIG_KERNEL_CACHE, whose hashes bitstreams have");
	return cli_error(cli, CLI_UNAVAILABLE);
}

#define device_logic_program(cli, l) ((void)(l), device_logic_missing(cli))
#define device_logic_apply(cli, l)   ((void)(l), device_logic_missing(cli))
#define device_logic_remove(cli, l)  ((void)(l), device_logic_missing(cli))

#endif

#endif /* TOOLS_DEVICE_VERB_DEVICE_LOGIC_H */
