/* SPDX-License-Identifier: MIT */
/* Divide HOST:PORT into its parts */
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "rpc/wire/address.h"

int address_split(const char *text, char host[ADDRESS_HOST], char port[ADDRESS_PORT])
{
	const char *colon = strrchr(text, ':'), *start = text;
	size_t size;

	if (!colon || !colon[1] || strlen(colon + 1) >= ADDRESS_PORT)
		return tenon_error(-TENON_E_VALUE,
				   "%s is no address: HOST:PORT, [HOST]:PORT or unix:PATH", text);
	size = (size_t)(colon - text);
	if (size >= 2 && *text == '[' && text[size - 1] == ']') {
		start++;
		size -= 2;
	}
	if (!size || size >= ADDRESS_HOST)
		return tenon_error(-TENON_E_VALUE,
				   "%s names no host: 127.0.0.1:9090 is this machine alone", text);
	memcpy(host, start, size);
	host[size] = '\0';
	strcpy(port, colon + 1);
	return 0;
}
