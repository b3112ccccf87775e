/* SPDX-License-Identifier: MIT */
/* A board that runs already, whose memory is a file. */
#include <stdio.h>

#include "tests/cts/mortise_code.h"
#include "tests/cts/mortise_file_board.h"

static char uri[400];

static const char *setup(void)
{
	const char *why = mortise_left_out();

	if (why)
		return why;
	if (!file_board_create() || file_board_start())
		return "no file for the board's memory, or no memory that may be executed";
	snprintf(uri, sizeof(uri), "mortise://shm%s" MORTISE_PATIENT, file_board_path());
	return mortise_register();
}

const struct cts_backend cts_backend = {
	.uri = uri,
	.kind = "mortise",
	.format = "mortise",
	.code = mortise_code,
	.setup = setup,
};
