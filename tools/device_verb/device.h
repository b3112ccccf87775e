/* SPDX-License-Identifier: MIT */
/* What tenon device does and reports. */
#ifndef TOOLS_DEVICE_VERB_DEVICE_H
#define TOOLS_DEVICE_VERB_DEVICE_H

#include <stdint.h>
#include <tenon/device.h>

#include "driver/fpga/fpga_bitstream.h"
#include "tools/cli/cli.h"
#include "tools/device_verb/device_logic.h"

extern const struct cli_command device_command;

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

#ifdef CONFIG_JSON
/** device_reset_json - write the result as JSON; 0 or -TENON_E_NOMEM */
int device_reset_json(const struct device_reset *reset, FILE *out);

/** device_program_json - write what operates as JSON; 0 or -TENON_E_NOMEM */
int device_program_json(const struct device_logic *l, const struct fpga *f,
			const struct fpga_bitstream *b, FILE *out);

/** device_overlay_json - write which overlay was applied or removed as JSON; 0 or -TENON_E_NOMEM */
int device_overlay_json(const struct device_logic *l, bool is_applied, FILE *out);
#else
/* unreachable: --json was refused */
#define device_reset_json(reset, out)	     (-TENON_E_UNSUPPORTED)
#define device_program_json(l, f, b, out)    (-TENON_E_UNSUPPORTED)
#define device_overlay_json(l, applied, out) (-TENON_E_UNSUPPORTED)
#endif

#endif /* TOOLS_DEVICE_VERB_DEVICE_H */
