/* SPDX-License-Identifier: MIT */
/* Payloads of SPIR-V programs, which OpenCL and Vulkan share. */
#ifndef DEVICES_SPIRV_SPIRV_PAYLOAD_H
#define DEVICES_SPIRV_SPIRV_PAYLOAD_H

#include <tenon/backend/payload_format.h>

#include "lib/plugin_api.h"

/**
 * spirv_payload_parts - read a list of named SPIR-V programs, each with a flag
 * @c: cursor
 * @info: receives a part for each
 *
 * Up to TVM 0.23 a program follows its name; later versions write a length between them.
 *
 * Return: 0; negative, with the offset in the message.
 */
int spirv_payload_parts(struct tenon_cursor *c, struct tenon_payload_info *info)
	TO_PLUGINS(spirv_payload_parts);

#endif /* DEVICES_SPIRV_SPIRV_PAYLOAD_H */
