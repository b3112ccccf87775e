/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/backend/payload_format.h>
#include <tenon/prepare.h>

#include "lib/brief_errors.h"

#ifndef CONFIG_PAYLOAD_FORMATS
static int off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_PAYLOAD_FORMATS is off in this build");
}

int tenon_payload_format_register(const struct tenon_payload_format *format)
{
	(void)format;
	return off();
}

int tenon_payload_add_function(struct tenon_payload_info *info,
			       const struct tenon_payload_function *function)
{
	(void)info;
	(void)function;
	return off();
}

int tenon_payload_add_part(struct tenon_payload_info *info, struct tenon_slice name,
			   struct tenon_slice code, uint32_t flags)
{
	(void)info;
	(void)name;
	(void)code;
	(void)flags;
	return off();
}
#endif

#if defined(CONFIG_DEVICES) && !defined(CONFIG_KERNEL_PREPARE)
static int prepare_off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_KERNEL_PREPARE is off in this build");
}

int tenon_module_prepare(struct tenon_module *m, struct tenon_device *device,
			 const struct tenon_prepare *how)
{
	(void)m;
	(void)device;
	(void)how;
	return prepare_off();
}

int tenon_module_prepare_start(struct tenon_module *m, struct tenon_device *device,
			       const struct tenon_prepare *how, struct tenon_preparation **out)
{
	(void)m;
	(void)device;
	(void)how;
	*out = NULL;
	return prepare_off();
}

int tenon_preparation_wait(struct tenon_preparation *p)
{
	(void)p;
	return prepare_off();
}
#endif
