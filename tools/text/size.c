/* SPDX-License-Identifier: MIT */
/* Sizes in units of 1024. */
#include "tools/text/text.h"

#include <stdio.h>

const char *size_text(uint64_t bytes, char text[SIZE_TEXT])
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	int unit = 0;

	while (unit < 6 && value >= 1023.5) {
		value /= 1024;
		unit++;
	}
	/* "1.2 MiB", "12 MiB", "4 KiB" */
	snprintf(text, SIZE_TEXT, "%.*f %s",
		 value < 9.95 && (uint64_t)(value * 10 + 0.5) % 10 ? 1 : 0, value,
		 bytes == 1 ? "byte" : units[unit]);
	return text;
}
