/* SPDX-License-Identifier: MIT */
/* Encode and decode base64 strictly: no blanks, full padding. */
#include "runtime/ffi/base64.h"

#include <stdlib.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int ffi_base64_encode(struct tenon_slice bytes, struct tenon_value *out)
{
	const unsigned char *at = (const unsigned char *)bytes.data;
	char *text = malloc((bytes.size + 2) / 3 * 4 + 1);
	size_t n = 0, i, k, part;
	uint32_t word;
	int err;

	if (!text)
		return ffi_nomem("a text");
	for (i = 0; i < bytes.size; i += 3) {
		part = bytes.size - i < 3 ? bytes.size - i : 3;
		for (word = 0, k = 0; k < 3; k++)
			word = word << 8 | (k < part ? at[i + k] : 0);
		for (k = 0; k < 4; k++)
			text[n++] = k <= part ? letters[word >> (18 - 6 * k) & 63] : '=';
	}
	err = ffi_string(text, n, out);
	free(text);
	return err;
}

static int wrong(void)
{
	return ffi_raise("ValueError", "Invalid Base64 text");
}

int ffi_base64_decode(struct tenon_slice text, struct tenon_value *out)
{
	size_t size = text.size, n = 0, i;
	char *bytes = malloc(size + 1);
	struct tenon_slice decoded;
	const char *found;
	uint32_t word = 0;
	int err;

	if (!bytes)
		return ffi_nomem("bytes");
	while (size && text.size - size < 2 && text.data[size - 1] == '=')
		size--;
	for (i = 0; i < size; i++) {
		found = text.data[i] ? strchr(letters, text.data[i]) : NULL;
		if (!found)
			break;
		word = word << 6 | (uint32_t)(found - letters);
		if (i % 4)
			bytes[n++] = (char)(word >> (6 - 2 * (i % 4)) & 0xff);
	}
	decoded.data = bytes;
	decoded.size = n;
	if (text.size % 4 || i < size)
		err = wrong();
	else
		err = ffi->TVMFFIBytesFromByteArray(&decoded, out) ? -1 : 0;
	free(bytes);
	return err;
}
