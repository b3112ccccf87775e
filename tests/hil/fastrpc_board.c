/* SPDX-License-Identifier: MIT */
/*
 * The suite of boards: mortise in a process on a Hexagon DSP, behind a named fake of the kernel's FastRPC, which also injects
 * the faults. qemu-hexagon runs the process and the library with the firmware.
 */
#include <signal.h>

#include "driver/board/board_private.h"
#include "tests/fastrpc/dsp_kernel.h"
#include "tests/hil/hil.h"

const char *const hil_board = "fastrpc";
const bool hil_always = false;

static int inject(struct board *board, enum board_fault fault)
{
	static const int signals[] = {
		[BOARD_FREEZE] = SIGSTOP, [BOARD_THAW] = SIGCONT, [BOARD_KILL] = SIGKILL
	};

	(void)board;
	dsp_kernel_signal(signals[fault]);
	return 0;
}

const char *hil_prepare(void)
{
	return dsp_kernel_use();
}

void hil_opened(struct board *board)
{
	static struct board_ops ops;

	ops = *board->ops;
	ops.inject = inject;
	board->ops = &ops;
}
