/* SPDX-License-Identifier: MIT */
/* The firmware that the model of the core accepts: the first word of its code, and its entry point. */
#ifndef TESTS_DRIVER_REMOTEPROC_CORE_H
#define TESTS_DRIVER_REMOTEPROC_CORE_H

#define CORE_FIRMWARE_WORD  0x4e4f4e54U
#define CORE_FIRMWARE_ENTRY 0x20U

#endif /* TESTS_DRIVER_REMOTEPROC_CORE_H */
