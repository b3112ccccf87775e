/* SPDX-License-Identifier: MIT */
/*
 * Make a board of a file and the simulator, so that the conformance suite tests mortise's boards without hardware.
 *
 * The file is the board's memory, in a folder that is removed with the process; the simulator runs the firmware.
 */
#ifndef TESTS_CTS_MORTISE_FILE_BOARD_H
#define TESTS_CTS_MORTISE_FILE_BOARD_H

/* Make folder and file. Return: the folder; NULL when it fails. */
const char *file_board_create(void);

/* Path of the file. */
const char *file_board_path(void);

/* Boot the firmware, or end it. Return: 0; a negative status. */
int file_board_start(void);
int file_board_stop(void);

#endif /* TESTS_CTS_MORTISE_FILE_BOARD_H */
