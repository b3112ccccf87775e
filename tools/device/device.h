/* SPDX-License-Identifier: MIT */
/* What tenon device reset does and reports. */
#ifndef TOOLS_DEVICE_DEVICE_H
#define TOOLS_DEVICE_DEVICE_H

#include <stdint.h>
#include <tenon/device.h>

#include "tools/cli/cli.h"

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
#else
static inline int device_reset_json(const struct device_reset *reset, FILE *out)
{
	return -TENON_E_UNSUPPORTED; /* unreachable: --json was refused */
}
#endif

#endif /* TOOLS_DEVICE_DEVICE_H */
