/* SPDX-License-Identifier: MIT */
/* What the kernel says of a board, in files below a root, which is "" except in tests. */
#ifndef TOOLS_DOCTOR_BOARD_FILES_H
#define TOOLS_DOCTOR_BOARD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* room for a path */
#define BOARD_PATH 512

/**
 * board_text - read a small text file, without white space at its end
 * @text: receives it; "" on failure
 *
 * Return: whether it could be read.
 */
bool board_text(const char *root, const char *path, char *text, size_t room);

/** board_exists - is there a file of this name */
bool board_exists(const char *root, const char *path);

/**
 * board_link_name - last part of the target of a symbolic link, such as the driver of a device
 *
 * Return: whether there is such a link; else @name is "".
 */
bool board_link_name(const char *root, const char *path, char *name, size_t room);

/**
 * board_entries - the names in a folder, in order
 * @prefix: they begin with it
 * @names: receives them; at most @most
 *
 * Return: their number; 0 when there is no such folder.
 */
#define BOARD_NAME 64
size_t board_entries(const char *root, const char *path, const char *prefix,
		     char (*names)[BOARD_NAME], size_t most);

/**
 * board_node - may this user read and write a node
 * @why: receives "root:video 0660", and what is wrong; @room bytes
 * @remedy: receives what to do; "" when nothing is wrong
 *
 * Return: whether it can be opened for reading and writing, as far as permissions tell.
 */
bool board_node(const char *root, const char *path, char *why, size_t room, char *remedy,
		size_t remedy_room);

/**
 * board_firmware - describe an image: size, SHA-256, version of mortise's if it is one
 * @text: receives it, or why it cannot be read
 *
 * Return: whether it could be read.
 */
bool board_firmware(const char *root, const char *path, char *text, size_t room);

#endif /* TOOLS_DOCTOR_BOARD_FILES_H */
