/* SPDX-License-Identifier: MIT */
/* What tenon device does and reports. */
#ifndef TOOLS_DEVICE_VERB_DEVICE_H
#define TOOLS_DEVICE_VERB_DEVICE_H

#include <stdint.h>
#include <tenon/device.h>

#include "driver/fpga/fpga_bitstream.h"
#include "tools/cli/cli.h"
#include "tools/cli/verbs.h"

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

/**
 * struct device_reset - data of `tenon device reset`
 * @uri: as given
 * @device: as it came back
 * @nanoseconds: from the request until it came back
 */
struct device_reset {
	const char *uri;
	const struct tenon_device *device;
	uint64_t nanoseconds;
};

/** device_reset_json - write the result as JSON; 0 or -TENON_E_NOMEM */
int device_reset_json(const struct device_reset *reset, FILE *out);

/** device_program_json - write what operates as JSON; 0 or -TENON_E_NOMEM */
int device_program_json(const struct device_logic *l, const struct fpga *f,
			const struct fpga_bitstream *b, FILE *out);

/** device_overlay_json - write which overlay was applied or removed as JSON; 0 or -TENON_E_NOMEM */
int device_overlay_json(const struct device_logic *l, bool is_applied, FILE *out);

/** device_logic_program - load the bitstream @file by @manager, and print what operates then; an exit code */
int device_logic_program(struct cli *cli, const struct device_logic *l);

/** device_logic_apply - apply the overlay @file under the name @overlay; an exit code */
int device_logic_apply(struct cli *cli, const struct device_logic *l);

/** device_logic_remove - remove the overlay @overlay; an exit code */
int device_logic_remove(struct cli *cli, const struct device_logic *l);

#endif /* TOOLS_DEVICE_VERB_DEVICE_H */
