/* SPDX-License-Identifier: MIT */
/* What the plug-in hands over. */
#include "runtime/core/describer.h"

extern const struct describer describe_describer;

const struct describer describe_describer = {
	.look = describe_look,
	.object = describe_object,
	.module = describe_module,
	.stand_in = describe_stand_in,
	.blob = describe_blob,
#ifdef CONFIG_PAYLOAD_FORMATS
	.payload = describe_payload,
	.functions = describe_functions,
#endif
#ifdef CONFIG_DEVICES
	.program = describe_program,
#ifdef CONFIG_DSO
	.artifacts = describe_artifacts,
#endif
#endif
};
