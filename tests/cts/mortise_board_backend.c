/* SPDX-License-Identifier: MIT */
/* The board of whoever runs it, named by TENON_BOARD: mortise://uio/0. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cts/mortise_code.h"

static char uri[512] = "mortise";

static const char *setup(void)
{
	const char *board = getenv("TENON_BOARD");

	if (!board || !*board)
		return "TENON_BOARD names no board (mortise://uio/0)";
	snprintf(uri, sizeof(uri), "%s", board);
	return mortise_register();
}

const struct cts_backend cts_backend = {
	.uri = uri,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = setup,
};
