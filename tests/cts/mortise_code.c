/* SPDX-License-Identifier: MIT */
/* What the programs of mortise's boards share: the suite's kernels as images of all machines that were built. */
#include "tests/cts/mortise_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "devices/mortise/mortise_device.h"
#include "lib/file_map.h"

static int add_image(const char *machine, struct tenon_buffer *images)
{
	struct tenon_slice bytes;
	char path[4096];

	snprintf(path, sizeof(path), "%s/device/%s/tests/cts/mortise_kernels.elf",
		 getenv("TENON_BUILD"), machine);
	if (file_map_open(path, &bytes))
		return 0;
	tenon_buffer_string(images, bytes);
	file_map_close(&bytes);
	return 1;
}

int mortise_code(struct tenon_buffer *out)
{
	static const char *const machines[] = { "rv32", "cm3", "hexagon", "rv64", "host" };
	struct tenon_buffer images = TENON_BUFFER_INIT;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		count += (uint64_t)add_image(machines[i], &images);
	tenon_error_clear();
	tenon_buffer_u64(out, count);
	tenon_buffer_append(out, images.data, images.size);
	tenon_buffer_fini(&images);
	return out->status;
}

const char *mortise_register(void)
{
	if (!getenv("TENON_BUILD"))
		return "TENON_BUILD is not set: run it with \"make check\"";
	/* the backend is linked with the program, whatever the library has */
	if (!tenon_backend_find(tenon_slice_of("mortise")) &&
	    tenon_backend_register(&mortise_backend))
		return tenon_error_message();
	return NULL;
}

const char *mortise_setup(void)
{
	const char *at = strrchr(cts_backend.uri, '/');
	const struct board_kind *kind;
	char board[16];

	/* "mortise://rtl?silence=30000", "mortise:0" */
	snprintf(board, sizeof(board), "%s", at ? at + 1 : "sim");
	board[strcspn(board, "?")] = 0;
	kind = board_kind_find(board);
	return kind->ready(kind) ? tenon_error_message() : mortise_register();
}

const char *mortise_setup_guest(void)
{
	const char *guest = getenv("TENON_GUEST");

	return guest && *guest ? mortise_register()
			       : "tests/driver/guest.sh runs it, in a guest that has the device";
}

const char *mortise_left_out(void)
{
	const char *full = getenv("FULL"), *hil = getenv("HIL");

	return (full && *full) || (hil && *hil) ? NULL
						: "\"make check-hil\" and FULL=1 run this board";
}

const char *mortise_setup_more(void)
{
	const char *why = mortise_left_out();

	return why ? why : mortise_setup();
}
