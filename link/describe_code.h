/* SPDX-License-Identifier: MIT */
/* Describe the processor that host code needs, for callers that have read its file. */
#ifndef LINK_DESCRIBE_CODE_H
#define LINK_DESCRIBE_CODE_H

#include <tenon/link.h>

/**
 * describe_code - tenon_link_processor(), for a caller that has the contents of the file
 * @file: its name, for messages
 * @bytes: its contents
 * @out: as tenon_link_processor()
 *
 * Return: as tenon_link_processor().
 */
int describe_code(const char *file, struct tenon_slice bytes,
		  const struct tenon_link_processor **out);

#endif /* LINK_DESCRIBE_CODE_H */
