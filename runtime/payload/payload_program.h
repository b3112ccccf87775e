/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H
#define RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H

#include "runtime/payload/payload_format.h"

/**
 * payload_program_make - make a program of a payload that was read
 * @format: of its kind; may be NULL
 * @info: what was read
 * @label: copied; in front of messages
 * @out: receives the program
 *
 * Return: as tenon_program_read().
 */
int payload_program_make(const struct tenon_payload_format *format,
			 const struct tenon_payload_info *info, const char *label,
			 struct tenon_program **out);

/**
 * payload_read_either - read a payload whose tables may have the form of TVM before or since 0.20
 * @format: of its kind; may be NULL
 * @bytes: the payload
 * @info: @kind and @generation are given; receives the rest, @extra_tags too. Nothing is to be freed
 *	after a failure.
 *
 * Return: as payload_read().
 */
int payload_read_either(const struct tenon_payload_format *format, struct tenon_slice bytes,
			struct tenon_payload_info *info);

#endif /* RUNTIME_PAYLOAD_PAYLOAD_PROGRAM_H */
