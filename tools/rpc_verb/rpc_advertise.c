/* SPDX-License-Identifier: MIT */
/* Parse --advertise: the address under which a tracker hands a server out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/rpc_verb/rpc.h"

int rpc_advertise(struct cli *cli, void *advertised)
{
	struct rpc_advertised *a = advertised;
	char *text = a->room, *colon, *end;
	unsigned long number = 0;

	if (snprintf(text, RPC_ADVERTISED, "%s", optarg) >= RPC_ADVERTISED ||
	    strpbrk(text, "\"\\ \t\n"))
		return cli_usage(cli, "--advertise %s is no address", optarg);
	colon = strrchr(text, ':');
	if (colon && (*text != '[' || colon[-1] == ']') &&
	    (*text == '[' || strchr(text, ':') == colon)) {
		number = strtoul(colon + 1, &end, 10);
		if (!colon[1] || *end || !number || number > UINT16_MAX)
			return cli_usage(cli, "--advertise %s has no valid port", optarg);
		*colon = '\0';
	}
	if (*text == '[' && text[strlen(text) - 1] == ']') {
		text[strlen(text) - 1] = '\0';
		text++;
	}
	a->host = *text ? text : NULL;
	a->port = (uint16_t)number;
	return CLI_OK;
}
