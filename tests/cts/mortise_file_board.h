/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CTS_MORTISE_FILE_BOARD_H
#define TESTS_CTS_MORTISE_FILE_BOARD_H

/* A board whose memory is a file, in a folder of its own that goes with the process; the simulator runs the firmware. */

/* Make folder and file. Return: the folder; NULL when it fails. */
const char *file_board_create(void);

/* Path of the file. */
const char *file_board_path(void);

/* Boot the firmware, or end it. Return: 0; a negative status. */
int file_board_start(void);
int file_board_stop(void);

#endif /* TESTS_CTS_MORTISE_FILE_BOARD_H */
