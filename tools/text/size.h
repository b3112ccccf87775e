/* SPDX-License-Identifier: MIT */
/* Sizes as people read them. */
#ifndef TOOLS_TEXT_SIZE_H
#define TOOLS_TEXT_SIZE_H

#include <stdint.h>

#define SIZE_TEXT 24

/** size_text - format a size with three digits and its unit: "612 KiB", "1.2 MiB" */
const char *size_text(uint64_t bytes, char text[SIZE_TEXT]);

#endif /* TOOLS_TEXT_SIZE_H */
