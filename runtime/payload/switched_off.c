/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/backend/payload_format.h>

#include "lib/switched_off.h"

#ifndef CONFIG_PAYLOAD_FORMATS
static int off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "this build reads no payloads; CONFIG_DEVICES, "
						 "CONFIG_TVM_LEGACY and CONFIG_TOOL do");
}

#define OFF_REASON off()
/* clang-format off */
OFF(tenon_payload_format_register, (const struct tenon_payload_format *format))
OFF(tenon_payload_add_function, (struct tenon_payload_info *info, const struct tenon_payload_function *function))
OFF(tenon_payload_add_part, (struct tenon_payload_info *info, struct tenon_slice name, struct tenon_slice code,
	uint32_t flags))
#endif
