/* SPDX-License-Identifier: MIT */
/* Programs for backends, made of payloads. */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H
#define RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H

#include "runtime/payload/payload_format.h"

/**
 * payload_program_make - make a program from a parsed payload
 * @format: format of its kind; may be NULL
 * @info: the parsed payload
 * @label: copied; prefix of messages
 * @out: receives the program
 *
 * Return: as tenon_program_read().
 */
int payload_program_make(const struct tenon_payload_format *format,
			 const struct tenon_payload_info *info, const char *label,
			 struct tenon_program **out);

/**
 * payload_read_either - read a payload whose tables may have either form, before or since TVM 0.20
 * @format: format of its kind; may be NULL
 * @bytes: the payload
 * @info: the caller sets @kind and @generation; receives the rest, @extra_tags too. On failure
 * there is nothing to free.
 *
 * Return: as payload_read().
 */
int payload_read_either(const struct tenon_payload_format *format, struct tenon_slice bytes,
			struct tenon_payload_info *info);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H */
