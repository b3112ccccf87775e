/* SPDX-License-Identifier: MIT */
/* Check UTF-8 character by character. */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <tenon/string.h>

/**
 * utf8_character - look at the character at the beginning of a text
 * @s: at least one byte
 *
 * Return: its bytes; 0 if it is cut off; -1 if the first byte begins no character.
 */
static inline int utf8_character(struct tenon_slice s)
{
	const unsigned char *c = (const unsigned char *)s.data;
	int size = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4, i;
	unsigned int least = 0x80, most = 0xbf;

	if (size > 1 && (c[0] < 0xc2 || c[0] > 0xf4))
		return -1;
	/* the second byte excludes long forms, surrogates and what is above U+10FFFF */
	if (c[0] == 0xe0)
		least = 0xa0;
	if (c[0] == 0xed)
		most = 0x9f;
	if (c[0] == 0xf0)
		least = 0x90;
	if (c[0] == 0xf4)
		most = 0x8f;
	for (i = 1; i < size; i++) {
		if ((size_t)i == s.size)
			return 0;
		if (c[i] < least || c[i] > most)
			return -1;
		least = 0x80;
		most = 0xbf;
	}
	return size;
}

#endif /* LIB_UTF8_H */
