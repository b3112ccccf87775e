/* SPDX-License-Identifier: MIT */
/* The version of an installed emulator, for reports and error messages. */
#ifndef DRIVER_BOARD_QEMU_VERSION_H
#define DRIVER_BOARD_QEMU_VERSION_H

#include <stddef.h>

/**
 * qemu_version - ask an emulator for its version
 * @command: path of the emulator; it is started with --version, and killed when it has not answered after some seconds
 * @out: receives "7.2.22"; empty when it does not say
 * @size: bytes of @out
 *
 * Return: 0, also when the emulator cannot be started; -TENON_E_NOMEM.
 */
int qemu_version(const char *command, char *out, size_t size);

#endif /* DRIVER_BOARD_QEMU_VERSION_H */
