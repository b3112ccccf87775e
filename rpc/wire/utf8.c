/* SPDX-License-Identifier: MIT */
/* Replace what is not UTF-8 in a string. */
#include "rpc/wire/utf8.h"

#include "lib/utf8.h"

void utf8_repair(char *text, size_t size)
{
	size_t at = 0;
	int n;

	while (at < size) {
		n = text[at] ? utf8_character((struct tenon_slice){ text + at, size - at }) : 0;
		if (n <= 0) {
			text[at] = '?';
			n = 1;
		}
		at += (size_t)n;
	}
}
