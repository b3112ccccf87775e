/* SPDX-License-Identifier: MIT */
/*
 * The accelerator of firmware/rtl/, Verilated: a program that maps the window and clocks the logic. It has no core, so
 * it runs packets alone, and no loaded code.
 */
#include <limits.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <unistd.h>

#include "driver/board/board_private.h"
#include "driver/board/firmware_file.h"
#include "lib/brief_errors.h"

/* where the program places the window (firmware/rtl/board.cpp) */
#define WINDOW 0x40000000U

static int find_program(const struct board_kind *kind, char path[PATH_MAX])
{
	int err = firmware_file_find(kind->firmware, path);

	if (err)
		return err;
	return access(path, X_OK) ? tenon_error(-TENON_E_DEVICE, "%s cannot be executed", path) : 0;
}

int board_rtl_ready(const struct board_kind *kind)
{
	char path[PATH_MAX];

	return find_program(kind, path);
}

static int describe_rtl(const struct board_kind *kind, struct tenon_buffer *out)
{
	struct firmware_file file;
	char path[PATH_MAX];
	int err = find_program(kind, path);

	if (!err)
		err = firmware_file_read(path, &file);
	if (err == -TENON_E_NOMEM)
		return err;
	if (!err)
		return tenon_buffer_printf(out, "%s: %s, %llu bytes%s%s\n", kind->name, path,
					   (unsigned long long)file.size,
					   *file.hash ? ", XXH128 " : "", file.hash);
	tenon_buffer_printf(out, "%s: %s\n", kind->name, tenon_error_message());
	tenon_error_clear();
	return out->status;
}

static int start(struct board *board)
{
	char path[PATH_MAX];
	const char *const words[] = { path, NULL };
	int err = find_program(board->kind, path);

	board->address = WINDOW;
	return err ? err : board_process_start(board, words);
}

const struct board_ops board_rtl_ops = {
	.is_logic = true,
	.describe = describe_rtl,
	.start = start,
	.stop = board_process_stop,
	.alive = board_process_alive,
	.inject = board_process_inject,
	.halt = board_process_halt,
	.doorbell = board_process_doorbell,
	.sleep = board_process_sleep,
	.forget = board_process_forget,
};
