/* SPDX-License-Identifier: MIT */
/* Divide HOST:PORT into its parts, and say why a host has no address. */
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "rpc/wire/address.h"

/* getaddrinfo() takes a larger number, as strtoul() reads it, and the kernel its low 16 bits. */
static bool is_above_ports(const char *port)
{
	char *end;
	unsigned long long number = strtoull(port, &end, 10);

	return end != port && !*end && number > UINT16_MAX;
}

int address_unknown(const char *text, int status, int why)
{
	if (why == EAI_MEMORY)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory to look up its address", text);
	return tenon_error(status, "%s: %s", text, gai_strerror(why));
}

int address_split(const char *text, char host[ADDRESS_HOST], char port[ADDRESS_PORT])
{
	const char *colon = strrchr(text, ':'), *start = text;
	size_t size;

	if (!colon || !colon[1] || strlen(colon + 1) >= ADDRESS_PORT)
		return tenon_error(-TENON_E_VALUE,
				   "%s is no address: HOST:PORT, [HOST]:PORT or unix:PATH", text);
	if (is_above_ports(colon + 1))
		return tenon_error(-TENON_E_VALUE, "%s: ports are numbers up to %d", text,
				   UINT16_MAX);
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
