/* SPDX-License-Identifier: MIT */
/* Command streams on a board that QEMU emulates. */
#include <stdlib.h>
#include <tenon/error.h>

#include "driver/board/board.h"
#include "tests/mortise/stream_cases.h"

const char *const stream_uri = "mortise://hexagon" STREAM_PATIENT;

const char *stream_missing(void)
{
	const char *full = getenv("FULL"), *hil = getenv("HIL");
	const struct board_kind *kind = board_kind_find("hexagon");

	if (!(full && *full) && !(hil && *hil))
		return "\"make check-hil\" and FULL=1 run this board";
	return kind->ready(kind) ? tenon_error_message() : NULL;
}
