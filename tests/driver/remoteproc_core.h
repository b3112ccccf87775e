/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DRIVER_REMOTEPROC_CORE_H
#define TESTS_DRIVER_REMOTEPROC_CORE_H

/* The firmware that the model of the core takes: the first word of its code, and where it is entered. */
#define CORE_FIRMWARE_WORD  0x4e4f4e54U
#define CORE_FIRMWARE_ENTRY 0x20U

#endif /* TESTS_DRIVER_REMOTEPROC_CORE_H */
