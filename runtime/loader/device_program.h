/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LOADER_DEVICE_PROGRAM_H
#define RUNTIME_LOADER_DEVICE_PROGRAM_H

#include <tenon/executable.h>

#include "runtime/loader/payload_format.h"

/* As tenon_program_read(), of a payload that was read already. */
int device_program_make(struct tenon_slice kind, const struct payload_facts *facts,
			const char *label, struct tenon_program **out);

#endif /* RUNTIME_LOADER_DEVICE_PROGRAM_H */
